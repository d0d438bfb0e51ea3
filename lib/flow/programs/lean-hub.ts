// What the thread that tries flows has of the hub: what flows import, which is quick to load. A flow that imports more of it gets the
// whole hub.

import { registerHooks } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isOwnCode } from './flow-code.ts';

const [hub, authoring] = ['index', 'authoring'].map(
  (module) => new URL(`../../${module}${extname(import.meta.filename)}`, import.meta.url).href,
) as [string, string];
let isWhole = false;

/** From now on flows import the small part of the hub, which is loaded. */
export async function useLeanHub(): Promise<void> {
  await import(authoring);
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const { url } = resolved;
      if (!isWhole) return url === hub ? { ...resolved, url: authoring } : resolved;
      const isFlow = url.startsWith('file:') && isOwnCode(fileURLToPath(url));
      return isFlow ? { ...resolved, url: `${url}?whole` } : resolved; // Node.js keeps what it has read by the other name
    },
  });
}

/** Whether a flow cannot be imported because it wants more of the hub, or what nobody has. */
export function wantsMore(error: unknown): boolean {
  return !isWhole && error instanceof SyntaxError && error.message.includes('does not provide an export named');
}

/** From now on flows import the whole hub. */
export async function useWholeHub(): Promise<void> {
  isWhole = true;
  await import(hub);
}
