// Room that parts of a store leave to those that matter more: a backup gives way before the history, the history before the audit, and the
// audit before values.

import { statfsSync } from 'node:fs';
import { fixedText } from '../../../../model/digits.ts';

/** How much is left, in bytes; on a small disk less: a share of it. */
const reserves = {
  audit: { bytes: 8_000_000, share: 0.1 },
  history: { bytes: 64_000_000, share: 0.2 },
  backup: { bytes: 96_000_000, share: 0.3 },
} as const;

/** Which part of a small disk the log before a database takes at most. */
const logShare = 1 / 32;

/** A disk has room, but not for this part of the store. Its code is that of a disk that is full. */
export class NoRoomError extends Error {
  readonly code = 'ENOSPC';
}

/** Errors: `NoRoomError` when less is free than the part leaves once it has written so many bytes. */
export function expectRoom(folder: string, part: keyof typeof reserves, plannedBytes = 0): void {
  const { bsize, bavail, blocks } = statfsSync(folder);
  const { bytes, share } = reserves[part];
  const reserve = Math.min(bytes, blocks * bsize * share);
  const free = bavail * bsize;
  if (free - plannedBytes >= reserve) return;
  if (free >= reserve)
    throw new NoRoomError(`expected ${megabytes(plannedBytes + reserve)} free on the disk, got ${megabytes(free)}`);
  throw new NoRoomError(`the disk is nearly full: the last ${megabytes(reserve)} are left to what matters more`);
}

/** How much is free on the disk of a folder; 0: it does not tell. */
export function freeBytesIn(folder: string): number {
  try {
    const { bsize, bavail } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** How large the log before a database may stay on the disk of a folder, of so many bytes where there is room. */
export function logBytesOn(folder: string, bytes: number): number {
  const { bsize, blocks } = statfsSync(folder);
  return Math.floor(Math.min(bytes, blocks * bsize * logShare));
}

function megabytes(bytes: number): string {
  return `${fixedText(bytes / 1e6, 2)} MB`;
}
