// Tells by the mount table of Linux whether files are on a disk of this machine.

import { readFileSync, realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';

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
export function readMountInfo(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
