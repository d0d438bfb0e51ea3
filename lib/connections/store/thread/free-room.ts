// Room that parts of a store leave to those that matter more: the history gives way before the audit, and the audit before values.

import { statfsSync } from 'node:fs';

/** How much is left, in bytes; on a small disk less: a share of it. */
const reserves = { audit: { bytes: 8_000_000, share: 0.05 }, history: { bytes: 32_000_000, share: 0.1 } } as const;

/** A disk has room, but not for this part of the store. Its code is that of a disk that is full. */
export class NoRoomError extends Error {
  readonly code = 'ENOSPC';
}

/** Errors: `NoRoomError` when less is free than the part leaves. */
export function expectRoom(folder: string, part: keyof typeof reserves): void {
  const { bsize, bavail, blocks } = statfsSync(folder);
  const { bytes, share } = reserves[part];
  const reserve = Math.min(bytes, blocks * bsize * share);
  if (bavail * bsize >= reserve) return;
  const left = `${(reserve / 1e6).toFixed(1)} MB`;
  throw new NoRoomError(`the disk is nearly full: the last ${left} are left to what matters more`);
}
