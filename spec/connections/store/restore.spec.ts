// What a hub knows again after a restart: which values, with which time, cause and revision, and who hears of them.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { deadlineMs, eventually } from '../../support/deadline.ts';
import { statusOf, writer } from '../../support/hub.ts';
import { install, type StoredHub } from '../../support/store/store.ts';

const desk = { type: 'dummy', parameters: ['lamp,B,false', 'level,F', 'count,I', 'text', 'go,T', 'far,I'] };

const values = { 'desk/lamp': true, 'desk/level': -3.5, 'desk/count': 2 ** 53 - 1, 'desk/text': 'größe\n"1"\0\n' };

function set(hub: StoredHub, assignments: Readonly<Record<string, unknown>>): void {
  for (const [address, value] of Object.entries(assignments)) hub.write(address, value, writer);
}

test('D-36: values of all types come back with their time, a new revision and the cause restored', async (t) => {
  const { start } = await install(t, { desk });
  const before = await start();
  set(before, values);
  before.write('desk/go', true, writer);
  const times = Object.keys(values).map((address) => before.find(address)!.lastChange!.time);
  await before.stop();

  const hub = await start();
  for (const [address, value] of Object.entries(values)) t.is(hub.find(address)!.value, value, address);
  t.deepEqual(
    Object.keys(values).map((address) => hub.find(address)!.lastChange!.time),
    times,
  );
  for (const address of Object.keys(values)) {
    const { origin, cause, revision } = hub.find(address)!.lastChange!;
    t.deepEqual(origin, { kind: 'restored', name: 'store' });
    t.like(cause, { origin: writer, value: hub.find(address)!.value, cause: undefined });
    t.true(revision > 0 && revision <= hub.revision);
  }
  t.is(hub.find('desk/far')!.value, undefined);
  t.is(hub.find('desk/go')!.lastChange, undefined, 'a trigger is no state');
  const walked = [...hub.changedSince(0)].map(({ address }) => address);
  t.deepEqual(walked.sort(), Object.keys(values).sort(), 'a snapshot has them');
  t.is(statusOf(hub, 'store').state, 'running');
});

test('D-36: no rule fires because of what is restored, and each fires at the next change', async (t) => {
  const rules = ['lamp', 'level', 'text'].map((id) => ({ from: `desk/${id}`, to: `fired/${id}` }));
  const fired = { type: 'dummy', parameters: ['lamp', 'level', 'text'] };
  const { start } = await install(t, { desk, fired }, { rules, store: { values: { exclude: ['fired/**'] } } });
  const before = await start();
  set(before, values);
  t.is(before.find('fired/text')!.value, values['desk/text']);
  await before.stop();

  const hub = await start();
  for (const id of fired.parameters) t.is(hub.find(`fired/${id}`)!.value, undefined, id);
  set(hub, { 'desk/lamp': true });
  t.is(hub.find('fired/lamp')!.value, undefined, 'it was true already');
  set(hub, { 'desk/lamp': false, 'desk/text': 'new' });
  t.is(hub.find('fired/lamp')!.value, 'false');
  t.is(hub.find('fired/text')!.value, 'new');
});

test('only what is selected is kept', async (t) => {
  const store = { values: { include: ['desk/**'], exclude: ['desk/l*'] } };
  const { start } = await install(t, { desk, other: { type: 'dummy', parameters: ['text'] } }, { store });
  const before = await start();
  set(before, { ...values, 'other/text': 'there' });
  await before.stop();
  const hub = await start();
  const known = ['desk/lamp', 'desk/level', 'desk/count', 'desk/text', 'other/text'].map((one) => hub.find(one)!.value);
  t.deepEqual(known, [false, undefined, values['desk/count'], values['desk/text'], undefined]);
});

test('what is computed, status and triggers are never kept', async (t) => {
  const core = {
    type: 'virtual-core',
    inputs: { n: 'desk/count' },
    outputs: { twice: { type: 'I', expression: 'n + n' } },
  };
  const { start, values: path } = await install(t, { desk: { ...desk, statusParameter: true }, core });
  const before = await start();
  set(before, { 'desk/count': 4, 'desk/go': true });
  t.is(before.find('core/twice')!.value, 8);
  await before.stop();
  await eventually(() => !existsSync(`${path}-wal`)); // now it is closed
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(path, { readOnly: true, timeout: deadlineMs });
  t.teardown(() => database.close());
  t.deepEqual(
    database
      .prepare('SELECT address FROM parameter')
      .all()
      .map(({ address }) => address),
    ['desk/count'],
  );
});

test('a default that nobody has changed is not kept: a new one holds', async (t) => {
  const installation = await install(t, { desk: { type: 'dummy', parameters: ['a,I,1', 'b,I,1'] } });
  const before = await installation.start();
  set(before, { 'desk/b': 5 });
  await before.stop();
  await installation.change({ desk: { type: 'dummy', parameters: ['a,I,2', 'b,I,2'] } });
  const hub = await installation.start();
  t.deepEqual([hub.find('desk/a')!.value, hub.find('desk/b')!.value], [2, 5]);
});

test('a value that no longer converts gives way to the default, with a warning', async (t) => {
  const installation = await install(t, { desk: { type: 'dummy', parameters: ['a', 'b', 'c'] } });
  const before = await installation.start();
  set(before, { 'desk/a': 'seven', 'desk/b': 'eight', 'desk/c': '9' });
  await before.stop();
  await installation.change({ desk: { type: 'dummy', parameters: ['a,F,0.5', 'b,I', 'c,I'] } });
  const hub = await installation.start();
  t.deepEqual(
    ['a', 'b', 'c'].map((id) => hub.find(`desk/${id}`)!.value),
    [0.5, undefined, 9],
  );
  const warnings = hub.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  t.deepEqual(warnings, [
    'desk/a was not restored, it has its default value: expected a number, got "seven" (string)',
    'desk/b was not restored, its state is unknown: expected a number, got "eight" (string)',
  ]);
});

test('an XML file that is set in one placeholder after a restart has all others', async (t) => {
  const file = { type: 'xml-file-output', filename: 'out.xml', template: '<all><a>$A</a><b>$B</b><c>$C</c></all>' };
  const { start, folder } = await install(t, { file });
  const path = join(folder, 'out.xml');
  const before = await start();
  set(before, { 'file/A': 'one', 'file/B': 'two' });
  await eventually(async () => (await readIfAny(path)) === '<all><a>one</a><b>two</b><c></c></all>', path);
  await before.stop();
  const hub = await start();
  set(hub, { 'file/C': 'three' });
  await eventually(async () => (await readIfAny(path)) === '<all><a>one</a><b>two</b><c>three</c></all>', path);
  t.is(hub.find('file/A')!.value, 'one');
  await hub.stop();
});

test('what is set while the store is stopped by hand is kept once it runs again', async (t) => {
  const { start } = await install(t, { desk });
  const before = await start();
  before.control('store', 'stop', writer);
  set(before, values);
  before.control('store', 'start', writer);
  await before.logged(/^connection "store" is running$/, 2);
  await before.stop();
  const hub = await start();
  for (const [address, value] of Object.entries(values)) t.is(hub.find(address)!.value, value, address);
});

test('a second hub in the same folder runs, and leaves the values alone', async (t) => {
  const { start } = await install(t, { desk });
  const first = await start();
  set(first, values);
  const second = await start();
  t.is(statusOf(second, 'store').state, 'degraded');
  t.regex(statusOf(second, 'store').reason, /another hub keeps its values in this folder/);
  set(second, { 'desk/text': 'of the second' });
  await second.stop();
  await first.stop();
  const hub = await start();
  t.is(hub.find('desk/text')!.value, values['desk/text']);
});

const readIfAny = (path: string) => readFile(path, 'utf8').catch(() => undefined);
