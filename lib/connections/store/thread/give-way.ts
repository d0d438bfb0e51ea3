// Store threads yield to the hub's thread when both need the same core. Otherwise, on a machine with two cores, a change would be delayed
// by up to 5 ms during a write. On Linux, a store thread lowers its priority and has the hub set its scheduling policy; elsewhere, or
// without permission, it only pauses. Idle store threads return memory to the system.

import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { workerData } from 'node:worker_threads';
import type { ThreadData } from '../store-thread.ts';

/** How long a thread works between two pauses, and the duration of a pause (`restMs`), in milliseconds. */
const workMs = 0.25;
const restMs = 0.05;
/** One out of this number of calls reads the clock, because reading the clock costs a tenth of writing a row. */
const lookEvery = 4;
/** The time between two calls after which a thread counts as having waited for work, in milliseconds. */
const pauseMs = 20;
/** The nice value of a thread, from -20 (highest priority) to 19 (lowest). */
const niceness = 10;

const nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
let restedAt = 0;
let calls = 0;

/**
 * Pauses briefly from time to time. Threads call this function for each row that they write. The Linux scheduler lets a running thread
 * continue for up to 4 ms, regardless of its priority, before another thread gets the core.
 */
export function giveWay(): void {
  if (++calls % lookEvery !== 0) return;
  const workedMs = performance.now() - restedAt;
  if (workedMs < workMs) return;
  if (workedMs < pauseMs) Atomics.wait(nothing, 0, 0, restMs);
  restedAt = performance.now();
}

/**
 * Asks the hub to prevent the calling thread from interrupting other threads when it wakes up (see `startThread`). The thread's share of
 * processor time remains the same, because clients are waiting for the thread.
 */
export function neverInterrupt(): void {
  Atomics.store((workerData as ThreadData).number, 0, Number(threadNumber() ?? -1));
}

/**
 * Prevents the calling thread from interrupting other threads, and reduces its share of processor time, because no client is waiting for
 * it.
 */
export function yieldToHub(): void {
  neverInterrupt();
  const thread = threadNumber();
  if (thread === undefined) return;
  try {
    setPriority(Number(thread), niceness);
  } catch {} // the thread may not change its priority
}

/** Returns the kernel ID of the calling thread; undefined if there is no /proc. */
function threadNumber(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1);
  } catch {
    return undefined;
  }
}

/** The time without requests after which a thread returns memory, in milliseconds. */
const idleMs = 1500;
/**
 * The minimum growth of the heap before a thread returns memory again, in bytes, and the minimum time in between: a collection takes about
 * 20 ms.
 */
const grownBytes = 2 * 1024 * 1024;
const returnEveryMs = 10_000;

/** The pause before another attempt while another thread is collecting its garbage, in milliseconds. */
const againMs = 100;

let idle: NodeJS.Timeout | undefined;
let returnedAt = Number.NEGATIVE_INFINITY;
let bytesThen = 0;

/**
 * Returns free memory to the system some time after the last request, and then calls `shrink`, which does the same for memory outside of
 * V8. Call this at each request. V8 does not return memory by itself, because an idle thread never allocates enough memory to trigger a
 * collection. Without this function, data read or written at startup would stay in memory forever, although half of the heap is Node.js
 * code that is needed only at startup.
 */
export function returnMemoryWhenIdle(shrink: () => void): void {
  if (idle === undefined) idle = setTimeout(() => returnMemory(shrink), idleMs).unref();
  else idle.refresh();
}

function returnMemory(shrink: () => void): void {
  const nowMs = performance.now();
  if (nowMs - returnedAt < returnEveryMs || getHeapStatistics().used_heap_size < bytesThen + grownBytes) return;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('globalThis.gc') as NodeJS.GCFunction | undefined;
  setFlagsFromString('--no-expose-gc');
  if (collect === undefined) {
    setTimeout(() => returnMemory(shrink), againMs).unref(); // another thread has just changed the flag, which all threads share
    return;
  }
  returnedAt = nowMs;
  setFlagsFromString('--bytecode-old-age=1'); // drops code that has not run between two collections; the default is 6
  collect({ type: 'major' });
  collect({ type: 'major', flavor: 'last-resort' });
  setFlagsFromString('--bytecode-old-age=6');
  bytesThen = getHeapStatistics().used_heap_size;
  shrink();
}
