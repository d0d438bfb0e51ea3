// Has V8 give back what a burst has left. It keeps the pages of a heap that has shrunk for later, tens of MiB of them, and hands
// them to the system only when it collects garbage to save memory: of itself about a minute after the last burst, or never.
// Node.js 22 and 24 do what is asked here; in Node.js 26 V8 keeps the memory for the next burst all the same.

import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

const lookMs = 500;
/**
 * A thread is busy that works for this share of its time, and calm again with so little. Between them lies a steady load: to save
 * memory under it takes a third more time, and what is given back is taken again.
 */
const busyShare = 0.5;
const calmShare = 0.1;
/** V8 looks every 8 s whether it should save memory, and does so in small steps; it has done so twice after so long. */
const savingMs = 20_000;

/** Has V8 save memory for a while, each time this thread has been busy and is calm again. */
export function giveBackWhenCalm(): void {
  let before = performance.eventLoopUtilization();
  let savingUntil = 0;
  let wasBusy = false;
  const look = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    const isBusy = utilization >= busyShare;
    before = now;
    if (wasBusy && utilization < calmShare) {
      setFlagsFromString('--optimize-for-size');
      savingUntil = performance.now() + savingMs;
      wasBusy = false;
    } else if (savingUntil > 0 && (isBusy || performance.now() >= savingUntil)) {
      setFlagsFromString('--no-optimize-for-size'); // saving costs time under load
      savingUntil = 0;
    }
    wasBusy ||= isBusy;
  };
  setInterval(look, lookMs).unref();
}
