// Makes folders one by one. `mkdir` of Node.js with `recursive` never returns where the system reports that a folder does not exist although
// its parent does, as below `/proc`.

import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes a folder and its missing parents. Errors: those of the file system, also where a file stands in the way. */
export function makeFolder(path: string, mode?: number): void {
  const missing: string[] = [];
  let at = resolve(path);
  while (statSync(at, { throwIfNoEntry: false }) === undefined) {
    missing.push(at);
    at = dirname(at);
  }
  if (missing.length === 0 && !statSync(at).isDirectory()) mkdirSync(at);
  for (const folder of missing.reverse())
    try {
      mkdirSync(folder, mode);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process has made it meanwhile
    }
}
