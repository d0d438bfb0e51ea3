// A small disk, on which the store of a hub is.

import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../lib/model/error.ts';
import { createTemporaryFolder } from '../folder.ts';

export const diskBytes = 4 * 1024 * 1024;

/** The mistakes, or the reason why no disk can be mounted, as a sentence. */
export type OnSmallDisk = { readonly mistakes: readonly string[] } | { readonly reason: string };

/**
 * Has work done in a folder with `flow.json5` whose `data` is a small disk, 4 MiB unless said, which is gone afterwards. `work` returns the mistakes; all
 * that it has running on the disk has ended by then.
 */
export async function onSmallDisk(
  flow: object,
  work: (folder: string, disk: string) => Promise<readonly string[]>,
  bytes = diskBytes,
): Promise<OnSmallDisk> {
  const { path: folder, remove } = await createTemporaryFolder('full');
  const disk = join(folder, 'data');
  await mkdir(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', disk], { stdio: 'pipe' });
  } catch (error) {
    await remove();
    return { reason: `no disk of ${bytes / 1024 / 1024} MiB can be mounted here: ${messageOf(error).trim()}` };
  }
  try {
    await writeFile(join(folder, 'flow.json5'), JSON.stringify(flow));
    return { mistakes: await work(folder, disk) };
  } finally {
    execFileSync('umount', ['-l', disk]);
    await remove();
  }
}
