// D-07: a trigger or a boolean that starts a timer means its default duration, whichever way it takes to get there. Only where a number
// is expected is it 1.

import { symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import { connect } from '../../../lib/client/client-hub.ts';
import { set } from '../../../lib/command/remote/values.ts';
import { loadFlows, startHub } from '../../../lib/hub/index.ts';
import type { RecordedWrite } from '../../../lib/model/reports/audit-entry.ts';
import { replayTurn, startSide } from '../../../lib/replay/replay.ts';
import { testFlow } from '../../../lib/testing/test-flow.ts';
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts';
import { createLogRecorder } from '../../support/connection.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { ask } from '../../support/http.ts';
import { api, startTestHub, writer } from '../../support/hub.ts';
import { call } from '../../support/system/process.ts';

const defaultMs = 30_000;
const started = 'clock/timer/1/start';
const connections = {
  d: { type: 'dummy', parameters: ['bell,T', 'gong,T', 'flag,B', 'n,I', 'text,S', 'whole,I', 'float,F', 'lamp,B'] },
  clock: { type: 'timer', timers: [defaultMs, defaultMs] },
};

const ways: [what: string, rule: object, set: Record<string, unknown>, startedMs: number][] = [
  ['a copy', { from: 'd/bell' }, { 'd/bell': true }, defaultMs],
  ['a copy that hears writes', { from: 'd/bell', hear: 'writes' }, { 'd/bell': true }, defaultMs],
  ['a boolean', { from: 'd/flag' }, { 'd/flag': true }, defaultMs],
  ['a false boolean', { from: 'd/flag', hear: 'writes' }, { 'd/flag': false }, defaultMs],
  ['a list of triggers', { from: ['d/bell', 'd/gong'] }, { 'd/gong': true }, defaultMs],
  ['a list with a number: the trigger', { from: ['d/n', 'd/bell'] }, { 'd/bell': true }, defaultMs],
  ['a list with a number: the number', { from: ['d/n', 'd/bell'] }, { 'd/n': 1 }, 1],
  ['a list with a boolean', { from: ['d/flag', 'd/bell'] }, { 'd/bell': true }, defaultMs],
  ['a condition', { from: 'd/bell', when: 'value == 1' }, { 'd/bell': true }, defaultMs],
  ['map: value', { from: 'd/bell', map: ' value ' }, { 'd/bell': true }, defaultMs],
  ['map: true', { from: 'd/bell', map: 'true' }, { 'd/bell': true }, defaultMs],
  ['map: 1', { from: 'd/bell', map: '1' }, { 'd/bell': true }, 1],
  ['map: value * 1', { from: 'd/bell', map: 'value * 1' }, { 'd/bell': true }, 1],
  ['a named source', { from: { a: 'd/bell' }, map: 'a' }, { 'd/bell': true }, defaultMs],
  [
    'an expression in to',
    { from: 'd/bell', to: { [started]: 'value', 'd/whole': 'value' } },
    { 'd/bell': true },
    defaultMs,
  ],
  ['a named source in to', { from: { a: 'd/bell' }, to: { [started]: 'a' } }, { 'd/bell': true }, defaultMs],
  ['a list of destinations', { from: 'd/bell', to: ['d/text', started, 'd/float'] }, { 'd/bell': true }, defaultMs],
  ...[
    { delay: 10 },
    { debounceTime: 10 },
    { auditTime: 10 },
    { sampleTime: 10 },
    { throttleTime: 10 },
    { distinctUntilChanged: true },
    { filter: 'value > 0' },
    { take: 5 },
    { repeat: 10 },
    { switchMap: [{ delay: 10 }] },
    { map: 'value' },
  ].flatMap((step): typeof ways => [
    [`a step ${JSON.stringify(step)}`, { from: 'd/bell', pipe: [step] }, { 'd/bell': true }, defaultMs],
    [`of a list, ${JSON.stringify(step)}`, { from: ['d/n', 'd/bell'], pipe: [step] }, { 'd/bell': true }, defaultMs],
    [`of a list, a number, ${JSON.stringify(step)}`, { from: ['d/n', 'd/bell'], pipe: [step] }, { 'd/n': 1 }, 1],
  ]),
  ['a step that counts', { from: 'd/bell', pipe: [{ count: true }] }, { 'd/bell': true }, 1],
  ['a step of numbers', { from: 'd/bell', pipe: [{ clamp: [0, 9] }] }, { 'd/bell': true }, 1],
  ['a table', { from: 'd/bell', pipe: [{ lookup: { table: { 1: 5 } } }] }, { 'd/bell': true }, 5],
  ['a number', { from: 'd/n' }, { 'd/n': 1 }, 1],
];
for (const [what, rule, writes, startedMs] of ways)
  test(`a rule that starts a timer: ${what}`, async (t) => {
    const flow = await testFlow({ connections, rules: [{ to: started, ...rule }] });
    flow.set(writes);
    flow.advance(25);
    t.is(flow.read(started), startedMs);
    await flow.stop();
  });

test('the same holds at the start, and where a test sets the timer itself', async (t) => {
  const flow = await testFlow({ connections, rules: [{ from: 'd/bell', atStart: true, to: started }] });
  t.is(flow.read(started), defaultMs);
  flow.set({ [started]: 5 });
  flow.set({ [started]: true });
  t.is(flow.read(started), defaultMs);
  await flow.stop();
});

test('a trigger is 1 only where a number is expected, and text becomes 1', async (t) => {
  const to = ['d/text', 'd/whole', 'd/float', 'd/lamp'];
  const flow = await testFlow({ connections, rules: [{ from: 'd/bell', to }] });
  flow.set({ 'd/bell': true });
  t.deepEqual(
    to.map((address) => flow.read(address)),
    ['1', 1, 1, true],
  );
  await flow.stop();
});

test('clients start a timer for its default duration, or for the number that they write', async (t) => {
  const { hub, port } = await startTestHub(t, { connections: { api, ...connections } }).then((hub) => ({
    hub,
    port: hub.port,
  }));
  const url = `http://127.0.0.1:${port}`;
  const options = { url, username: '', password: '', token: '' };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  const client = connect(url, { WebSocket } as never);
  t.teardown(() => {
    client.close();
    socket.close();
  });
  await client.whenLive();
  await eventually(() => socket.readyState === 1, 'the socket is open');
  const starts: [what: string, start: () => unknown, startedMs: number][] = [
    ['set without a value', () => call((console) => set(started, undefined, options, console)), defaultMs],
    ['set true', () => call((console) => set(started, 'true', options, console)), defaultMs],
    ['set 1', () => call((console) => set(started, '1', options, console)), 1],
    ['GET /update', () => ask(t, port, `GET /update?parameter=${started}&value=true`), defaultMs],
    ['GET /update of 1', () => ask(t, port, `GET /update?parameter=${started}&value=1`), 1],
    ['a plain socket', () => socket.send(`{"p":"${started}","v":true}`), defaultMs],
    ['fire() of the client library', () => client.param(started).fire(), defaultMs],
    ['set() of the client library', () => client.set(started, true), defaultMs],
  ];
  for (const [what, start, startedMs] of starts) {
    hub.write(started, 7, writer);
    await start();
    await eventually(() => hub.find(started)?.value !== 7, what);
    t.is(hub.find(started)?.value, startedMs, what);
  }
  hub.write('d/lamp', false, writer);
  for (const [address, written] of [
    ['d/lamp', true],
    ['d/whole', 1],
    ['d/text', '1'],
    ['d/float', 1],
  ] as const) {
    await call((console) => set(address, undefined, options, console));
    t.is(hub.find(address)?.value, written, address);
  }
});

test('a stream in TypeScript passes on the fire of a trigger; its computed values are numbers', async (t) => {
  const root = resolve(import.meta.dirname, '../../..');
  const pipes: [pipe: string, startedMs: number][] = [
    ["on.trigger('d/bell')", defaultMs],
    ["on.trigger('d/bell').pipe(filter((v) => v === 1), delay(10), debounceTime(5))", defaultMs],
    ["merge(on.trigger('d/gong'), on.trigger('d/bell'))", defaultMs],
    ["on.trigger('d/bell').pipe(map(() => true))", defaultMs],
    ["on.trigger('d/bell').pipe(map(() => 20))", 20],
    ["on.integer('d/n')", 1],
  ];
  const timers = pipes.map((_, index) => `{ from: ${pipes[index]![0]}, to: 'clock/timer/${index + 1}/start' }`);
  const folder = await createFolder(t, {
    'package.json': { type: 'module' },
    'flow.ts': `
      import { defineFlow } from ${JSON.stringify(join(root, 'lib/index.ts'))};
      import { debounceTime, delay, filter, map, merge } from 'rxjs';
      const connections = ${JSON.stringify({ ...connections, clock: { type: 'timer', timers: pipes.map(() => defaultMs) } })};
      export default defineFlow({ connections, rules: (on) => [${timers}] });
    `,
  });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const hub = await startHub({ paths: [folder], log: createLogRecorder() });
  t.teardown(() => hub.stop());
  hub.write('d/bell', true, writer);
  hub.write('d/n', 1, writer);
  for (const [index, [pipe, startedMs]] of pipes.entries()) {
    const start = () => hub.find(`clock/timer/${index + 1}/start`)?.value;
    await eventually(() => start() !== undefined, pipe);
    t.is(start(), startedMs, pipe);
  }
});

test('in shadow and in a replay another default duration holds for what was written as true', async (t) => {
  const clock = new VirtualClock();
  const changed = { ...connections, clock: { type: 'timer', timers: [60_000, defaultMs] } };
  const hub = await startTestHub(t, { connections }, { scheduler: clock });
  const writes: RecordedWrite[] = [];
  const recording = hub.record((turn) => writes.push(...turn.writes));
  hub.write(started, true, writer);
  hub.write('clock/timer/2/start', 5, writer);
  recording.stop();
  t.deepEqual(
    writes.map(({ address, value }) => [address, value]),
    [
      [started, true],
      ['clock/timer/2/start', 5],
    ],
  );
  const folder = await createFolder(t, { 'as-it-is.json': { connections }, 'changed.json': { connections: changed } });
  const [flows, others] = await Promise.all(
    ['as-it-is', 'changed'].map((name) => loadFlows([join(folder, `${name}.json`)])),
  );
  const w = writes.map(({ address, value, origin }) => [address, value, origin.kind, origin.name] as const);
  for (const [plan, startedMs] of [
    [flows!, defaultMs],
    [others!, 60_000],
  ] as const) {
    const side = startSide(plan, flows!, { time: 0, values: [] }, () => {});
    replayTurn(side, { t: 1, w });
    t.is(side.twin.graph.find(started)?.value, startedMs);
    t.is(side.twin.graph.find('clock/timer/2/start')?.value, 5);
    await side.twin.stop();
  }
});
