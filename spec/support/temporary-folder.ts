// Temporary folders, which are gone afterwards. Their names begin with `patchbay-` and what they are for.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
