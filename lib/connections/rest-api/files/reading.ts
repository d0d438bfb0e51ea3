// Readings of files, in steps that are taken at once or later. So a file is found in one way, whether or not others wait for it.

import {
  close,
  closeSync,
  type Dirent,
  fstat,
  fstatSync,
  open,
  openSync,
  read,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { readdir, readlink, realpath, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expectRegular, readFlagsWithoutLinks } from '../../../files/regular-file.ts';

export interface Step {
  now(): unknown;
  later(): Promise<unknown>;
}

/** Steps that lead to what is read in the end. The error of a step is thrown where the reading asked for the step. */
export type Reading<T> = Generator<Step, T, unknown>;

/** Takes all steps now, while everybody waits. Errors: those of the reading. */
export function readNow<T>(reading: Reading<T>): T {
  let next = reading.next();
  while (!next.done) {
    let found: unknown;
    try {
      found = next.value.now();
    } catch (error) {
      next = reading.throw(error);
      continue;
    }
    next = reading.next(found);
  }
  return next.value;
}

/** Takes all steps later, and nobody waits. Errors: those of the reading. */
export async function readLater<T>(reading: Reading<T>): Promise<T> {
  let next = reading.next();
  while (!next.done) {
    let found: unknown;
    try {
      found = await next.value.later();
    } catch (error) {
      next = reading.throw(error);
      continue;
    }
    next = reading.next(found);
  }
  return next.value;
}

export const realPathOf = (path: string) =>
  step(
    () => realpathSync.native(path),
    () => realpath(path),
  );
export const statsOf = (path: string) =>
  step(
    () => statSync(path),
    () => stat(path),
  );
export const linkOf = (path: string) =>
  step(
    () => readlinkSync(path),
    () => readlink(path),
  );

/** A file or folder of the same stamp is as it was, if it was settled. */
export function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}

/** File systems tell no two changes of the same moment apart; some have a clock that counts seconds. */
const momentMs = 2000;

/** Whether the next change of a file or folder will show in its stamp. */
export function isSettled({ ctimeMs }: Stats): boolean {
  return Date.now() - ctimeMs > momentMs;
}

/** Reads a small file whose name is no link, unless its stamp is the known one. Errors: `FileError`; those of the file system. */
export function* bytesUnlessSame(
  path: string,
  maxBytes: number,
  known: string | undefined,
): Reading<{ stats: Stats; bytes: Buffer | undefined }> {
  const descriptor = yield* openDescriptor(path, readFlagsWithoutLinks);
  try {
    const stats = expectRegular(yield* descriptorStats(descriptor), maxBytes);
    if (stampOf(stats) === known) return { stats, bytes: undefined };
    const buffer = Buffer.allocUnsafe(stats.size);
    return { stats, bytes: buffer.subarray(0, yield* readBytes(descriptor, buffer, 0)) };
  } finally {
    yield* closeDescriptor(descriptor);
  }
}

export function entriesOf(folder: string): Reading<Dirent[]> {
  return step(
    () => readdirSync(folder, { withFileTypes: true }),
    () => readdir(folder, { withFileTypes: true }),
  );
}

/** Opens a file. The caller closes the descriptor. */
export function openDescriptor(path: string, flags: number): Reading<number> {
  return step(
    () => openSync(path, flags),
    () => promisify(open)(path, flags),
  );
}

export function descriptorStats(descriptor: number): Reading<Stats> {
  return step(
    () => fstatSync(descriptor),
    () => promisify(fstat)(descriptor),
  );
}

export function closeDescriptor(descriptor: number): Reading<void> {
  return step(
    () => closeSync(descriptor),
    () => promisify(close)(descriptor),
  );
}

/** Fills a buffer with bytes of a file from a position on; returns how many there were, which are fewer at the end of the file. */
export function* readBytes(descriptor: number, buffer: Buffer, position: number): Reading<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const args = [descriptor, buffer, filled, buffer.length - filled, position + filled] as const;
    const bytes = yield* step(
      () => readSync(...args),
      async () => (await promisify(read)(...args)).bytesRead,
    );
    if (bytes === 0) break;
    filled += bytes;
  }
  return filled;
}

function* step<T>(now: () => T, later: () => Promise<T>): Reading<T> {
  return (yield { now, later }) as T;
}
