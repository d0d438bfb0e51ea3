// The state that a killed hub must have after its restart, checked before anything else happens.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../../lib/model/error.ts';
import type { Value } from '../../../lib/model/value.ts';
import type { ParameterInfo } from '../../../lib/wire/http/parameter-shapes.ts';
import type { Since } from '../../../lib/wire/v1/client-messages.ts';
import type { ReceivedMessage } from '../../../lib/wire/v1/hub-messages.ts';
import { AskedHub } from '../../support/asked-hub.ts';
import { becomesSo, within } from '../../support/deadline.ts';
import { openV1Socket } from '../../support/load/v1-socket.ts';
import { type KilledHub, placeholders, roundValues } from './killed-hub.ts';

const fileDeadlineMs = 5000;
const lookEveryMs = 10;
/** So many values are asked why they are so. */
const explained = 20;

export interface ExpectedState {
  readonly folder: string;
  readonly parameters: number;
  /** The least value of each address; empty before the first kill. */
  readonly expected: ReadonlyMap<string, number>;
  readonly round: number;
}

/** Says what is not as it has to be. */
export async function checkRestored(
  hub: KilledHub,
  { folder, parameters, expected, round }: ExpectedState,
): Promise<string[]> {
  const listed = await new AskedHub(hub.port).parameters();
  const known = listed.filter(({ state }) => state === 'known');
  const mistakes = hub.complaints.map((message) => `it complained: ${message}`);
  const byAddress = new Map(listed.map((item) => [item.parameter, item]));
  for (const [address, least] of expected) {
    const { value, origin } = byAddress.get(address)!;
    if (!isWritten(address, Number(value), parameters)) mistakes.push(`${address}: nobody has written ${value}`);
    if (!(Number(value) >= least)) mistakes.push(`${address}: expected ${least} or a later value, got ${value}`);
    if (origin?.kind !== 'restored') mistakes.push(`${address}: expected to be restored, got ${origin?.kind}`);
  }
  mistakes.push(...(await checkCauses(hub, [...expected.keys()].slice(-explained))));
  const fired = known.filter(({ parameter }) => parameter.startsWith('fired/'));
  for (const { parameter } of fired) mistakes.push(`the rule to ${parameter} has fired`);
  mistakes.push(...(await checkPictures(hub, known)));
  if (expected.size > 0) mistakes.push(...(await checkFile(hub, folder, byAddress, round)));
  return mistakes;
}

/** Whether the load writes such a value to the address: it gives each address the numbers that are its turn. */
function isWritten(address: string, value: number, parameters: number): boolean {
  const [, index] = /^desk\/p(\d+)$/.exec(address) ?? [];
  return index === undefined || (value % roundValues) % parameters === Number(index);
}

/** A value that was restored says who had set it before the kill: the client of the load. */
async function checkCauses({ port }: KilledHub, addresses: readonly string[]): Promise<string[]> {
  const mistakes: string[] = [];
  for (const address of addresses) {
    const explained = await new AskedHub(port).explain(address).catch(messageOf);
    if (typeof explained === 'string') {
      mistakes.push(`${address}: ${explained}`);
      continue;
    }
    const { value, chain } = explained;
    const [restored, set] = chain;
    if (chain.length !== 2 || set!.origin.kind !== 'client' || set!.value !== value || set!.time !== restored!.time)
      mistakes.push(`${address}: expected to be explained back to the client, got ${JSON.stringify(chain)}`);
  }
  return mistakes;
}

/** A snapshot has everything that is known, and a resume everything since. */
async function checkPictures(hub: KilledHub, known: readonly ParameterInfo[]): Promise<string[]> {
  const mistakes: string[] = [];
  const snapshot = await takePicture(hub.port);
  for (const { parameter, value } of known)
    if (snapshot.values.get(parameter) !== value) mistakes.push(`a snapshot has ${parameter} not as ${value}`);
  const revisions = known.map(({ revision }) => revision!).sort((a, b) => a - b);
  const rev = revisions[Math.floor(revisions.length / 2)]!;
  const resume = await takePicture(hub.port, { epoch: snapshot.epoch, rev });
  if (resume.mode !== 'resume') mistakes.push(`expected a resume, got a ${resume.mode}`);
  const later = known.filter(({ revision }) => revision! > rev);
  for (const { parameter, value } of later)
    if (resume.values.get(parameter) !== value) mistakes.push(`a resume has ${parameter} not as ${value}`);
  return mistakes;
}

/** The file that is written at the first set has all other placeholders as they were. */
async function checkFile(
  hub: KilledHub,
  folder: string,
  known: ReadonlyMap<string, ParameterInfo>,
  round: number,
): Promise<string[]> {
  const [first, ...others] = placeholders as [string, ...string[]];
  const set = `set-${round}`;
  await new AskedHub(hub.port).set(`file/${first}`, set);
  const text = (name: string, value: unknown) => `<${name.toLowerCase()}>${value}</${name.toLowerCase()}>`;
  const rest = others.map((name) => text(name, known.get(`file/${name}`)!.value)).join('');
  const expected = `<all>${text(first, set)}${rest}</all>`;
  let file = '';
  const isAsExpected = async () => {
    file = await readFile(join(folder, 'out.xml'), 'utf8').catch(() => 'nothing');
    return file === expected;
  };
  if (await becomesSo(isAsExpected, { deadlineMs: fileDeadlineMs, everyMs: lookEveryMs })) return [];
  return [`out.xml: expected ${expected}, got ${file}`];
}

/** A write of a client, each of an address to a greater number than the one before. */
export interface Write {
  readonly address: string;
  readonly value: number;
}

interface Row {
  readonly address: string;
  readonly before: number | null;
  readonly after: number;
  readonly count: number;
}

/** The report on the audit of one run. */
interface AuditCheck {
  readonly mistakes: string[];
  /** How many entries count several changes. */
  readonly merged: number;
}

/** Looks for each of the writes, which were of values from `least` on; `isExact`: each has an entry of its own. */
export function checkAudit(folder: string, writes: readonly Write[], least: number, isExact: boolean): AuditCheck {
  let rows: Map<string, Row[]>;
  try {
    rows = rowsOf(folder, least);
  } catch (error) {
    const lost = writes.map(
      ({ address, value }) => `the audit has no entry of ${address} = ${value}: ${messageOf(error)}`,
    );
    return { mistakes: lost, merged: 0 };
  }
  const merged = [...rows.values()].flat().filter(({ count }) => count > 1).length;
  const mistakes = writes
    .filter(({ address, value }) => !rows.get(address)?.some((row) => hasWrite(row, value)))
    .map(({ address, value }) => `the audit has no entry of ${address} = ${value}`);
  if (isExact && merged > 0) mistakes.push(`${merged} entries of the audit count several changes`);
  return { mistakes, merged };
}

/** An entry that counts several has all from the value before it to the one after it. */
function hasWrite({ before, after, count }: Row, value: number): boolean {
  return after === value || (count > 1 && value <= after && value > (before ?? 0));
}

function rowsOf(folder: string, least: number): Map<string, Row[]> {
  const database = new DatabaseSync(join(folder, 'data', 'audit.db'), { readOnly: true });
  try {
    database.exec('PRAGMA busy_timeout = 10000');
    const sql = `SELECT address, CAST(before AS REAL) AS before, CAST(after AS REAL) AS after, count FROM entry
      WHERE kind = 'change' AND CAST(after AS REAL) >= ? ORDER BY n`;
    const rows = new Map<string, Row[]>();
    for (const row of database.prepare(sql).iterate(least) as Iterable<Row>) {
      const known = rows.get(row.address);
      if (known === undefined) rows.set(row.address, [row]);
      else known.push(row);
    }
    return rows;
  } finally {
    database.close();
  }
}

const deadlineMs = 10_000;

interface TakenPicture {
  readonly epoch: string;
  readonly mode: string;
  readonly values: ReadonlyMap<string, Value>;
}

/** Takes a snapshot, or resumes since a revision. */
async function takePicture(port: number, since?: Since): Promise<TakenPicture> {
  const addresses = new Map<number, string>();
  const values = new Map<string, Value>();
  const ended = Promise.withResolvers<void>();
  let epoch = '';
  let mode = '';
  const take = (message: ReceivedMessage) => {
    epoch = message.hello?.epoch ?? epoch;
    mode = message.mode ?? mode;
    for (const [id, address] of message.def ?? []) addresses.set(id, address);
    for (const [id, value] of message.set ?? []) values.set(addresses.get(id)!, value);
    if (message.end !== undefined) ended.resolve();
  };
  const socket = await openV1Socket(
    port,
    (payload) => take(JSON.parse(payload.toString())),
    (reason) => ended.reject(new Error(reason)),
  );
  socket.send({ sub: 1, include: ['**'], ...(since && { since }) });
  await within(ended.promise, 'the end of the picture', deadlineMs);
  socket.socket.destroy();
  await once(socket.socket, 'close');
  return { epoch, mode, values };
}
