// How long things take, whatever else the machine does meanwhile: as processor time where this process works, else as time on
// the wall in proportion to how slow the machine is at that moment.

import { cpuUsage } from 'node:process';

const probeMs = 40;

/** Milliseconds on the wall. */
export async function timeOf(work: () => unknown): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** Milliseconds for which this process works; while it waits, for others or for the processor, no time passes. */
export async function processorTimeOf(work: () => unknown): Promise<number> {
  const startMs = processorMs();
  await work();
  return processorMs() - startMs;
}

/** How many times longer than alone on the machine anything takes at the moment; 1 and more. */
export function slowness(): number {
  const startMs = performance.now();
  const endMs = processorMs() + probeMs;
  while (processorMs() < endMs);
  return Math.max(1, (performance.now() - startMs) / probeMs);
}

/** How long something would take on a machine that does nothing else. */
export async function idleTimeOf(work: () => unknown): Promise<number> {
  const before = slowness();
  const tookMs = await timeOf(work);
  return tookMs / Math.max(before, slowness());
}

/** The least of what several tries say: no more of them than it takes to come below the limit. */
export async function bestOf(limit: number, measure: (attempt: number) => Promise<number>, attempts = 8) {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && best >= limit; attempt++) best = Math.min(best, await measure(attempt));
  return best;
}

function processorMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}
