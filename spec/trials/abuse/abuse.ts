// npm run trial -- abuse: attacks a hub in every known way while twenty ordinary clients use it, and prints a Markdown table. Exit status 1
// if another client was affected, the hub took too long to stop on SIGTERM or did not free its memory, or its log did not name the
// attacker.

import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { makePasswordText } from '../../../lib/connections/rest-api/users/passwords.ts';
import { messageOf } from '../../../lib/model/error.ts';
import { becomesSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import type { Entrances } from '../../support/load/comer.ts';
import type { Latency, NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { type LogEntry, startHub, startTask, type TaskProcess } from '../../support/system/task-process.ts';
import { residentBytesOf } from '../../support/system/used-memory.ts';
import { defineTrial, notify } from '../trial.ts';
import type { AbuseTask } from './attacker.ts';
import { abuserToken, type Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

/** `codeMiB`: before an abuse a hub may have just dropped all compiled code; what V8 compiles under load stays. */
const bounds = { p99Ms: 100, entranceMs: 1000, stopMs: 2000, mostMiB: 512, memoryShare: 0.1, codeMiB: 16 };
const shortRun = ['plain-flood', 'unread-answers', 'unauthorized', 'v1-changes', 'delayed-texts'];
const mebibyte = 1024 * 1024;

export const trial = defineTrial({
  about: 'abuses a hub in every known way while twenty ordinary clients use it',
  options: {
    seconds: ['how long each scenario lasts, in seconds', 10, 0.3],
    slack: ['the factor by which limits may be exceeded', 1, 40],
    hub: ['the source tree of the abused hub', thisTree],
  },
  parts: { all: scenarios, short: [...shortRun], shortCount: 2 },
  async run({ seconds, slack, hub }, { isShort, parts }) {
    if (seconds === 0 || slack === 0) throw new Error('--seconds, --slack: expected numbers above 0, got 0');
    notify(
      '| abuse | p99 before, during | longest gap | right credentials | SIGTERM to exit | MiB before, most, after | told | |',
    );
    notify('|---|---|---|---|---|---|---|---|');
    Object.assign(process.env, await environmentOfUnit());
    let failed = 0;
    for (const [name, scenario] of parts) {
      const options = { seconds, slack, hub: { hubFolder: resolve(hub), isQuick: isShort } };
      if ((await abuse(name, scenario, options)).length > 0) failed++;
    }
    return failed === 0;
  },
});

/** What the unit of systemd has in the environment of a hub. */
async function environmentOfUnit(): Promise<Record<string, string>> {
  const unit = await readFile(join(thisTree, 'install/patchbay.service'), 'utf8');
  const lines = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) => line!.split(' '));
  return Object.fromEntries(lines.map((line) => line.split('=', 2)));
}

async function abuse(
  name: string,
  scenario: Scenario,
  { seconds, slack, hub }: { seconds: number; slack: number; hub: Pick<AbuseOptions, 'hubFolder' | 'isQuick'> },
): Promise<readonly string[]> {
  try {
    const result = await inTemporaryFolder('abuse', (folder) => runAbuse(name, scenario, { ...hub, seconds, folder }));
    const mistakes = mistakesOf(scenario, result, slack);
    const { before, during, entrances, stopMs, bytesBefore, mostBytes, bytesAfter, reported } = result;
    const cells = [
      name,
      `${before.p99.toFixed(1)}, ${during.p99.toFixed(1)} ms`,
      `${during.longestGap.toFixed(0)} ms`,
      `${entrances.longestMs.toFixed(0)} ms`,
      `${stopMs.toFixed(0)} ms`,
      [bytesBefore, mostBytes, bytesAfter].map((bytes) => (bytes / mebibyte).toFixed(0)).join(', '),
      reported[0] ?? 'nothing',
      mistakes.length === 0 ? 'holds' : `**${mistakes.join('; ')}**`,
    ];
    notify(`| ${cells.join(' | ')} |`);
    return mistakes;
  } catch (error) {
    notify(`| ${name} | **${messageOf(error)}** |`);
    return [messageOf(error)];
  }
}

function mistakesOf(scenario: Scenario, result: AbuseResult, slack: number): string[] {
  const { during, entrances, stopMs, bytesBefore, mostBytes, bytesAfter, reported } = result;
  const grownMiB = (mostBytes - bytesBefore) / mebibyte;
  const most = {
    p99: bounds.p99Ms * slack,
    entrance: bounds.entranceMs * slack,
    grownMiB: scenario.mostMiB ?? bounds.mostMiB,
    stop: bounds.stopMs * slack,
    bytes: restingBytes(scenario, bytesBefore) * (1 + bounds.memoryShare * slack),
  };
  return [
    ...(during.p99 < most.p99 ? [] : [`p99: expected less than ${most.p99} ms, got ${during.p99}`]),
    ...(entrances.mistake === undefined ? [] : [`right credentials: ${entrances.mistake}`]),
    ...(entrances.longestMs < most.entrance
      ? []
      : [`right credentials: expected to come in within ${most.entrance} ms, got ${entrances.longestMs.toFixed(0)}`]),
    ...(grownMiB < most.grownMiB
      ? []
      : [`memory: expected at most ${most.grownMiB} MiB more, got ${grownMiB.toFixed(0)}`]),
    ...(stopMs < most.stop ? [] : [`SIGTERM: expected the end within ${most.stop} ms, got ${stopMs.toFixed(0)}`]),
    ...(bytesAfter <= most.bytes
      ? []
      : [`memory: expected what there was before, what is kept, ${bounds.codeMiB} MiB of code, and a tenth`]),
    ...(scenario.limits.length === 0 || reported.length > 0
      ? []
      : [`log: expected a line of ${scenario.limits.join(', ')}`]),
  ];
}

/** What a hub holds afterwards that had so much before. */
function restingBytes({ keptMiB = 0 }: Scenario, bytesBefore: number): number {
  return bytesBefore + (keptMiB + bounds.codeMiB) * mebibyte;
}

export interface AbuseResult {
  readonly before: Latency;
  readonly during: Latency;
  /** How the right credentials came in meanwhile. */
  readonly entrances: Entrances;
  /** From SIGTERM, while the abuse goes on, to the end of the hub. */
  readonly stopMs: number;
  /** Resident, with the neighbours there, as the system sees it. */
  readonly bytesBefore: number;
  readonly mostBytes: number;
  readonly bytesAfter: number;
  /** The lines of the log that name a limit of the scenario and the abuser; how many lines there were in all. */
  readonly reported: readonly string[];
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
const all = ['**'];
const operator = { user: 'operator', password: 'right password', token: 'b3BlcmF0b3Igb2YgdHJpYWxz' };
const neighbourToken = 'bmVpZ2hib3VyIG9mIHRyaWFscw==';
/** How long the hub has to let go of what the abuse has cost. */
const recoveryMs = 10_000;
const lookEveryMs = 200;

/** Runs a scenario. Errors: when the hub or a neighbour did not get through it. */
export async function runAbuse(name: string, scenario: Scenario, options: AbuseOptions): Promise<AbuseResult> {
  const { hubFolder, isQuick, seconds, folder } = options;
  const entries: LogEntry[] = [];
  const ids = Array.from({ length: neighbours }, (_, index) => `neighbour/${index}`);
  const parameters = [...ids.map((id) => `${id},F`), 'lamp,B,false', 'text', ...(scenario.parameters ?? [])];
  const api = { type: 'rest-api', port: 0, bindIp: abuser, ...(await usersOf(scenario)), ...scenario.settings };
  const desk = { type: 'dummy', parameters };
  const flow = { connections: { api, desk, ...scenario.connections }, rules: scenario.rules ?? [] };
  for (const [path, content] of Object.entries(scenario.files ?? {})) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
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
    const task: NeighboursTask = {
      ...{ port: hub.port, addresses, beforeMs, duringMs: seconds * 1000, handshakeRequest: operator },
      token: scenario.isClosed ? neighbourToken : undefined,
    };
    const watching = begin('spec/support/load/neighbours.ts', task);
    await watching.answer();
    const bytesBefore = residentBytesOf(hub.pid);

    const abuse: AbuseTask = { scenario: name, port: hub.port };
    const abusing = begin('spec/trials/abuse/attacker.ts', abuse);
    await abusing.answer();
    watching.process.send('go');
    let mostBytes = bytesBefore;
    const looking = setInterval(() => {
      mostBytes = Math.max(mostBytes, residentBytesOf(hub.pid));
    }, lookEveryMs);
    const { before, during, entrances } = await watching
      .answer<NeighboursResult>()
      .finally(() => clearInterval(looking));
    await end(abusing);
    const bytesAfter = await recoveredBytes(hub.pid, restingBytes(scenario, bytesBefore));

    await begin('spec/trials/abuse/attacker.ts', abuse).answer();
    await after(Math.min(longestBeforeStopMs, seconds * 1000));
    const stoppedAt = performance.now();
    await hub.stop();
    const stopMs = performance.now() - stoppedAt;
    const reported = entries
      .filter(({ limit, client }) => client === abuser && scenario.limits.some((one) => one === limit))
      .map(({ msg }) => msg);
    return {
      before,
      during,
      entrances: entrances!,
      stopMs,
      bytesBefore,
      mostBytes,
      bytesAfter,
      reported,
      lines: entries.length,
    };
  } finally {
    await Promise.all(started.map(end));
    await hub.stop().catch(() => {}); // it has ended, unless something went wrong
  }
}

/** Who may come in: the operator, the abuser, and the neighbours, who are nobody unless the scenario is closed. */
async function usersOf({ isClosed = false, users }: Scenario) {
  const { user, password, token } = operator;
  const rights = { read: all, write: all };
  return {
    users: {
      [user]: { password: await makePasswordText(password), ...rights, manage: true },
      machine: { token, ...rights },
      abuser: { token: abuserToken, ...rights, manage: true, metrics: true },
      neighbour: { token: neighbourToken, ...rights },
      ...users,
    },
    ...(!isClosed && { anonymous: rights }),
  };
}

/** What a hub holds once that is no more than a tenth above what is to stay, or else in the end. */
async function recoveredBytes(pid: number, restingBytes: number): Promise<number> {
  let residentBytes = 0;
  const hasRecovered = () => {
    residentBytes = residentBytesOf(pid);
    return residentBytes <= restingBytes * (1 + bounds.memoryShare);
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
