// One abuse of a hub, from its start to SIGTERM: what its neighbours notice, what the hub keeps, and what its log says.

import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { becomesSo } from '../../support/load/deadline.ts';
import type { Latency, NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { type LogEntry, startHub, startTask, type TaskProcess } from '../../support/system/task-process.ts';
import { residentBytesOf } from '../../support/system/used-memory.ts';
import type { AbuseTask } from './attacker.ts';
import type { Scenario } from './scenario.ts';

export interface AbuseResult {
  readonly before: Latency;
  readonly during: Latency;
  /** From SIGTERM, while the abuse goes on, to the end of the hub. */
  readonly stopMs: number;
  /** Resident, with the neighbours there, as the system sees it. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** The lines of the log that name a limit of the scenario and the abuser; how many lines there were in all. */
  readonly told: readonly string[];
  readonly lines: number;
}

export interface AbuseOptions {
  readonly hubFolder: string;
  readonly isQuick: boolean;
  readonly seconds: number;
  /** An empty folder. */
  readonly folder: string;
}

const neighbours = 20;
const beforeMs = 1000;
const longestBeforeStopMs = 500;
const abuser = '127.0.0.1';
/** How long the hub has to let go of what the abuse has cost. */
const recoveryMs = 10_000;
const lookEveryMs = 500;

/** Runs a scenario. Errors: when the hub or a neighbour did not get through it. */
export async function runAbuse(name: string, scenario: Scenario, options: AbuseOptions): Promise<AbuseResult> {
  const { hubFolder, isQuick, seconds, folder } = options;
  const entries: LogEntry[] = [];
  const ids = Array.from({ length: neighbours }, (_, index) => `neighbour/${index}`);
  const parameters = [...ids.map((id) => `${id},F`), 'lamp,B,false', 'text', ...(scenario.parameters ?? [])];
  const api = { type: 'rest-api', port: 0, bindIp: abuser, ...scenario.settings };
  const flow = { connections: { api, desk: { type: 'dummy', parameters } } };
  const onEntry = (entry: LogEntry) => void entries.push(entry);
  const hub = await startHub(flow, folder, { hubFolder, isQuick, profileFolder: undefined }, [], onEntry);
  const started: TaskProcess[] = [];
  const begin = (name: string, work: object) => {
    const task = startTask(name, work);
    started.push(task);
    return task;
  };
  try {
    const addresses = ids.map((id) => `desk/${id}`);
    const task: NeighboursTask = { port: hub.port, addresses, beforeMs, duringMs: seconds * 1000 };
    const watching = begin('spec/support/load/neighbours.ts', task);
    await watching.answer();
    const bytesBefore = residentBytesOf(hub.pid);

    const abuse: AbuseTask = { scenario: name, port: hub.port };
    const abusing = begin('spec/trials/abuse/attacker.ts', abuse);
    await abusing.answer();
    watching.process.send('go');
    const { before, during } = await watching.answer<NeighboursResult>();
    await end(abusing);
    const bytesAfter = await recoveredBytes(hub.pid, bytesBefore);

    await begin('spec/trials/abuse/attacker.ts', abuse).answer();
    await after(Math.min(longestBeforeStopMs, seconds * 1000));
    const stoppedAt = performance.now();
    await hub.stop();
    const stopMs = performance.now() - stoppedAt;
    const told = entries
      .filter(({ limit, client }) => client === abuser && scenario.limits.some((one) => one === limit))
      .map(({ msg }) => msg);
    return { before, during, stopMs, bytesBefore, bytesAfter, told, lines: entries.length };
  } finally {
    await Promise.all(started.map(end));
    await hub.stop().catch(() => {}); // it has ended, unless something went wrong
  }
}

/** What a hub holds once that is no more than a tenth above what it held before, or else in the end. */
async function recoveredBytes(pid: number, bytesBefore: number): Promise<number> {
  let residentBytes = 0;
  const hasRecovered = () => {
    residentBytes = residentBytesOf(pid);
    return residentBytes <= bytesBefore * 1.1;
  };
  await becomesSo(hasRecovered, { deadlineMs: recoveryMs, everyMs: lookEveryMs });
  return residentBytes;
}

async function end({ process: child }: TaskProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
