// The thread that monitors whether the main thread responds. If a TypeScript flow blocks the main thread forever, the process must end.
// This thread then logs which flow it was and where it blocked, and makes the next start skip the flow.

import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type FlowCode, flowOf } from '../../flow/programs/flow-code.ts';
import { leaveOut } from '../../flow/programs/left-out.ts';
import { stackOfMainThread } from '../../flow/programs/stack.ts';
import { messageOf } from '../../model/error.ts';
import { createLogFormat, type LogFormat, LogOutput } from './log-output.ts';
import { mainThreadMs } from './main-thread.ts';

export interface WatchdogData {
  /** A counter that increases while the main thread responds. */
  readonly beats: Int32Array;
  /** The number of the flow that is running on the main thread, or 0 if no flow is running. */
  readonly holder: Int32Array;
  readonly log: { readonly format: LogFormat; readonly descriptor: number };
  readonly pid: number;
}

const lookMs = 500;
/**
 * The maximum processor time of the main thread since the last beat, in milliseconds. It is measured in processor time so that a flow gets
 * more wall time on a busy machine.
 */
const suspectMs = 3000;
const condemnMs = 4000;
/**
 * The maximum time since the last beat, in milliseconds, for a flow that blocks the thread without using the processor, for example while
 * waiting for another program.
 */
const blockedMs = 30_000;
/** The processor time in milliseconds below which the main thread counts as idle, because a loop uses more, even on a busy machine. */
const idleMs = 1000;
const lastMessageMs = 1000;

const { beats, holder, log, pid } = workerData as WatchdogData;
/** The TypeScript flows, keyed by the number that `holder` contains while a flow is running. */
let flows: ReadonlyMap<number, FlowCode> = new Map();
parentPort!.on('message', (known: ReadonlyMap<number, FlowCode>) => {
  flows = known;
});
/** Whether the process is being debugged, because a debugger also blocks the thread. */
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
    const isBlocked = looks * lookMs >= blockedMs && usedMs - beganAt < idleMs;
    if (isBlocked && holding !== undefined && !isDebugged)
      await condemn(holding, `it blocked the hub for ${blockedMs / 1000} s`);
  }
}

async function condemnLoop(name: string, place: string | undefined): Promise<void> {
  const flow = [...flows.values()].find((flow) => flow.name === name)!;
  await condemn(flow, `it ran for ${condemnMs / 1000} s without yielding, at ${place ?? name}`);
}

async function condemn(flow: FlowCode, reason: string): Promise<void> {
  const { name } = flow;
  let next = 'the hub skips this flow at every start until its content changes';
  try {
    leaveOut(flow, reason);
  } catch (error) {
    next = `the hub cannot skip this flow at the next start: ${messageOf(error)}`;
  }
  const output = new LogOutput(log.descriptor, () => {});
  output.write(entryOf(name, `flow ${name} has stopped the hub: ${reason}. The process ends; ${next}`));
  await output.flush(lastMessageMs);
  process.kill(pid, 'SIGKILL');
}

function entryOf(file: string, msg: string): string {
  return createLogFormat(log.format)(`${JSON.stringify({ level: 50, time: new Date().toISOString(), file, msg })}\n`);
}
