// Creates folders one by one. Recursive `mkdir` in Node.js never returns if the system reports a missing folder although the folder's
// parent exists, as below `/proc`.

import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Creates a folder and its missing parents. Errors: any file system error, for example if a file is in the way. */
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
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process has created the folder in the meantime
    }
}
