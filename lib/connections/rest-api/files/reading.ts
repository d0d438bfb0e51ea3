// File accesses as sequences of steps that run either synchronously or asynchronously, so that the code that finds a file exists only once.
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
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { readdir, readlink, realpath, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { resourceUsage } from 'node:process';
import { promisify } from 'node:util';
import { expectRegular, readFlagsWithoutLinks } from '../../../files/regular-file.ts';

interface Step {
  now(): unknown;
  later(): Promise<unknown>;
}

/**
 * A sequence of file accesses that ends with a result. If an access fails, its error is thrown at the point where the access was yielded.
 */
export type Reading<T> = Generator<Step, T, unknown>;

/** Runs a reading synchronously and returns its result. Errors: any error from the reading. */
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

/** Runs a reading asynchronously and resolves to its result. Errors: any error from the reading. */
async function readLater<T>(reading: Reading<T>): Promise<T> {
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

/** Returns the stamp of a file or folder, from its stats. Once the stamp is settled, an equal stamp means that the file is unchanged. */
export function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}

/**
 * The resolution of file times, in milliseconds: file systems give two changes within one such period the same time, and some file systems
 * only count seconds.
 */
const momentMs = 2000;

/** Returns whether the next change to a file or folder is certain to change the stamp, because the last change was long enough ago. */
export function isSettled({ ctimeMs }: Stats): boolean {
  return Date.now() - ctimeMs > momentMs;
}

/**
 * Reads a whole file, whose path must not end in a link; returns no bytes if the stamp of the file is `known`. Errors: `FileError`, for
 * example if the file is larger than `maxBytes`; any file system error.
 */
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

/** Opens a file and returns the descriptor, which the caller must close. */
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

/**
 * Fills a buffer with bytes from a position in a file. Returns the number of bytes read, which is lower than the buffer's length only at
 * the end of the file.
 */
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

// Decides whether a file is read before its request handler returns. If so, the answer can be pipelined, but the event loop waits for the
// disk. So the hub reads before returning only from a local disk, and only while the disk is fast.

/** The duration above which a reading counts as slow, in milliseconds: the disk is spinning up or the file system is stuck. */
const slowMs = 50;
/** The number of slow readings within a minute after which the hub reads asynchronously for the rest of the minute. */
const maxSlow = 3;
/** How long the assessment of a disk remains valid, in milliseconds. */
const verdictMs = 60_000;

export interface Disk {
  /** Reads synchronously if the disk is fast, otherwise asynchronously. Errors: any error from the reading. */
  read<T>(reading: Reading<T>): T | Promise<T>;
}

/** The measurements by which a disk is assessed. */
interface Gauges {
  /** Returns the time on a monotonic clock, in milliseconds. */
  now(): number;
  /**
   * Returns how often this process has read from a disk. If the number has not grown during a slow reading, the disk was not slow, but the
   * processor was busy with other programs.
   */
  diskReads(): number;
  /** Returns the Linux mount table; an empty string on other systems. */
  mountInfo(): string;
}

const systemGauges: Gauges = {
  now: () => performance.now(),
  diskReads: () => resourceUsage().fsRead,
  mountInfo: readMountInfo,
};

/** Creates a `Disk` for the files in a folder. The folder may be missing. */
export function createDisk(folder: string, { now, diskReads, mountInfo }: Gauges = systemGauges): Disk {
  let isLocal = isOnLocalDisk(folder, mountInfo);
  let judgedAt = now();
  let slow = 0;
  const judge = () => {
    if (now() - judgedAt < verdictMs) return;
    judgedAt = now();
    slow = 0;
    isLocal = isOnLocalDisk(folder, mountInfo);
  };
  return {
    read(reading) {
      judge();
      if (!isLocal || slow >= maxSlow) return readLater(reading);
      const begunAt = now();
      const readsBefore = diskReads();
      try {
        return readNow(reading);
      } finally {
        if (now() - begunAt > slowMs && diskReads() > readsBefore) slow++;
      }
    },
  };
}

// Determines from the Linux mount table whether files are on a disk of this machine.

/** The types of file systems that depend on no other machine or program. */
const localTypes = new Set(
  'apfs bcachefs btrfs erofs exfat ext2 ext3 ext4 f2fs iso9660 jfs ntfs3 overlay ramfs rootfs squashfs tmpfs vfat xfs zfs'.split(
    ' ',
  ),
);

/** Returns whether a folder, and everything mounted below it, is on this machine's own disks. Does not access any other disks. */
export function isOnLocalDisk(folder: string, mountInfo = readMountInfo): boolean {
  const mounts = mountInfo()
    .split('\n')
    .flatMap((line) => {
      const [, path, type] = /^(?:\S+ ){4}(\S+) .* - (\S+) /.exec(line) ?? [];
      return path === undefined || type === undefined
        ? []
        : [{ path: unescapeOctal(path), isLocal: localTypes.has(type) }];
    });
  if (mounts.length === 0) return !resolve(folder).startsWith('\\\\'); // only Windows network paths are known to be remote
  const isLocal = (path: string) => {
    const above = mounts.filter((mount) => isInside(path, mount.path));
    const longest = Math.max(...above.map((mount) => mount.path.length));
    const own = above.findLast((mount) => mount.path.length === longest); // the last mount hides earlier mounts
    const below = mounts.filter((mount) => isInside(mount.path, path));
    return [...(own ? [own] : []), ...below].every((mount) => mount.isLocal);
  };
  const named = resolve(folder);
  return isLocal(named) && isLocal(realPath(named));
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function realPath(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder; // the folder may be created later
  }
}

function unescapeOctal(path: string): string {
  return path.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}

/** Returns the Linux mount table (proc_pid_mountinfo(5)); an empty string on other systems. */
function readMountInfo(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
