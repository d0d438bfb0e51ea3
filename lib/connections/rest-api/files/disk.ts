// Decides whether a file is read before its request handler returns. Then its answer can be pipelined, but everybody waits for the disk.
// So only a local disk is read like that, and only while it is quick.

import { readFileSync, realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { resourceUsage } from 'node:process';
import { type Reading, readLater, readNow } from './reading.ts';

/** A reading that takes longer than this is slow: the disk spins up, or the file system is stuck. */
const slowMs = 50;
/** After so many slow readings within a minute nobody waits for the disk until the minute is over. */
const maxSlow = 3;
/** How long a verdict on a disk holds. */
const verdictMs = 60_000;

export interface Disk {
  /** Reads at once if nobody has to wait long for it, else later, which is a promise. Errors: those of the reading. */
  read<T>(reading: Reading<T>): T | Promise<T>;
}

/** By these a disk is judged. */
interface Gauges {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** How often a disk was read for this process. If it was not, no disk was slow: the processor was busy with other programs. */
  diskReads(): number;
  /** The mount table of Linux; empty elsewhere. */
  mountInfo(): string;
}

const systemGauges: Gauges = {
  now: () => performance.now(),
  diskReads: () => resourceUsage().fsRead,
  mountInfo: readMountInfo,
};

/** Creates the disk of a folder, which may be missing. */
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

// Tells by the mount table of Linux whether files are on a disk of this machine.

/** These file systems wait neither for another machine nor for another program. */
const localTypes = new Set(
  'apfs bcachefs btrfs erofs exfat ext2 ext3 ext4 f2fs iso9660 jfs ntfs3 overlay ramfs rootfs squashfs tmpfs vfat xfs zfs'.split(
    ' ',
  ),
);

/** Whether a folder, and everything that is mounted below it, is on disks of this machine. It does not read other disks to find out. */
export function isOnLocalDisk(folder: string, mountInfo = readMountInfo): boolean {
  const mounts = mountInfo()
    .split('\n')
    .flatMap((line) => {
      const [, path, type] = /^(?:\S+ ){4}(\S+) .* - (\S+) /.exec(line) ?? [];
      return path === undefined || type === undefined
        ? []
        : [{ path: unescapeOctal(path), isLocal: localTypes.has(type) }];
    });
  if (mounts.length === 0) return !resolve(folder).startsWith('\\\\'); // without Linux only the network paths of Windows are not local
  const isLocal = (path: string) => {
    const above = mounts.filter((mount) => isInside(path, mount.path));
    const longest = Math.max(...above.map((mount) => mount.path.length));
    const own = above.findLast((mount) => mount.path.length === longest); // what was mounted last hides what was mounted before
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
    return folder; // it may come later
  }
}

function unescapeOctal(path: string): string {
  return path.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}

/** The mount table of Linux (proc_pid_mountinfo(5)); empty elsewhere. */
function readMountInfo(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
