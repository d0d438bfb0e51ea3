// npm run trial -- backup: backs up a hub while it changes, restores the backup into an empty folder, starts it there, and checks that its
// state is a single moment of what was written. Exit status 1 if it is not.

import { once } from 'node:events';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as after } from 'node:timers/promises';
import { backup, restore } from '../../../lib/command/remote/backup-command.ts';
import { AskedHub } from '../../support/asked-hub.ts';
import { createTemporaryFolder } from '../../support/folder.ts';
import { Random } from '../../support/random.ts';
import { defineTrial, notify } from '../trial.ts';
import { startKilledHub } from './killed-hub.ts';

const options = {
  backups: ['the number of backups', 20, 1],
  rate: ['the number of changes per second', 5000, 900],
  pairs: ['the number of pairs of parameters that change', 200, 20],
  seed: ['the seed for the times of the backups', 1],
} as const;

export const trial = defineTrial({
  about: 'backs up a hub while its values change: each restored backup must contain the values of a single moment',
  options,
  run: (numbers, { isShort }) => run(numbers, isShort),
});

async function run(
  { backups, rate, pairs, seed }: Readonly<Record<keyof typeof options, number>>,
  isShort: boolean,
): Promise<boolean> {
  const random = new Random(seed, 0);
  const { path: folder, remove } = await createTemporaryFolder('backups');
  const source = join(folder, 'source');
  await writeFlow(source, pairs);
  const hub = await startKilledHub(source, isShort);
  const results: RoundResult[] = [];
  try {
    const load = await startLoad(hub.port, pairs, rate / changesPerWrite);
    for (let number = 1; number <= backups; number++) {
      await after(500 + random.below(1000));
      const place = join(folder, String(number));
      const result = await backUpOnce({ port: hub.port, load, pairs, folder: place, isQuick: isShort });
      await rm(place, { recursive: true });
      results.push(result);
      for (const mistake of result.mistakes.slice(0, 5)) notify(`backup ${number}: ${mistake}`);
    }
    await load.stop();
    notify(summary(results, load.sent * changesPerWrite));
  } finally {
    hub.process.kill();
    await once(hub.process, 'exit');
    await remove();
  }
  return results.every(({ mistakes }) => mistakes.length === 0);
}

function summary(results: readonly RoundResult[], changes: number): string {
  const most = (of: (result: RoundResult) => number) => Math.max(...results.map(of)).toFixed(0);
  const failed = results.filter(({ mistakes }) => mistakes.length > 0).length;
  return [
    `${results.length} backups, ${failed} of them with a mistake`,
    `${changes} changes`,
    `slowest backup ${most(({ backupMs }) => backupMs)} ms, slowest start ${most(({ startMs }) => startMs)} ms`,
  ].join('; ');
}

/** How many changes one write makes: itself, its twin, and the number of the last. */
export const changesPerWrite = 3;

/** The flow: write number n goes to `desk/a<n modulo pairs>`; in the same turn rules write it to its twin and to `desk/last`. */
export async function writeFlow(folder: string, pairs: number): Promise<void> {
  const numbers = Array.from({ length: pairs }, (_, index) => index);
  const flow = {
    connections: {
      api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
      store: { type: 'store', folder: 'data' },
      desk: { type: 'dummy', parameters: ['last,I', ...numbers.flatMap((n) => [`a${n},I`, `b${n},I`])] },
    },
    rules: [
      ...numbers.map((n) => ({ name: `twin ${n}`, from: `desk/a${n}`, to: `desk/b${n}` })),
      { name: 'last', from: numbers.map((n) => `desk/a${n}`), to: 'desk/last' },
    ],
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'flow.json5'), JSON.stringify(flow));
}

/** Says what is not of one moment; `values` are those of a restored hub. */
export function checkMoment(values: ReadonlyMap<string, unknown>, pairs: number, from: number, to: number): string[] {
  const last = values.get('desk/last') as number | undefined;
  if (last === undefined || !(last >= from && last <= to))
    return [`desk/last: expected a number from ${from} to ${to}, got ${last}`];
  const mistakes: string[] = [];
  for (let number = Math.max(0, last - pairs + 1); number <= last; number++)
    for (const side of ['a', 'b']) {
      const address = `desk/${side}${number % pairs}`;
      if (values.get(address) !== number)
        mistakes.push(`${address}: expected ${number}, as desk/last is ${last}, got ${values.get(address)}`);
    }
  return mistakes;
}

const tickMs = 5;

export interface Load {
  /** The number of writes sent; the hub may not have accepted all of them yet. */
  readonly sent: number;
  /** The last number that the hub had told so many milliseconds ago; -1: none. */
  toldBefore(ms: number): number;
  stop(): Promise<void>;
}

/** Writes so many numbers a second. */
export async function startLoad(port: number, pairs: number, rate: number): Promise<Load> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws?filter=${encodeURIComponent('^desk/last$')}`);
  await once(socket, 'open');
  let [sent, isStopped] = [0, false];
  const reported: { number: number; at: number }[] = [];
  socket.addEventListener('message', ({ data }) => {
    reported.push({ number: Number((JSON.parse(data as string) as { v: string }).v), at: performance.now() });
  });
  const writing = (async () => {
    for (const startedAt = performance.now(); !isStopped; await after(tickMs)) {
      const due = ((performance.now() - startedAt) * rate) / 1000;
      for (; sent < due; sent++) socket.send(JSON.stringify({ p: `desk/a${sent % pairs}`, v: sent }));
    }
  })();
  return {
    get sent() {
      return sent;
    },
    toldBefore(ms) {
      return reported.findLast(({ at }) => at < performance.now() - ms)?.number ?? -1;
    },
    async stop() {
      isStopped = true;
      await writing;
      socket.close();
    },
  };
}

export interface Round {
  readonly port: number;
  readonly load: Load;
  readonly pairs: number;
  /** A folder for this round alone. */
  readonly folder: string;
  /** The hub that is restored does not warm up. */
  readonly isQuick?: boolean;
}

export interface RoundResult {
  readonly mistakes: readonly string[];
  readonly backupMs: number;
  readonly startMs: number;
}

/** What is younger than this may not be on the disk yet. */
const unsafeMs = 500;
const silent = { print: () => {}, printError: () => {} };

export async function backUpOnce({ port, load, pairs, folder, isQuick }: Round): Promise<RoundResult> {
  await mkdir(folder, { recursive: true });
  const [file, restored] = [join(folder, 'backup.tar'), join(folder, 'restored')];
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const from = Math.max(0, load.toldBefore(unsafeMs));
  await backup(file, { url, username: '', password: '', token: '' }, silent);
  const to = load.sent;
  const backupMs = performance.now() - startedAt;
  await restore(file, restored, 'patchbay', silent);
  const mistakes = await checkDatabases(join(restored, 'data'));
  const hub = await startKilledHub(restored, isQuick);
  try {
    const complaints = hub.complaints.filter((message) => !message.includes('had not ended cleanly')); // it still runs
    mistakes.push(...complaints.map((message) => `it complained: ${message}`));
    mistakes.push(...checkMoment(await readValues(hub.port), pairs, from, to));
    return { mistakes, backupMs, startMs: hub.startMs };
  } finally {
    hub.process.kill();
    await once(hub.process, 'exit');
  }
}

/** Each database is whole. */
async function checkDatabases(folder: string): Promise<string[]> {
  const mistakes: string[] = [];
  for (const name of await readdir(folder)) {
    const database = new DatabaseSync(join(folder, name), { readOnly: true });
    const [result] = Object.values(database.prepare('PRAGMA integrity_check(1)').get()!);
    if (result !== 'ok') mistakes.push(`${name}: ${result}`);
    database.close();
  }
  return mistakes;
}

async function readValues(port: number): Promise<Map<string, unknown>> {
  const parameters = await new AskedHub(port).parameters();
  return new Map(parameters.map(({ parameter, value }) => [parameter, value]));
}
