// `patchbay types`: the declaration file of an installation.

import { declareInstallation } from '../flow/types.ts';
import { loadFlows } from '../hub.ts';
import type { Console } from './console.ts';

/** Prints the declaration file. Errors: `bad-flow` with every mistake. */
export async function types(paths: readonly string[], module: string, console: Console): Promise<number> {
  console.print(declareInstallation(await loadFlows(paths), module));
  return 0;
}
