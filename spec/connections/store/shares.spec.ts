// The room for values is shared by those who write them: whoever takes most gives way, and hears of it; nobody else loses anything.

import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { connect } from '../../../lib/client/index.ts';
import type { Origin } from '../../../lib/model/parameter.ts';
import type { Explanation } from '../../../lib/wire/http/parameter-shapes.ts';
import { eventually } from '../../support/deadline.ts';
import { api, portsOf, statusOf } from '../../support/hub.ts';
import { noted } from '../../support/store/audit.ts';
import { findKept } from '../../support/store/kept.ts';
import { type Installation, install, type StoredHub } from '../../support/store/store.ts';

/** The least size has 800 kB for values. */
const store = { maxSize: '16MB' };
const long = 'x'.repeat(60_000);
const many = Array.from({ length: 40 }, (_, index) => `p${index}`);
const desk = { type: 'dummy', parameters: ['lamp,B,false', 'level,F,0', 'note,S,none', 'page,S,none'] };
const texts = { type: 'dummy', parameters: many };
const rights = { read: ['**'], write: ['**'] };
const users = { anna: { token: 'YW5uYQ==', ...rights }, ben: { token: 'YmVu', ...rights } };
const stateOf = (hub: StoredHub) => statusOf(hub, 'store').state;
const named = (name: string): Origin => ({ kind: 'client', name });

/** Writes that are kept, whatever somebody else has written. */
const ofBen = { 'desk/lamp': true, 'desk/level': 0.5, 'desk/note': 'on air', 'desk/page': 'y'.repeat(30_000) };

const isKept = async (hub: StoredHub) => {
  await hub.persistence.archive?.values?.flush();
  return hub.persistence.archive?.values?.status().lagMs === 0;
};

test('one client that writes more long texts than there is room for takes it from nobody: all else is kept, the store, the log, the audit and explain name it, and what it clears is room again', async (t) => {
  const installation = await install(t, { api: { ...api, users }, desk, texts }, { store });
  const hub = await installation.start();
  const url = `http://127.0.0.1:${portsOf(hub)[0]!}`;
  const [anna, ben] = [users.anna, users.ben].map(({ token }) => connect(url, { token }));
  t.teardown(() => {
    for (const one of [anna, ben]) one!.close();
  });
  await Promise.all([anna!.whenLive(), ben!.whenLive()]);
  await ben!.set('desk/level', 0.5);
  for (const id of many) await anna!.set(`texts/${id}`, long);
  for (const [address, value] of Object.entries(ofBen)) await ben!.set(address, value);
  await hub.logged(
    /^values of api anna \S+ are not stored: this writer uses most of the space that maxSize leaves for values$/,
  );
  await eventually(() => isKept(hub));
  t.regex(
    statusOf(hub, 'store').reason,
    /^values are not stored, because their writers use most of the space: \d+ of api anna/,
  );
  await noted(installation, ({ kind, user }) => kind === 'lost' && user.startsWith('api anna '));
  t.false(hub.lines.some(({ message }) => /not stored.*ben|ben.*not stored/.test(message)));
  const explain = async (address: string) =>
    (await (
      await fetch(`${url}/hub/explain/${address}`, { headers: { authorization: `Bearer ${users.ben.token}` } })
    ).json()) as Explanation;
  const marked = await Promise.all(many.map(async (id) => (await explain(`texts/${id}`)).isNotKept === true));
  t.true(marked.filter((is) => is).length >= 25, 'explain says which are not kept');
  t.is((await explain('desk/note')).isNotKept, undefined);
  t.true(hub.persistence.archive!.values!.status().lost > 0);

  for (const id of many) await anna!.set(`texts/${id}`, 'short');
  await eventually(() => stateOf(hub) === 'running', 'all is kept again');
  await hub.stop();
  const { values } = await findKept(installation);
  t.like(values, ofBen);
  t.deepEqual(
    many.filter((id) => values[`texts/${id}`] !== 'short'),
    [],
  );
});

const flood = (hub: StoredHub) => fillWith(hub, 'flood');

for (const [what, ...steps] of [
  ['before them', flood, writeOfBen],
  ['after them', writeOfBen, flood],
  ['by each of nine at once', writeOfBen, (hub: StoredHub) => fillWith(hub, ...'abcdefghi')],
  ['again and again', writeOfBen, fillAgain, writeOfBen],
] as const)
  test(`values of other writers are on the disk when the space is used up ${what}`, async (t) => {
    const installation = await install(t, { desk, texts }, { store });
    const hub = await installation.start();
    await eventually(() => stateOf(hub) === 'running');
    for (const step of steps) step(hub);
    await eventually(() => stateOf(hub) === 'degraded' && isKept(hub));
    hub.write('desk/level', 0.75, named('api ben'));
    await eventually(() => isKept(hub));
    expectKept(t, installation, { ...ofBen, 'desk/level': 0.75 });
  });

test('a restart recounts the writers of values: fitting values are kept, and nothing of others is lost', async (t) => {
  const installation = await install(t, { desk, texts }, { store });
  const first = await installation.start();
  await eventually(() => stateOf(first) === 'running');
  fillWith(first, 'api anna');
  first.write('desk/note', 'on air', named('api ben'));
  await eventually(() => stateOf(first) === 'degraded' && isKept(first));
  await first.stop();
  await installation.closed();
  const hub = await installation.start();
  fillWith(hub, 'api carl');
  await hub.logged(/^values of api \w+ are not stored/);
  await eventually(() => isKept(hub));
  expectKept(t, installation, { 'desk/note': 'on air' });
});

test('long texts of one writer do not delay another: of hundreds some still wait when the other is on the disk', async (t) => {
  const addresses = Array.from({ length: 400 }, (_, index) => `p${index}`);
  const installation = await install(t, { desk, texts: { type: 'dummy', parameters: addresses } });
  const hub = await installation.start();
  await eventually(() => stateOf(hub) === 'running');
  for (const id of addresses) hub.write(`texts/${id}`, `${id}${long}`, named('flood'));
  hub.write('desk/page', 'y'.repeat(60_000), named('api ben'));
  hub.write('desk/lamp', true, named('api ben'));
  await eventually(async () => {
    const kept = keptNow(installation);
    return kept.has('desk/page') && kept.has('desk/lamp');
  });
  t.true(keptNow(installation).size < 200, `${keptNow(installation).size} were written before it`);
  await eventually(() => keptNow(installation).size === 402, 'all are written in the end');
});

/** Each of the writers fills an equal part of the texts, so that there is no room for all. */
function fillWith(hub: StoredHub, ...names: readonly string[]): void {
  const writers = names.map(named);
  for (const [index, id] of many.entries()) hub.write(`texts/${id}`, `${id}${long}`, writers[index % writers.length]!);
}

function writeOfBen(hub: StoredHub): void {
  for (const [address, value] of Object.entries(ofBen)) hub.write(address, value, named('api ben'));
}

function fillAgain(hub: StoredHub): void {
  for (let round = 0; round < 8; round++)
    for (const id of many) hub.write(`texts/${id}`, `${id}${round}${long.slice(round)}`, named('flood'));
}

/** What a kill would leave. */
function keptNow({ values }: Installation): Map<string, unknown> {
  const database = new DatabaseSync(values, { readOnly: true });
  try {
    const rows = database.prepare('SELECT address, value FROM parameter').all();
    return new Map(rows.map(({ address, value }) => [String(address), value]));
  } finally {
    database.close();
  }
}

function expectKept(
  t: ExecutionContext,
  installation: Installation,
  expected: Readonly<Record<string, unknown>>,
): void {
  const kept = keptNow(installation);
  for (const [address, value] of Object.entries(expected))
    t.is(kept.get(address), typeof value === 'boolean' ? Number(value) : value, address);
  t.true(
    [...kept.keys()].filter((address) => address.startsWith('texts/')).length >= 5,
    'of the long ones there are some',
  );
}
