// Replaces a file atomically. A program that reads the file sees either the complete old file or the complete new file.

import { randomBytes } from 'node:crypto';
import { open, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { getSystemErrorMessage } from 'node:util';
import { messageOf } from '../../model/error.ts';

/** The age from which a temporary file counts as left behind by a crash, in milliseconds. A replacement takes only a few milliseconds. */
export const leftoverAgeMs = 60_000;
/**
 * How long an old temporary file must still exist before it counts as left behind, in milliseconds. Its age alone is not sufficient,
 * because the clock may have been set.
 */
const confirmMs = 500;

const tempPattern = /^[0-9a-f]{12}\.part$/;

/**
 * Writes the bytes to a new file next to the target, flushes this file to disk, and renames it to the target. An existing file keeps its
 * mode and, if the system permits, its owner. If the path is a symbolic link, the link is kept and its target is replaced. Errors: `Error`
 * with a readable message that contains the path and the reason, and is the same each time; the target is then unchanged, and no other file
 * is left behind.
 */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  let temp: string | undefined;
  try {
    const target = await followLinks(path);
    const before = await statIfAny(target);
    if (before && !before.isFile()) throw new Error('it exists and is not a file');
    temp = `${tempPrefix(target)}${randomBytes(6).toString('hex')}.part`;
    const file = await open(temp, 'wx', before && before.mode & 0o777);
    try {
      await file.writeFile(bytes);
      if (before) {
        await file.chown(before.uid, before.gid).catch(() => {}); // only root may change the owner
        await file.chmod(before.mode & 0o7777);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temp, target);
  } catch (error) {
    if (temp !== undefined) await rm(temp, { force: true }).catch(() => {});
    throw new Error(`cannot write ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * Removes temporary files that a crash during a replacement has left next to the target. Only old files are removed, because another hub
 * may still be using a newer file. Errors: the same as for `replaceFile`.
 */
export async function removeLeftovers(path: string): Promise<void> {
  try {
    const prefix = tempPrefix(await followLinks(path));
    const old = new Map<string, number>();
    for (const name of await readdir(dirname(prefix))) {
      if (!name.startsWith(basename(prefix)) || !tempPattern.test(name.slice(basename(prefix).length))) continue;
      const temp = join(dirname(prefix), name);
      const found = await statIfAny(temp);
      if (found && Date.now() - found.mtimeMs >= leftoverAgeMs) old.set(temp, found.mtimeMs);
    }
    if (old.size > 0) await wait(confirmMs);
    for (const [temp, mtimeMs] of old)
      if ((await statIfAny(temp))?.mtimeMs === mtimeMs) await rm(temp, { force: true });
  } catch (error) {
    throw new Error(`cannot write ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Returns the reason that a system error states, without the paths: `no such file or directory (ENOENT)`. */
export function reasonOf(error: unknown): string {
  const { code, errno } = error as NodeJS.ErrnoException;
  return errno === undefined ? messageOf(error) : `${getSystemErrorMessage(errno)} (${code})`;
}

function tempPrefix(target: string): string {
  return join(dirname(target), `.${basename(target)}.`);
}

/** Resolves the symbolic links in a path. The target need not exist. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const link = await readlink(path).catch(() => undefined);
    return link === undefined ? path : followLinks(resolve(dirname(path), link));
  }
}

async function statIfAny(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
