// Threads of the store yield to the hub's thread when both need the same core. Otherwise, on a machine with two cores, a change would wait
// for up to 5 ms during a write. On Linux a thread sets its priority, and has the hub set its scheduling policy; elsewhere, or without
// permission, it only rests. They return memory to the system when they have nothing to do.

import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { workerData } from 'node:worker_threads';
import type { ThreadData } from '../store-thread.ts';

/** A thread pauses for `restMs` after `workMs` of work. */
const workMs = 0.25;
const restMs = 0.05;
/** Reading the clock costs a tenth of writing a row, so only every fourth call reads it. */
const lookEvery = 4;
/** After a pause of this length, the thread was waiting for work and has only just begun. */
const pauseMs = 20;
/** From -20 (highest priority) to 19 (lowest). */
const niceness = 10;

const nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
let restedAt = 0;
let calls = 0;

/**
 * Pauses briefly from time to time. A thread calls it for each row that it writes. The Linux scheduler lets a running thread continue for
 * up to 4 ms, regardless of its priority, before another thread gets the core.
 */
export function giveWay(): void {
  if (++calls % lookEvery !== 0) return;
  const workedMs = performance.now() - restedAt;
  if (workedMs < workMs) return;
  if (workedMs < pauseMs) Atomics.wait(nothing, 0, 0, restMs);
  restedAt = performance.now();
}

/**
 * Makes the hub keep the calling thread from interrupting others when the thread wakes up (`startThread`). Its share of processor time
 * stays the same, because clients wait for it.
 */
export function neverInterrupt(): void {
  Atomics.store((workerData as ThreadData).number, 0, Number(threadNumber() ?? -1));
}

/** Keeps the calling thread from interrupting others, and gives it a small share of processor time, because no client waits for it. */
export function yieldToHub(): void {
  neverInterrupt();
  const thread = threadNumber();
  if (thread === undefined) return;
  try {
    setPriority(Number(thread), niceness);
  } catch {} // not permitted
}

/** Returns the kernel's ID of the calling thread; undefined if there is no /proc. */
function threadNumber(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1);
  } catch {
    return undefined;
  }
}

/** The time for which a thread must have had no request before it returns memory. */
const idleMs = 5000;
/** The growth of the heap after which a thread returns memory, at most once in this time: a collection takes about 20 ms. */
const grownBytes = 2 * 1024 * 1024;
const returnEveryMs = 10_000;

let idle: NodeJS.Timeout | undefined;
let returnedAt = Number.NEGATIVE_INFINITY;
let bytesThen = 0;

/**
 * Returns free memory to the system some time after the last request; call it at each request. V8 does not do this by itself, because an
 * idle thread never allocates enough: data read or written at the start would remain forever, and half of its heap is code of Node.js that
 * ran only then.
 */
export function returnMemoryWhenIdle(): void {
  if (idle === undefined) idle = setTimeout(returnMemory, idleMs).unref();
  else idle.refresh();
}

function returnMemory(): void {
  const nowMs = performance.now();
  if (nowMs - returnedAt < returnEveryMs || getHeapStatistics().used_heap_size < bytesThen + grownBytes) return;
  returnedAt = nowMs;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('globalThis.gc') as NodeJS.GCFunction | undefined; // undefined: another thread is doing the same
  setFlagsFromString('--no-expose-gc');
  setFlagsFromString('--bytecode-old-age=1'); // drops code that does not run between two collections; 6 is the default
  collect?.({ type: 'major' });
  collect?.({ type: 'major', flavor: 'last-resort' });
  setFlagsFromString('--bytecode-old-age=6');
  bytesThen = getHeapStatistics().used_heap_size;
}
