// Damages the database of the history or of the audit, or both, again and again, and starts a hub on each: it must serve, with intact
// values, report any loss, and record everything from then on.

import { cp, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as after } from 'node:timers/promises';
import { type Hub, type HubLog, startHub } from '../../../lib/hub/index.ts';
import type { Origin } from '../../../lib/model/parameter.ts';
import type { AuditPage, History } from '../../../lib/wire/http/past-shapes.ts';
import { becomesSo, untilSo } from '../../support/deadline.ts';
import { createTemporaryFolder } from '../../support/folder.ts';
import type { Cuts, Started } from './damaged-values.ts';

type RecordsName = 'history' | 'audit';

const client: Origin = { kind: 'client', name: 'cuts' };
const parameters = 100;
const written = -8;
const deadlineMs = 20_000;
const pollMs = 20;
const countQueries = { history: 'SELECT count(*) AS count FROM change', audit: 'SELECT count(*) AS count FROM entry' };

/** A hub, the port of its API, and the warnings that it has logged. */
interface Running {
  readonly hub: Hub;
  readonly port: string;
  readonly reported: readonly string[];
}

/** Prepares a store that has recorded so many changes; each damage is done to the databases of these names. */
export async function prepareRecords(names: readonly RecordsName[], changes: number): Promise<Cuts> {
  const { path: folder, remove } = await createTemporaryFolder('cuts');
  const whole = join(folder, 'data');
  const { hub } = await start(folder);
  for (let number = 0; number < changes; number++) {
    hub.write(`desk/p${number % parameters}`, number, client);
    if (number % parameters === 0) await after(10);
  }
  await whenOpen(whole, ['history', 'audit']);
  await hub.stop();
  await whenClosed(whole);
  const { size: bytes } = await stat(join(whole, `${names[0]}.db`));

  return {
    bytes,
    async start(damage, repair) {
      const place = await mkdtemp(join(folder, 'damaged-'));
      const data = join(place, 'data');
      const paths = names.map((name) => join(data, `${name}.db`));
      await cp(whole, data, { recursive: true });
      for (const path of paths) await damage(path);
      const startedAt = performance.now();
      const damaged = await start(place);
      const startMs = performance.now() - startedAt;
      const mistakes = valuesOf(damaged.hub, changes);
      for (const path of paths) await repair?.(path);
      damaged.hub.write('desk/p0', written, client);
      for (const name of names) mistakes.push(...(await isRecordedSoon(name, damaged)));
      await damaged.hub.stop();
      const next = await start(place);
      for (const name of names)
        mistakes.push(...(await isRecordedSoon(name, next)).map((mistake) => `at the next start: ${mistake}`));
      await next.hub.stop();
      const reported = [...damaged.reported, ...next.reported].join('; ');
      let lost = 0;
      for (const name of names) {
        const lostHere = lostIn(name, whole, data);
        lost += lostHere;
        if (lostHere > 0 && !reported.includes(`${name}.db`))
          mistakes.push(`${lostHere} rows of the ${name} are lost, and it was told: ${reported}`);
      }
      await rm(place, { recursive: true, force: true, maxRetries: 10 });
      return { mistakes, startMs, lost } satisfies Started;
    },
    remove,
  };
}

function connections(): object {
  const ids = Array.from({ length: parameters }, (_, index) => `p${index},I`);
  return {
    store: { type: 'store', folder: 'data' },
    desk: { type: 'dummy', parameters: ids },
    api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
  };
}

/** Starts a hub whose store is in `data` of a folder. */
async function start(folder: string): Promise<Running> {
  const flow = join(folder, 'flow.json5');
  await writeFile(flow, JSON.stringify({ connections: connections() }));
  let port = '';
  const reported: string[] = [];
  const log: HubLog = {
    debug: () => {},
    info: (_fields, message) => {
      port ||= /^listening on .*:(\d+)\/$/.exec(message)?.[1] ?? '';
    },
    warn: (_fields, message) => void reported.push(message),
    error: (_fields, message) => void reported.push(message),
    child: () => log,
  };
  const hub = await startHub({ paths: [flow], log });
  return { hub, port, reported };
}

/** The values have a database of their own. */
function valuesOf(hub: Hub, changes: number): string[] {
  const expected = (index: number) => changes - parameters + index;
  const ids = Array.from({ length: parameters }, (_, index) => index);
  const wrong = ids.filter((index) => ![expected(index), written].includes(Number(hub.find(`desk/p${index}`)!.value)));
  return wrong.map((index) => `desk/p${index}: expected ${expected(index)}, got ${hub.find(`desk/p${index}`)!.value}`);
}

/** Waits until the API returns what was written; otherwise returns its response. */
async function isRecordedSoon(name: RecordsName, { port }: Running): Promise<string[]> {
  const path = name === 'audit' ? '/hub/audit?limit=20' : '/hub/history/desk/p0';
  let answer = '';
  let isRefused = false;
  const isRecorded = async () => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept: 'application/json' } });
    const text = await response.text();
    answer = `${response.status} ${text.slice(0, 200)}`;
    if (response.status === 503) return false; // it says that it will know soon
    isRefused = response.status !== 200;
    if (isRefused) return true;
    return name === 'audit' ? hasEntry(JSON.parse(text)) : hasValue(JSON.parse(text));
  };
  const isInTime = await becomesSo(isRecorded, { deadlineMs, everyMs: pollMs });
  if (isRefused) return [`${path} was answered with ${answer}`];
  return isInTime ? [] : [`expected what was written to be recorded, got ${answer}`];
}

function hasEntry({ entries }: AuditPage): boolean {
  return entries.some(({ address, after }) => address === 'desk/p0' && after === written);
}

function hasValue({ values }: History): boolean {
  return values?.includes(written) ?? false;
}

/** How many rows a database has no more; one that does not tell how many it has lacks none. */
function lostIn(name: RecordsName, whole: string, data: string): number {
  const recorded = countIn(join(whole, `${name}.db`), name)!;
  return Math.max(0, recorded - (countIn(join(data, `${name}.db`), name) ?? recorded));
}

/** Undefined: the database does not say. */
function countIn(path: string, name: RecordsName): number | undefined {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(database.prepare(countQueries[name]).get()!.count);
  } catch {
    return undefined;
  } finally {
    database.close();
  }
}

const looks = { deadlineMs: 60_000, everyMs: 10 };

/** Resolves once these databases of a folder are open: SQLite has a log beside each. */
function whenOpen(folder: string, databases: readonly string[]): Promise<void> {
  const areOpen = async () => {
    const logs = await logsIn(folder);
    return databases.every((name) => logs.includes(`${name}.db-wal`));
  };
  return untilSo(`${databases.join(' and ')} open in ${folder}`, areOpen, looks);
}

/** Resolves once no database of a folder is open. */
export function whenClosed(folder: string): Promise<void> {
  return untilSo(`no database open in ${folder}`, async () => (await logsIn(folder)).length === 0, looks);
}

async function logsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('-wal') || name.endsWith('-shm'));
}
