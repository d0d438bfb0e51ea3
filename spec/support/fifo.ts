// Named pipes, removed when the test ends.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { createFolder } from './folder.ts';

/** Makes a named pipe and returns its path. */
export async function makeFifo(t: ExecutionContext): Promise<string> {
  const path = join(await createFolder(t), 'fifo');
  execFileSync('mkfifo', [path]);
  return path;
}
