// `patchbay types`: the declaration file of an installation.

import { loadFlows } from '../hub.ts';
import type { Console } from './console.ts';
import { declareInstallation } from './declaration-file.ts';

/** Prints the declaration file. Errors: `bad-flow` with every mistake. */
export async function types(paths: readonly string[], module: string, console: Console): Promise<number> {
  console.print(declareInstallation(await loadFlows(paths), module));
  return 0;
}
