// What a hub knows again after a restart: which values, with which time, cause and revision, and who hears of them.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as after } from 'node:timers/promises';
import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { statusOf, writer } from '../../support/hub.ts';
import { shared } from '../../support/shared.ts';
import { findKept } from '../../support/store/kept.ts';
import { install, type StoredHub } from '../../support/store/store.ts';

const parameters = ['lamp,B,false', 'level,F', 'count,I', 'text', 'go,T', 'far,I'];
const desk = { type: 'dummy', parameters };
const values = { lamp: true, level: -3.5, count: 2 ** 53 - 1, text: 'größe\n"1"\0\n' };

/** Each test has connections of its own. */
const connections = {
  desk,
  late: desk,
  ruling: desk,
  fired: { type: 'dummy', parameters: ['lamp', 'level', 'text'] },
  picked: desk,
  other: desk,
  computed: { ...desk, statusParameter: true },
  core: {
    type: 'virtual-core',
    inputs: { n: 'computed/count' },
    outputs: { twice: { type: 'I', expression: 'n + n' } },
  },
  defaults: { type: 'dummy', parameters: ['a,I,1', 'b,I,1'] },
  converted: { type: 'dummy', parameters: ['a', 'b', 'c'] },
  file: { type: 'xml-file-output', filename: 'out.xml', template: '<all><a>$A</a><b>$B</b><c>$C</c></all>' },
};
const later = {
  ...connections,
  defaults: { type: 'dummy', parameters: ['a,I,2', 'b,I,2'] },
  converted: { type: 'dummy', parameters: ['a,F,0.5', 'b,I', 'c,I'] },
};
const rules = ['lamp', 'level', 'text'].map((id) => ({ from: `ruling/${id}`, to: `fired/${id}` }));
const include = Object.keys(connections)
  .filter((id) => id !== 'other')
  .map((id) => `${id}/**`);
const store = { values: { include, exclude: ['picked/l*', 'fired/**'] } };

function set(hub: StoredHub, connection: string, assignments: Readonly<Record<string, unknown>>): void {
  for (const [id, value] of Object.entries(assignments)) hub.write(`${connection}/${id}`, value, writer);
}

/** A hub after a restart, the one before, and whose values were in the database between them. */
const restart = shared(async (t) => {
  const installation = await install(t, connections, { rules, store });
  const before = await installation.start();
  for (const connection of ['desk', 'ruling', 'picked', 'other']) set(before, connection, values);
  set(before, 'desk', { go: true });
  set(before, 'computed', { count: 4, go: true });
  set(before, 'defaults', { b: 5 });
  set(before, 'converted', { a: 'seven', b: 'eight', c: '9' });
  set(before, 'file', { A: 'one', B: 'two' });
  const path = join(installation.folder, 'out.xml');
  await hasText(path, '<all><a>one</a><b>two</b><c></c></all>');
  before.control('store', 'stop', writer);
  set(before, 'late', values);
  before.control('store', 'start', writer);
  await before.logged(/^connection "store" is running$/, 2);
  await before.stop();
  await installation.closed();
  const kept = addressesIn(installation.values);
  await installation.change(later);
  return { before, kept, path, hub: await installation.start() };
});

function addressesIn(path: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database
      .prepare('SELECT address FROM parameter ORDER BY address')
      .all()
      .map(({ address }) => address);
  } finally {
    database.close();
  }
}

const hasText = (path: string, text: string) =>
  eventually(async () => (await readFile(path, 'utf8').catch(() => undefined)) === text, `${path}: ${text}`);

test('D-36: values of all types are restored with their time, a new revision and the cause restored', async (t) => {
  const { before, hub } = await restart();
  for (const [id, value] of Object.entries(values)) {
    const [address, { lastChange }] = [`desk/${id}`, hub.find(`desk/${id}`)!];
    t.is(hub.find(address)!.value, value, address);
    t.is(lastChange!.time, before.find(address)!.lastChange!.time);
    const { origin, cause, revision } = lastChange!;
    t.deepEqual(origin, { kind: 'restored', name: 'store' });
    t.like(cause, { origin: writer, value, cause: undefined });
    t.true(revision > 0 && revision <= hub.revision);
  }
  t.is(hub.find('desk/far')!.value, undefined);
  t.is(hub.find('desk/go')!.lastChange, undefined, 'a trigger is no state');
  const walked = [...hub.changedSince(0)].map(({ address }) => address).filter((one) => one.startsWith('desk/'));
  t.deepEqual(
    walked.sort(),
    Object.keys(values)
      .map((id) => `desk/${id}`)
      .sort(),
    'a snapshot has them',
  );
  t.is(statusOf(hub, 'store').state, 'running');
});

test('D-36: a restored value causes no rule to fire, and the next change does', async (t) => {
  const { before, hub } = await restart();
  t.is(before.find('fired/text')!.value, values.text);
  for (const id of ['lamp', 'level', 'text']) t.is(hub.find(`fired/${id}`)!.value, undefined, id);
  set(hub, 'ruling', { lamp: true });
  t.is(hub.find('fired/lamp')!.value, undefined, 'it was true already');
  set(hub, 'ruling', { lamp: false, text: 'new' });
  t.is(hub.find('fired/lamp')!.value, 'false');
  t.is(hub.find('fired/text')!.value, 'new');
});

test('only selected parameters are saved', async (t) => {
  const { hub } = await restart();
  const addresses = ['picked/lamp', 'picked/level', 'picked/count', 'picked/text', 'other/text'];
  const known = addresses.map((one) => hub.find(one)!.value);
  t.deepEqual(known, [false, undefined, values.count, values.text, undefined]);
});

test('computed parameters, status and triggers are never saved', async (t) => {
  const { before, kept } = await restart();
  t.is(before.find('core/twice')!.value, 8);
  t.deepEqual(
    kept.filter((address) => /^(computed|core)\//.test(`${address}`)),
    ['computed/count'],
  );
});

test('an unchanged default is not saved: a new default applies', async (t) => {
  const { hub } = await restart();
  t.deepEqual([hub.find('defaults/a')!.value, hub.find('defaults/b')!.value], [2, 5]);
});

test('a value that no longer converts is replaced by the default, with a warning', async (t) => {
  const { hub } = await restart();
  t.deepEqual(
    ['a', 'b', 'c'].map((id) => hub.find(`converted/${id}`)!.value),
    [0.5, undefined, 9],
  );
  const warnings = hub.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  t.deepEqual(warnings, [
    'cannot restore converted/a, so it has its default value: expected a number, got "seven" (string)',
    'cannot restore converted/b, so its state is unknown: expected a number, got "eight" (string)',
  ]);
});

test('an XML file has all values after a restart when one placeholder is set', async (t) => {
  const { hub, path } = await restart();
  set(hub, 'file', { C: 'three' });
  await hasText(path, '<all><a>one</a><b>two</b><c>three</c></all>');
  t.is(hub.find('file/A')!.value, 'one');
});

test('values that are set while the store is stopped by hand are saved once it runs again', async (t) => {
  const { hub } = await restart();
  for (const [id, value] of Object.entries(values)) t.is(hub.find(`late/${id}`)!.value, value, id);
});

test('a second hub in the same folder runs, and does not touch the values', async (t) => {
  const installation = await install(t, { desk });
  const first = await installation.start();
  set(first, 'desk', values);
  const second = await installation.start();
  t.is(statusOf(second, 'store').state, 'degraded');
  t.regex(statusOf(second, 'store').reason, /another hub stores its values in this folder/);
  set(second, 'desk', { text: 'of the second' });
  await second.stop();
  await first.stop();
  t.is((await findKept(installation)).values['desk/text'], values.text);
});

test('a hub that waits for its leadership keeps the restored values, and continues to write', async (t) => {
  const house = { type: 'nats', servers: ['nats://127.0.0.1:1'], domain: 'house', hub: 'studio' };
  const installation = await install(t, { house, lamps: { type: 'dummy', parameters: ['count,I'] } });
  for (const count of [1, 2, 3]) {
    const hub = await installation.start();
    await eventually(() => statusOf(hub, 'lamps').state === 'running' && statusOf(hub, 'store').state === 'running');
    t.is(hub.find('lamps/count')!.value, count === 1 ? undefined : count - 1);
    hub.write('lamps/count', count, writer);
    await hub.stop();
    await installation.closed();
  }
});

test('a parameter that was removed and declared again has its value, also one that was removed while the hub was down', async (t) => {
  const both = { desk: { type: 'dummy', parameters: ['a,I,1', 'b,I,1', 'c,I,1'] }, other: desk };
  const mistaken = { desk: { type: 'dummy', parameters: ['a,I,1', 'bb,I,1', 'c,B'] } };
  const installation = await install(t, both);
  let hub = await installation.start();
  set(hub, 'desk', { a: 2, b: 3, c: 4 });
  set(hub, 'other', { lamp: true });
  const { time } = hub.find('desk/b')!.lastChange!;

  await installation.change(mistaken);
  await hub.reload();
  t.deepEqual([hub.find('desk/b'), hub.find('other/lamp')], [undefined, undefined]);
  t.deepEqual(
    ['desk/a', 'desk/bb', 'desk/c'].map((address) => hub.find(address)!.value),
    [2, 1, true],
  );
  await installation.change(both);
  await hub.reload();
  t.deepEqual(
    ['desk/a', 'desk/b', 'other/lamp', 'other/text'].map((address) => hub.find(address)!.value),
    [2, 3, true, undefined],
  );
  const { origin, time: timeAfter } = hub.find('desk/b')!.lastChange!;
  t.deepEqual([origin.kind, timeAfter], ['restored', time]);

  await hub.stop();
  await installation.closed();
  await installation.change(mistaken);
  hub = await installation.start();
  t.is(hub.find('desk/bb')!.value, 1);
  await installation.change(both);
  await hub.reload();
  t.deepEqual(
    ['desk/b', 'other/lamp', 'other/text'].map((address) => hub.find(address)!.value),
    [3, true, undefined],
  );
});

test('values that return with a reload start no timer, and are in an XML file', async (t) => {
  const own = {
    clock: { type: 'timer', timers: ['1m', '1m'] },
    file: { type: 'xml-file-output', filename: 'out.xml', template: '<all><a>$A</a><b>$B</b></all>' },
  };
  const installation = await install(t, { desk, ...own });
  const hub = await installation.start();
  hub.write('file/A', 'one', writer);
  const path = join(installation.folder, 'out.xml');
  await hasText(path, '<all><a>one</a><b></b></all>');
  let fired = 0;
  hub.changes$.subscribe(({ parameter: { address } }) => {
    if (address === 'clock/timer/1/trigger') fired++;
  });
  hub.write('clock/timer/1/start', 100, writer);
  await eventually(() => fired === 1);

  await installation.change({ desk });
  await hub.reload();
  await installation.change({ desk, ...own });
  await hub.reload();
  t.is(hub.find('file/A')!.value, 'one');
  hub.write('file/B', 'two', writer);
  await hasText(path, '<all><a>one</a><b>two</b></all>');
  await after(300);
  t.is(fired, 1);
});
