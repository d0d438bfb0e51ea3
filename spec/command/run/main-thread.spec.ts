// How much the main thread has worked, as the thread that watches over flows sees it.

import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import test from 'ava';
import { mainThreadMs } from '../../../lib/command/run/main-thread.ts';
import '../../support/own-process.ts';

/** More than a main thread that only waits takes, also when another thread is busy. */
const littleMs = 200;
const muchMs = 1000;

/** Until the process has taken so much more processor time. */
async function untilTaken(ms: number): Promise<void> {
  const before = takenMs();
  while (takenMs() - before < ms) await wait(50);
}

function takenMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

test.serial('the work of other threads is not counted', async (t) => {
  const busy = new Worker('for (;;);', { eval: true });
  const before = mainThreadMs(process);
  await untilTaken(muchMs);
  t.true(mainThreadMs(process) - before < littleMs);
  await busy.terminate();
});

test.serial('the work of the main thread is counted', async (t) => {
  const before = mainThreadMs(process);
  const processBefore = takenMs();
  while (takenMs() - processBefore < muchMs);
  t.true(mainThreadMs(process) - before > muchMs / 2);
});

test('if the system does not separate threads, the work of the whole process is counted', (t) => {
  const host = { pid: -1, cpuUsage: () => ({ user: 1500, system: 500 }) } as NodeJS.Process;
  t.is(mainThreadMs(host), 2);
});
