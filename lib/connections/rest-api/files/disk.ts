// Decides whether a file is read before its request handler returns. Then its answer can be pipelined, but everybody waits for the disk.
// So only a local disk is read like that, and only while it is quick.

import { resourceUsage } from 'node:process';
import { isOnLocalDisk, readMountInfo } from './mounts.ts';
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
export interface Gauges {
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
