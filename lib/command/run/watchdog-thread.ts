// The thread that watches whether the main thread goes on. When a flow in TypeScript never lets go of it, only the end of the
// process helps: this thread says in the log which flow it was and where, and notes that the next start leaves it out.

import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type FlowCode, flowOf } from '../../flow/programs/flow-code.ts';
import { leaveOut } from '../../flow/programs/left-out.ts';
import { stackOfMainThread } from '../../flow/programs/stack.ts';
import { messageOf } from '../../model/error.ts';
import { createLogFormat, type LogFormat } from './log-format.ts';
import { LogOutput } from './log-output.ts';
import { mainThreadMs } from './main-thread.ts';

export interface WatchdogData {
  /** Counts up as long as the main thread goes on. */
  readonly beats: Int32Array;
  /** The number of the flow that holds the main thread; 0: none. */
  readonly holder: Int32Array;
  readonly log: { readonly format: LogFormat; readonly descriptor: number };
  readonly pid: number;
}

const lookMs = 500;
/** Counted in processor time of the main thread since the last beat, so that a flow has more time on a busy machine. */
const suspectMs = 3000;
const condemnMs = 4000;
/** A flow that does nothing for so long and keeps the thread, as when it waits for another program. */
const blockedMs = 30_000;
/** Up to so much processor time is nothing: a loop takes more, also on a busy machine. */
const nothingMs = 1000;
const lastWordsMs = 1000;

const { beats, holder, log, pid } = workerData as WatchdogData;
/** By their numbers. */
let flows: ReadonlyMap<number, FlowCode> = new Map();
parentPort!.on('message', (known: ReadonlyMap<number, FlowCode>) => {
  flows = known;
});
/** A debugger holds the thread as well. */
const isDebugged = process.execArgv.some((option) => option.startsWith('--inspect'));

void watch();

async function watch(): Promise<void> {
  let last = -1;
  let beganAt = 0;
  let looks = 0;
  let suspect: string | undefined;
  for (;;) {
    await wait(lookMs);
    const beat = Atomics.load(beats, 0);
    const usedMs = mainThreadMs(process);
    if (beat !== last) {
      last = beat;
      beganAt = usedMs;
      looks = 0;
      suspect = undefined;
      continue;
    }
    looks++;
    if (usedMs - beganAt > (suspect === undefined ? suspectMs : condemnMs)) {
      const found = flowOf((await stackOfMainThread()) ?? '', [...flows.values()]);
      if (found !== undefined && found.flow === suspect) await condemnLoop(found.flow, found.place);
      suspect = found?.flow;
    }
    const holding = flows.get(Atomics.load(holder, 0));
    const isBlocked = looks * lookMs >= blockedMs && usedMs - beganAt < nothingMs;
    if (isBlocked && holding !== undefined && !isDebugged)
      await condemn(holding, `it has kept the hub waiting for ${blockedMs / 1000} s`);
  }
}

async function condemnLoop(name: string, place: string | undefined): Promise<void> {
  const flow = [...flows.values()].find((flow) => flow.name === name)!;
  await condemn(flow, `it ran for ${condemnMs / 1000} s without letting go, at ${place ?? name}`);
}

async function condemn(flow: FlowCode, reason: string): Promise<void> {
  const { name } = flow;
  let next = 'the next start leaves it out until it is saved with another content';
  try {
    leaveOut(flow, reason);
  } catch (error) {
    next = `the next start cannot leave it out: ${messageOf(error)}`;
  }
  const output = new LogOutput(log.descriptor, () => {});
  output.write(entryOf(name, `flow ${name} has stopped the hub: ${reason}. The process ends, ${next}`));
  await output.flush(lastWordsMs);
  process.kill(pid, 'SIGKILL');
}

function entryOf(file: string, msg: string): string {
  return createLogFormat(log.format)(`${JSON.stringify({ level: 50, time: new Date().toISOString(), file, msg })}\n`);
}
