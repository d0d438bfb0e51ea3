// Temporary folders with files, and named pipes; removed when the test ends.

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** Creates a folder with these files (`{'a/b.json5': '{}'}`; data that is no text is written as JSON). */
export async function createFolder(t: ExecutionContext, files: Record<string, unknown> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-'));
  // A hub that has stopped may still be writing for a moment: it waits two seconds for the disk, and no longer.
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content, undefined, 2));
  }
  return folder;
}

/** Makes a named pipe and returns its path. */
export async function makeFifo(t: ExecutionContext): Promise<string> {
  const path = join(await createFolder(t), 'fifo');
  execFileSync('mkfifo', [path]);
  return path;
}
