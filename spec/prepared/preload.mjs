// `npm run spec` has every process load this first: it reads modules from which the types have been stripped already, and
// packages that have been bundled. What is changed while the specs run takes effect at the next run.

import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const packages = new URL('node_modules/', root).href;
const cache = fileURLToPath(`${packages}.cache/`);
const { names } = JSON.parse(readFileSync(`${cache}bundled/index.json`, 'utf8'));
const bundles = new Map(names.map((name) => [name, `${packages}.cache/bundled/node_modules/${name}.mjs`]));
const avaWorker = names.at(-1);
/** What is AVA for files of specs that share a process. */
const inTurn = new URL('in-turn.ts', import.meta.url).href;
let isShared = false;

process.setSourceMapsEnabled(false); // what is stripped of types has its lines and columns as before

registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL: parent } = context;
    if (parent === undefined && specifier.endsWith(`/${avaWorker}`)) return found(bundles.get(avaWorker));
    if (isOurs(parent) && specifier.endsWith('/prepared/in-turn.ts')) isShared = true;
    if (specifier === 'ava' && isShared && parent !== inTurn) return found(inTurn);
    if (isOurs(parent) && /^\..*\.ts$/.test(specifier)) return found(new URL(specifier, parent).href);
    if (!bundles.has(specifier)) return nextResolve(specifier, context);
    const next = isOurs(parent) ? undefined : nextResolve(specifier, context);
    // A flow in a folder of its own that finds our packages has to share them with the hub, and not to get a copy.
    return next === undefined || isIn(packages, next.url) ? found(bundles.get(specifier)) : next;
  },
  load(url, context, nextLoad) {
    const source = isOurs(url) && url.endsWith('.ts') ? stripped(url) : undefined;
    return source === undefined ? nextLoad(url, context) : { format: 'module', source, shortCircuit: true };
  },
});

function found(url) {
  return { url, format: 'module', shortCircuit: true };
}

function isOurs(url) {
  return isIn(root.href, url) && !isIn(packages, url);
}

function isIn(folder, url) {
  return url?.startsWith(folder) ?? false;
}

/** undefined: the module was not there when the specs began. */
function stripped(url) {
  try {
    return readFileSync(`${cache}stripped/${decodeURI(url.slice(root.href.length))}`, 'utf8');
  } catch {
    return undefined;
  }
}
