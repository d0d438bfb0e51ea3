// The folder of this source tree, temporary folders, and named pipes.

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** The source tree that this file is part of: whose hub is run unless another one is said. */
export const thisTree = join(import.meta.dirname, '../..');

/** Creates a folder with these files (`{'a/b.json5': '{}'}`; data that is no text is written as JSON), which is removed when the test ends. */
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

export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** Runs work with an empty folder, which is gone afterwards, also when the work fails. */
export async function inTemporaryFolder<Result>(
  purpose: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const { path, remove } = await createTemporaryFolder(purpose);
  return work(path).finally(remove);
}

/** Creates an empty folder for what has a life of its own, and removes it. */
export async function createTemporaryFolder(purpose: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), `patchbay-${purpose}-`));
  // A hub that has ended may still write for a moment: it waits two seconds for the disk, and no longer.
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 10 }) };
}
