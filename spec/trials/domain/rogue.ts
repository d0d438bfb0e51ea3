// npm run trial -- rogue: an intruder in an open domain tries every known attack, beside twenty ordinary clients of one of its hubs. Exit
// status 1 if the clients were affected, values of an honest hub were wrong or did not recover by themselves, or the audit lost an entry of
// the clients.

import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../../lib/model/error.ts';
import type { Domain } from '../../../lib/wire/http/operation.ts';
import type { ParameterInfo } from '../../../lib/wire/http/parameter-shapes.ts';
import type { AuditPage } from '../../../lib/wire/http/past-shapes.ts';
import { becomesSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { startNats } from '../../support/nats/servers.ts';
import {
  type LogEntry,
  type ServerProcess,
  startHub,
  startTask,
  type TaskProcess,
} from '../../support/system/task-process.ts';
import { defineTrial, notify } from '../trial.ts';
import type { AttackTask } from './attacker.ts';
import { type Attack, attacks } from './attacks.ts';

const options = {
  seconds: ['how long each attack lasts, in seconds', 10, 2],
  slack: ['the factor by which time limits may be exceeded', 1, 40],
  size: ['the number of parameters in the largest attack', 1_000_000, 20_000],
  seed: ['the seed for the meaningless messages', 1],
} as const;

type Options = { readonly [Name in keyof typeof options]: number };

export const trial = defineTrial({
  about:
    'sends everything that an attacker in an open domain can: neighbours must be served, and honest hubs must keep their values',
  options,
  parts: { all: attacks, short: ['malformed', 'writes', 'claims'], shortCount: 1 },
  async run(values, { parts, isShort: isQuick }) {
    notify('| attack | p99 before, during | longest gap | values back after | refused, lost | the log names | |');
    notify('|---|---|---|---|---|---|---|');
    let failed = 0;
    for (const [name, attack] of parts)
      if ((await attackWith(name, attack, { ...values, isQuick })).length > 0) failed++;
    return failed === 0;
  },
});

const bounds = { p99Ms: 100, backMs: 5000 };
const neighbours = 20;
const beforeMs = 1000;
const lookEveryMs = 100;
const longestMs = 60_000;

interface Result {
  readonly neighbours: NeighboursResult;
  /** The time from the end of the attack until the other hub shows a value written then and is fresh. */
  readonly backMs: number;
  /** The maximum time until the other hub shows a value during the attack. */
  readonly meanwhileMs: number;
  readonly refused: number;
  /** Entries of the kind *lost*, with how many they count. */
  readonly lost: number;
  readonly warned: readonly string[];
  readonly mistakes: readonly string[];
}

async function attackWith(
  name: string,
  attack: Attack,
  values: Options & { isQuick: boolean },
): Promise<readonly string[]> {
  try {
    const result = await inTemporaryFolder('rogue', (folder) => run(name, attack, values, folder));
    const mistakes = [...result.mistakes, ...mistakesOf(attack, result, values.slack)];
    const { before, during } = result.neighbours;
    const cells = [
      name,
      `${before.p99.toFixed(1)}, ${during.p99.toFixed(1)} ms`,
      `${during.longestGap.toFixed(0)} ms`,
      `${result.backMs.toFixed(0)} ms`,
      `${result.refused}, ${result.lost}`,
      result.warned[0] ?? 'nothing',
      mistakes.length === 0 ? 'holds' : `**${mistakes.join('; ')}**`,
    ];
    notify(`| ${cells.join(' | ')} |`);
    return mistakes;
  } catch (error) {
    notify(`| ${name} | **${messageOf(error)}** |`);
    return [messageOf(error)];
  }
}

function mistakesOf({ isForgery = false }: Attack, result: Result, slack: number): string[] {
  const { neighbours, backMs, meanwhileMs } = result;
  const { p99 } = neighbours.during;
  return [
    ...(p99 < bounds.p99Ms * slack
      ? []
      : [`p99: expected less than ${bounds.p99Ms * slack} ms, got ${p99.toFixed(0)}`]),
    ...(backMs < bounds.backMs * slack ? [] : [`values came back after ${backMs.toFixed(0)} ms`]),
    ...(isForgery || meanwhileMs < bounds.backMs * slack
      ? []
      : [`a value of the other hub took ${meanwhileMs.toFixed(0)} ms meanwhile`]),
  ];
}

async function run(
  name: string,
  attack: Attack,
  { seconds, size, seed, isQuick }: Options & { isQuick: boolean },
  folder: string,
): Promise<Result> {
  const nats = await startNats();
  const started: TaskProcess[] = [];
  const hubs: ServerProcess[] = [];
  const entries: LogEntry[] = [];
  const ids = Array.from({ length: neighbours }, (_, index) => `neighbour/${index}`);
  const addresses = ids.map((id) => `desk/${id}`);
  const start = async (hub: string, connections: object) => {
    await mkdir(join(folder, hub));
    const house = { type: 'nats', servers: nats.urls, domain: 'house', hub };
    const onEntry = (entry: LogEntry) => void (hub === 'studio' && entries.push(entry));
    const options = { hubFolder: thisTree, isQuick };
    const process = await startHub({ connections: { house, ...connections } }, join(folder, hub), options, [], onEntry);
    hubs.push(process);
    return process;
  };
  const begin = (program: string, work: object) => {
    const task = startTask(program, work);
    started.push(task);
    return task;
  };
  try {
    const [studio, west] = await Promise.all([
      start('studio', {
        store: { type: 'store', folder: './data' },
        desk: { type: 'dummy', parameters: [...ids.map((id) => `${id},F`), 'attacked,I,0'] },
      }),
      start('west', { panel: { type: 'dummy', parameters: ['n,I,0', ...manyParameters] } }),
    ]);
    const mirror = new Mirror(studio, west);
    await mirror.follows(longestMs);
    const task: NeighboursTask = { port: studio.port, addresses, beforeMs, duringMs: seconds * 1000 };
    const watching = begin('spec/support/load/neighbours.ts', task);
    await watching.answer();
    const attacking = begin('spec/trials/domain/attacker.ts', {
      attack: name,
      port: nats.servers[0]!.port,
      size,
      seed,
    } satisfies AttackTask);
    await attacking.answer();
    watching.process.send('go');
    const measured = watching.answer<NeighboursResult>();
    const meanwhileMs = attack.isForgery ? 0 : await mirror.followsFor(seconds * 1000 - 500);
    const heard = await measured;
    await end(attacking);
    const backMs = await mirror.follows(longestMs);
    const mistakes = [...(await mirror.mistakes()), ...(await auditMistakes(studio, heard))];
    const domain = await get<Domain>(studio, '/hub/hubs');
    const refused = domain.hubs.reduce((sum, { mirror: one }) => sum + (one?.refused ?? 0), 0);
    const { entries: losses } = await get<AuditPage>(studio, '/hub/audit?kind=lost&limit=1000');
    const warned = entries.filter(({ level, msg }) => level >= 40 && !msg.includes('is open')).map(({ msg }) => msg);
    return {
      neighbours: heard,
      backMs,
      meanwhileMs,
      refused,
      lost: losses.reduce((sum, { count = 1 }) => sum + count, 0),
      warned,
      mistakes,
    };
  } finally {
    await Promise.all(started.map(end));
    await Promise.all(hubs.map((hub) => hub.stop(true).catch(() => {})));
    await nats.end();
  }
}

/** What the honest hub has besides. */
const manyParameters = Array.from({ length: 500 }, (_, index) => `p${index},I,${index}`);

/** The values of the honest hub, as the attacked one shows them. */
class Mirror {
  readonly #attacked: ServerProcess;
  readonly #honest: ServerProcess;
  #written = 0;

  constructor(attacked: ServerProcess, honest: ServerProcess) {
    this.#attacked = attacked;
    this.#honest = honest;
  }

  /** How long it takes until a value that is written now is shown, and is fresh. */
  async follows(mostMs: number): Promise<number> {
    const startedMs = performance.now();
    const value = ++this.#written;
    await set(this.#honest, 'panel/n', value);
    const isShown = async () => {
      const [info] = await get<ParameterInfo[]>(this.#attacked, '/hub/parameters?address=panel/n');
      return info?.value === value && info.staleSince === undefined && info.hub === 'west';
    };
    await becomesSo(isShown, { deadlineMs: mostMs, everyMs: lookEveryMs });
    return performance.now() - startedMs;
  }

  /** The same again and again; the longest of them. */
  async followsFor(ms: number): Promise<number> {
    let longest = 0;
    for (const endMs = performance.now() + ms; performance.now() < endMs; await after(lookEveryMs))
      longest = Math.max(longest, await this.follows(longestMs));
    return longest;
  }

  /** What one hub shows otherwise than the other one has it. */
  async mistakes(): Promise<string[]> {
    const mistakes: string[] = [];
    const [shown, has] = await Promise.all(
      [this.#attacked, this.#honest].map(async (hub) => {
        const infos = await get<ParameterInfo[]>(hub, '/hub/parameters?filter=^panel/');
        return new Map(infos.map(({ parameter, value, hub: of }) => [parameter, { value, of }]));
      }),
    );
    for (const [address, { value }] of has!)
      if (shown!.get(address)?.value !== value)
        mistakes.push(`${address}: ${shown!.get(address)?.value}, not ${value}`);
    for (const [address, { of }] of shown!) if (of !== 'west') mistakes.push(`${address} is shown of ${of}`);
    const own = await get<ParameterInfo[]>(this.#attacked, '/hub/parameters?filter=^(desk|hub|api|house|store)/');
    for (const { parameter, hub } of own) if (hub !== undefined) mistakes.push(`${parameter} is shown of ${hub}`);
    return mistakes.slice(0, 5);
  }
}

/** Each write of a neighbour, all of which are clients of this hub, is in the audit, and nobody of the domain is in it as one of them. */
async function auditMistakes(studio: ServerProcess, { during }: NeighboursResult): Promise<string[]> {
  const written = Math.floor(during.changes / neighbours);
  let noted = 0;
  let before: number | undefined;
  const users = new Set<string>();
  for (;;) {
    const next = before === undefined ? '' : `&before=${before}`;
    const page = await get<AuditPage>(studio, `/hub/audit?kind=change&address=desk/**&limit=1000${next}`);
    for (const { user, address = '', count = 1 } of page.entries) {
      if (address.startsWith('desk/neighbour/') && !user.startsWith('hub ')) noted += count;
      if (address === 'desk/attacked') users.add(user);
    }
    if (page.next === undefined) break;
    before = Number(page.next);
  }
  const forged = [...users].filter((user) => !user.startsWith('hub '));
  return [
    ...(noted >= written ? [] : [`the audit has ${noted} of ${written} writes of neighbours`]),
    ...(forged.length === 0 ? [] : [`the audit has writes of others as those of ${forged.join(', ')}`]),
  ];
}

async function get<Answer>({ port }: ServerProcess, path: string): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept: 'application/json' } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

async function set({ port }: ServerProcess, parameter: string, value: number): Promise<void> {
  await fetch(`http://127.0.0.1:${port}/update?${new URLSearchParams({ parameter, value: String(value) })}`);
}

async function end({ process: child }: TaskProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
