// What is measured while a hub is soaked, and whether it stayed as it was.

import { summarize } from '../../support/statistics.ts';
import { busyMsOfAll, waitedMs } from '../../support/system/busy-time.ts';
import { openDescriptorsOf } from '../../support/system/open-descriptors.ts';
import { memoryOf } from '../../support/system/used-memory.ts';

export interface Sample {
  readonly minutes: number;
  /** After garbage is collected. */
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly descriptors: number;
  /** Milliseconds that the hub has worked since its start. */
  readonly busyMs: number;
  /** How long it could have worked and had to wait for a core. */
  readonly waitedMs: number;
}

/** What is held against each other. */
export type Mark = Omit<Sample, 'busyMs' | 'waitedMs'>;

/** Memory may be so many times what it was after ten minutes. */
const mostGrowth = 1.05;
/** So many files and sockets may be open more or less: those of requests under way, and of SQLite. */
const descriptorSlack = 8;

export async function takeSample(pid: number, minutes: number): Promise<Sample> {
  const { residentBytes, heapBytes } = await memoryOf(pid);
  const descriptors = openDescriptorsOf(pid);
  return { minutes, residentBytes, heapBytes, descriptors, busyMs: busyMsOfAll(pid), waitedMs: waitedMs(pid) };
}

/** What a mark is: the median of some samples, which lie around it. */
export function medianOf(samples: readonly Sample[]): Mark {
  const median = (of: (sample: Sample) => number) => summarize(samples.map(of)).median;
  return {
    minutes: median(({ minutes }) => minutes),
    residentBytes: median(({ residentBytes }) => residentBytes),
    heapBytes: median(({ heapBytes }) => heapBytes),
    descriptors: median(({ descriptors }) => descriptors),
  };
}

/** What has grown from the mark to the end. */
export function mistakesOf(mark: Mark, end: Mark): string[] {
  const grown = (what: string, was: number, is: number) =>
    is <= was * mostGrowth
      ? []
      : [`${what}: expected at most ${mostGrowth} times ${mebibytes(was)} MiB, got ${mebibytes(is)}`];
  return [
    ...grown('resident memory', mark.residentBytes, end.residentBytes),
    ...grown('heap', mark.heapBytes, end.heapBytes),
    ...(Math.abs(end.descriptors - mark.descriptors) <= descriptorSlack
      ? []
      : [`descriptors: expected ${mark.descriptors}, give or take ${descriptorSlack}, got ${end.descriptors}`]),
  ];
}

export function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
