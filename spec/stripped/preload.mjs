// `npm run spec` has every process load this first: it reads modules from which strip.ts has stripped the types already. Hundreds
// of processes load the same ones.

import { readFileSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const kept = new URL('node_modules/.cache/stripped/', root);

registerHooks({
  load(url, context, nextLoad) {
    const source = url.endsWith('.ts') && url.startsWith(root.href) ? stripped(url) : undefined;
    return source === undefined ? nextLoad(url, context) : { format: 'module', source, shortCircuit: true };
  },
});

/** undefined: it is not kept, or the module has changed since. */
function stripped(url) {
  try {
    const path = fileURLToPath(new URL(url.slice(root.href.length), kept));
    const isFresh = timeOf(path) === timeOf(fileURLToPath(url));
    return isFresh ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

function timeOf(path) {
  return Math.trunc(statSync(path).mtimeMs);
}
