// Room that parts of a store leave to those that matter more: a backup gives way before the history, the history before the audit, and the
// audit before values.

import { statfsSync } from 'node:fs';

/** How much is left, in bytes; on a small disk less: a share of it. */
const reserves = {
  audit: { bytes: 8_000_000, share: 0.05 },
  backup: { bytes: 96_000_000, share: 0.15 },
} as const;

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
  if (plannedBytes > 0)
    throw new NoRoomError(`expected ${megabytes(plannedBytes + reserve)} free on the disk, got ${megabytes(free)}`);
  throw new NoRoomError(`the disk is nearly full: the last ${megabytes(reserve)} are left to what matters more`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
