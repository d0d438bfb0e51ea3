// For a clone: loads modules whose types are already stripped, and packages that are already bundled. `npm install` and `npm run spec`
// prepare both (spec/prepared/prepare.ts). Node.js loads everything else, and all files that have changed since, as usual.

import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { enableCompileCache, flushCompileCache, registerHooks } from 'node:module';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const packages = new URL('node_modules/', root).href;
const cache = fileURLToPath(new URL('.cache/', packages));
/** The format of a TypeScript module whose types Node.js strips, unless `load` returns the module already stripped. */
const typescript = 'module-typescript';
/** The time in milliseconds after which the code that has run is compiled and cached. */
const keepAfterMs = 10_000;

/** From now on, makes Node.js load prepared modules, and makes V8 cache the code that it compiles. */
export function usePrepared(): void {
  const isSpec = env.NODE_OPTIONS?.includes('/spec/prepared/preload.mjs'); // the spec runner already loads the prepared modules
  if (isSpec || !import.meta.url.endsWith('.ts')) return;
  enableCompileCache(`${cache}compiled`);
  setTimeout(flushCompileCache, keepAfterMs).unref();
  const bundles = bundledPackages();
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL: parent } = context;
      if (isOurs(parent) && /^\..*\.ts$/.test(specifier)) return found(new URL(specifier, parent).href, typescript);
      const bundle = bundles.get(specifier);
      if (bundle === undefined) return nextResolve(specifier, context);
      const next = isOurs(parent) ? undefined : nextResolve(specifier, context);
      // a flow that resolves to our packages must share them with the hub, not get a copy
      return next === undefined || next.url.startsWith(packages) ? found(bundle, 'module') : next;
    },
    load(url, context, nextLoad) {
      const source = isOurs(url) ? stripped(url) : undefined;
      return source === undefined ? nextLoad(url, context) : { format: 'module', source, shortCircuit: true };
    },
  });
}

function found(url: string, format: string) {
  return { url, format, shortCircuit: true };
}

function isOurs(url = ''): boolean {
  return url.startsWith(`${root.href}lib/`);
}

/** Returns the source of a module with its types stripped, or undefined if the module is not prepared or has changed since. */
function stripped(url: string): Buffer | undefined {
  try {
    const prepared = `${cache}stripped/${decodeURI(url.slice(root.href.length))}`;
    const apartMs = statSync(fileURLToPath(url)).mtimeMs - statSync(prepared).mtimeMs;
    return Math.abs(apartMs) < 1 ? readFileSync(prepared) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the paths of the bundled packages, keyed by package name, or an empty map if other versions have been installed since. */
function bundledPackages(): ReadonlyMap<string, string> {
  try {
    const hash = createHash('sha256');
    for (const file of ['.package-lock.json', '../spec/prepared/bundle.ts'])
      hash.update(readFileSync(new URL(file, packages)));
    const { version, names } = JSON.parse(readFileSync(`${cache}bundled/index.json`, 'utf8')) as Prepared;
    if (version !== hash.digest('hex')) return new Map();
    return new Map(names.map((name) => [name, `${packages}.cache/bundled/node_modules/${name}.mjs`]));
  } catch {
    return new Map();
  }
}

interface Prepared {
  readonly version: string;
  readonly names: readonly string[];
}
