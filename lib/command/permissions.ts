// `patchbay permissions`: what servers that others run have to permit the connections of an installation.

import { loadFlows } from '../hub/index.ts';
import type { Console } from './console.ts';

/** Prints the least permissions, for each connection that needs any. Errors: `bad-flow` with every mistake. */
export async function permissions(paths: readonly string[], console: Console): Promise<number> {
  const { connections } = await loadFlows(paths);
  const texts = connections.flatMap(({ type, settings }) => type.permissions?.(settings) ?? []);
  if (texts.length === 0) console.printError('no connection needs permissions of a server');
  for (const text of texts) console.print(text);
  return 0;
}
