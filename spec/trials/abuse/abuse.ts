// npm run trial -- abuse: abuses a hub in every way that is known, beside twenty ordinary clients, and prints a Markdown table.
// Exit status 1 when somebody else noticed, the hub did not stop, kept memory, or its log did not say whose doing it was.

import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../../lib/model/error.ts';
import { becomesSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import type { Latency, NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { type LogEntry, startHub, startTask, type TaskProcess } from '../../support/system/task-process.ts';
import { residentBytesOf } from '../../support/system/used-memory.ts';
import { defineTrial, tell } from '../trial.ts';
import type { AbuseTask } from './attacker.ts';
import { type Scenario, scenarios } from './scenarios.ts';

const bounds = { p99Ms: 100, stopMs: 2000, memoryShare: 0.1 };
const mebibyte = 1024 * 1024;

export const trial = defineTrial({
  about: 'abuses a hub in every way that is known, beside twenty ordinary clients',
  options: {
    seconds: ['how long each abuse lasts', 10, 0.3],
    slack: ['by how much bounds may be exceeded: 2 is twice', 1, 40],
    hub: ['the source tree whose hub is abused', thisTree],
  },
  parts: { all: scenarios, short: ['plain-flood', 'unread-answers'] },
  async run({ seconds, slack, hub }, { isShort, parts }) {
    if (seconds === 0 || slack === 0) throw new Error('--seconds, --slack: expected numbers above 0, got 0');
    tell('| abuse | p99 before, during | longest gap | SIGTERM to exit | MiB before, after | told | |');
    tell('|---|---|---|---|---|---|---|');
    let failed = 0;
    for (const [name, scenario] of parts) {
      const options = { seconds, slack, hub: { hubFolder: resolve(hub), isQuick: isShort } };
      if ((await abuse(name, scenario, options)).length > 0) failed++;
    }
    return failed === 0;
  },
});

async function abuse(
  name: string,
  scenario: Scenario,
  { seconds, slack, hub }: { seconds: number; slack: number; hub: Pick<AbuseOptions, 'hubFolder' | 'isQuick'> },
): Promise<readonly string[]> {
  try {
    const result = await inTemporaryFolder('abuse', (folder) => runAbuse(name, scenario, { ...hub, seconds, folder }));
    const mistakes = mistakesOf(scenario, result, slack);
    const { before, during, stopMs, bytesBefore, bytesAfter, told } = result;
    const cells = [
      name,
      `${before.p99.toFixed(1)}, ${during.p99.toFixed(1)} ms`,
      `${during.longestGap.toFixed(0)} ms`,
      `${stopMs.toFixed(0)} ms`,
      `${(bytesBefore / mebibyte).toFixed(0)}, ${(bytesAfter / mebibyte).toFixed(0)}`,
      told[0] ?? 'nothing',
      mistakes.length === 0 ? 'holds' : `**${mistakes.join('; ')}**`,
    ];
    tell(`| ${cells.join(' | ')} |`);
    return mistakes;
  } catch (error) {
    tell(`| ${name} | **${messageOf(error)}** |`);
    return [messageOf(error)];
  }
}

function mistakesOf(scenario: Scenario, result: AbuseResult, slack: number): string[] {
  const { during, stopMs, bytesBefore, bytesAfter, told } = result;
  const most = {
    p99: (scenario.p99Ms ?? bounds.p99Ms) * slack,
    stop: bounds.stopMs * slack,
    bytes: bytesBefore * (1 + bounds.memoryShare * slack),
  };
  return [
    ...(during.p99 < most.p99 ? [] : [`p99: expected less than ${most.p99} ms, got ${during.p99}`]),
    ...(stopMs < most.stop ? [] : [`SIGTERM: expected the end within ${most.stop} ms, got ${stopMs.toFixed(0)}`]),
    ...(bytesAfter <= most.bytes ? [] : ['memory: expected what there was before and a tenth']),
    ...(scenario.limits.length === 0 || told.length > 0
      ? []
      : [`log: expected a line of ${scenario.limits.join(', ')}`]),
  ];
}

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
