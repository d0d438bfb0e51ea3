// Prepares once what each of some hundreds of processes would do anew, for the processes that `npm run spec` starts.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.ts';
import { strip } from './strip.ts';

/** Returns what `NODE_OPTIONS` has to say so that processes read what is prepared. */
export async function prepare(): Promise<string> {
  strip();
  await bundle();
  return `--import=${pathToFileURL(join(import.meta.dirname, 'preload.mjs'))}`;
}
