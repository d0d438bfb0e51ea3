// Whether files may be read before a request handler returns. Then their answers can be pipelined; but all wait for the disk, so
// only a local one is read like that, and only as long as it is quick.

import { resourceUsage } from 'node:process';
import { isOnLocalDisk, readMountInfo } from './mounts.ts';
import { type Reading, readLater, readNow } from './reading.ts';

/** A reading that takes longer than this is slow: a disk that spins up, a file system that is stuck. */
const slowMs = 50;
/** After so many slow ones within a minute nobody waits for the disk any more, for a minute. */
const maxSlow = 3;
/** How long a verdict on a disk holds. */
const verdictMs = 60_000;

export interface Disk {
  /** Reads at once where nobody has to wait long for it; a promise: it did not. Errors: those of the reading. */
  read<T>(reading: Reading<T>): T | Promise<T>;
}

/** What a disk is judged by. */
export interface Gauges {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** How often the process had a disk read for it: else the processor was elsewhere, and no disk was slow. */
  diskReads(): number;
  /** The mount table of Linux; empty elsewhere. */
  mountInfo(): string;
}

const systemGauges: Gauges = {
  now: () => performance.now(),
  diskReads: () => resourceUsage().fsRead,
  mountInfo: readMountInfo,
};

/** Creates what reads below a folder, which may be missing. */
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
