// Threads of the store give way to the hub's own, where the two need the same core: on a machine of two cores a change would
// else wait for up to 5 ms while something is written. On Linux a thread has a policy and a priority of its own; elsewhere, and
// where it may not change them, it only rests.

import { spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** After so much work a thread rests for so long. */
const workMs = 0.25;
const restMs = 0.05;
/** To look at the clock takes a tenth of a row: it is looked at for one call of so many. */
const lookEvery = 4;
/** A thread that was not heard of for so long has waited for work, and only begins. */
const pauseMs = 20;
/** Of -20 (first) to 19 (last). */
const niceness = 10;

const nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
let restedAt = 0;
let calls = 0;

/**
 * Called for each row by a thread that writes many: it rests for a moment now and then. The scheduler of Linux lets a thread that has
 * begun go on for up to 4 ms, whatever its priority, before another gets the core.
 */
export function giveWay(): void {
  if (++calls % lookEvery !== 0) return;
  const workedMs = performance.now() - restedAt;
  if (workedMs < workMs) return;
  if (workedMs < pauseMs) Atomics.wait(nothing, 0, 0, restMs);
  restedAt = performance.now();
}

/** The thread that calls it interrupts no other when it wakes up. Its share of the time stays as large: somebody waits for it. */
export function neverInterrupt(): void {
  const thread = threadNumber();
  if (thread === undefined) return;
  const chrt = spawn('chrt', ['--batch', '--pid', '0', thread], { stdio: 'ignore' }); // Node.js has no call for it; part of util-linux
  chrt.on('error', () => {}); // it is not installed
  chrt.unref();
}

/** The thread that calls it interrupts no other, and gets a small share of the time: nobody waits for it. */
export function yieldToHub(): void {
  const thread = threadNumber();
  if (thread === undefined) return;
  neverInterrupt();
  try {
    setPriority(Number(thread), niceness);
  } catch {} // it is not allowed
}

/** As the kernel counts threads; undefined: there is no /proc. */
function threadNumber(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1);
  } catch {
    return undefined;
  }
}
