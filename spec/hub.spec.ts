// A whole hub in process: rules over real connections, defaults, loops, faults, supervision.

import test from 'ava';
import { firstValueFrom, NEVER, Observable, of, Subject, throwError, VirtualTimeScheduler } from 'rxjs';
import { concatWith, filter, timeout } from 'rxjs/operators';
import { z } from 'zod';
import {
  type AnyConnectionType,
  type ConnectionEvent,
  defineConnectionType,
  defineGatewayType,
} from '../lib/connections/connection.ts';
import { startHub } from '../lib/hub/index.ts';
import { HubError } from '../lib/model/error.ts';
import type { Origin, Parameter } from '../lib/model/parameter.ts';
import { createLogRecorder } from './support/connection.ts';
import { connectionTypes } from './support/connection-types.ts';
import { deadlineMs } from './support/deadline.ts';
import { createFolder } from './support/folder.ts';
import { startTestHub } from './support/hub.ts';

const client: Origin = { kind: 'client', name: 'test' };
const settingsSchema = z.strictObject({});
const running = of<ConnectionEvent>({ state: 'running' });

test('a rule carries value, condition and expression to one or many destinations', async (t) => {
  const hub = await startTestHub(t, {
    connections: { desk: { type: 'dummy', parameters: ['a,F', 'b,F', 'c,S', 'd,I', 'go,T'] } },
    rules: [
      { from: 'desk/a', to: 'desk/b' },
      { from: 'desk/a', when: 'value > 1', map: 'value * 2', to: ['desk/c', 'desk/d', 'desk/go'] },
    ],
  });
  const changes: string[] = [];
  hub.changes$.subscribe(({ parameter, value }) => changes.push(`${parameter.address}=${value}`));
  hub.write('desk/a', 1, client);
  hub.write('desk/a', 1.75, client);
  t.deepEqual(changes, ['desk/a=1', 'desk/b=1', 'desk/a=1.75', 'desk/b=1.75', 'desk/c=3.5', 'desk/d=3', 'desk/go=1']);
});

test('a Dummy default value is there at the start and starts no rule', async (t) => {
  const hub = await startTestHub(t, {
    connections: { desk: { type: 'dummy', parameters: ['a,B,true', 'b,B'] } },
    rules: [{ from: 'desk/a', to: 'desk/b' }],
  });
  t.is(hub.find('desk/a')?.value, true);
  t.is(hub.find('desk/b')?.value, undefined);
});

test('a trigger starts a rule each time, with the value 1', async (t) => {
  const hub = await startTestHub(t, {
    connections: { desk: { type: 'dummy', parameters: ['go,T', 'n,I'] } },
    rules: [{ from: 'desk/go', map: 'value + 1', to: 'desk/n' }],
  });
  hub.write('desk/go', 'x', client);
  t.is(hub.find('desk/n')?.value, 2);
});

test('a rule that fails on a value is logged with its name, and its other destinations and neighbours continue', async (t) => {
  const hub = await startTestHub(t, {
    connections: { desk: { type: 'dummy', parameters: ['text', 'n,I', 'copy', 'length,I'] } },
    rules: [
      { name: 'to number', from: 'desk/text', to: ['desk/n', 'desk/copy'] },
      { name: 'first letter', from: 'desk/text', map: 'text_of(value)', to: 'desk/copy', enabled: false },
      { name: 'length', from: 'desk/text', map: 'value.size()', to: 'desk/length' },
    ].filter(({ name }) => name !== 'first letter'),
  });
  for (const text of ['abc', 'de', 'abc']) hub.write('desk/text', text, client);
  t.is(hub.find('desk/n')?.value, undefined);
  t.is(hub.find('desk/copy')?.value, 'abc');
  t.is(hub.find('desk/length')?.value, 3);
  t.like(hub.rules(), [
    { name: 'to number', state: 'failing', faults: 3 },
    { name: 'length', state: 'running', faults: 0 },
  ]);
  const warnings = () => hub.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  t.is(warnings().length, 1);
  t.regex(
    warnings()[0]!,
    /^rule "to number" \(.*flow\.json5\) failed: desk\/n: expected a number, got "abc" \(string\)$/,
  );
  await hub.logged(/got "abc" \(string\) \(2 times within a second\)$/);
  t.is(warnings().length, 2);
});

test('a loop of two rules is logged once with their names, and the hub continues', async (t) => {
  const hub = await startTestHub(t, {
    connections: { desk: { type: 'dummy', parameters: ['a,I', 'b,I', 'c,I'] } },
    rules: [
      { name: 'there', from: 'desk/a', to: 'desk/b' },
      { name: 'back', from: 'desk/b', map: 'value + 1', to: 'desk/a' },
    ],
  });
  for (let round = 0; round < 1000; round++) hub.write('desk/a', round * 1000, client);
  hub.write('desk/c', 1, client);
  t.is(hub.find('desk/c')?.value, 1);
  const loops = hub.lines.filter(({ message }) => message.startsWith('rule loop'));
  t.true(loops.length >= 1 && loops.length <= 2, `${loops.length} lines`);
  t.regex(loops[0]!.message, /"there", "back"|"back", "there"/);
  t.like(hub.rules(), [
    { name: 'there', state: 'limited' },
    { name: 'back', state: 'limited' },
  ]);
  t.true(hub.rules().every(({ dropped }) => dropped === 1000));
});

test('statusParameter adds _status/connected, which shows whether the connection runs', async (t) => {
  const hub = await startTestHub(t, {
    connections: {
      desk: { type: 'dummy', statusParameter: true },
      off: { type: 'dummy', statusParameter: true, enabled: false },
    },
  });
  t.is(hub.find('desk/_status/connected')?.value, true);
  t.is(hub.find('off/_status/connected')?.value, false);
  t.deepEqual(
    hub.connections().map(({ id, state }) => `${id} ${state}`),
    ['desk running', 'off disabled'],
  );
});

test('a connection that crashes is logged, shown and restarted with backoff; its neighbours never notice', async (t) => {
  const scheduler = new VirtualTimeScheduler();
  const starts: number[] = [];
  const shaky = defineConnectionType({
    type: 'shaky',
    isExternal: false,
    settingsSchema,
    parameters: () => [{ id: 'n', type: 'I', access: 'read-only' }],
    run: () =>
      new Observable<ConnectionEvent>((subscriber) => {
        starts.push(scheduler.now());
        subscriber.next({ state: 'running' });
        subscriber.next({ set: 'n', value: starts.length });
        if (starts.length < 6) subscriber.error(new Error('the cable was pulled'));
      }),
  });
  const hub = await startTestHub(
    t,
    { connections: { shaky: { type: 'shaky', statusParameter: true }, desk: { type: 'dummy', parameters: ['a'] } } },
    { types: new Map([...connectionTypes, ['shaky', shaky]]), scheduler },
  );
  t.like(hub.connections()[0], { state: 'degraded', reason: 'the cable was pulled' });
  t.is(hub.find('shaky/_status/connected')?.value, false);
  scheduler.maxFrames = 60_000;
  scheduler.flush();
  t.deepEqual(starts, [0, 1000, 3000, 7000, 15_000, 31_000]);
  t.like(hub.connections()[0], { state: 'running', reason: '' });
  t.is(hub.find('shaky/n')?.value, 6);
  t.like(hub.connections()[1], { state: 'running' });
});

test('a reason with changed counts is shown each time, and logged once; another reason is logged immediately', async (t) => {
  const reasons = [
    '11 of api eve 10.0.0.3 (1 MB)',
    '1,990 of api eve 10.0.0.3 (12.5 MB)',
    '1990 of api eve 10.0.0.3 (125 MB)',
    '1,990 of api eve 10.0.0.4 (125 MB)',
    'port 4222: no answer',
    'a.xml:3:7: unclosed tag',
    'a.xml:4:7: unclosed tag',
  ];
  const states$ = new Subject<ConnectionEvent>();
  const full = defineConnectionType({
    type: 'full',
    isExternal: false,
    settingsSchema,
    parameters: () => [],
    run: () => states$,
  });
  const flow = { connections: { full: { type: 'full' } } };
  const hub = await startTestHub(t, flow, { types: new Map([...connectionTypes, ['full', full]]) });
  const sinces = new Set<number>();
  for (const reason of reasons) {
    states$.next({ state: 'degraded', reason });
    const status = hub.connections()[0]!;
    t.is(status.reason, reason);
    sinces.add(reasons.indexOf(reason) < 3 ? status.since : 0);
  }
  t.true(sinces.size <= 2, 'it is degraded since the first of them');
  const logged = hub.lines.map(({ message }) => message).filter((message) => message.includes('degraded: '));
  t.deepEqual(
    logged.map((message) => message.replace('connection "full" is degraded: ', '')),
    reasons.filter((_, index) => index !== 1 && index !== 2),
  );
});

test('a connection that ends on its own has crashed; one that cannot start has failed', async (t) => {
  const types = new Map<string, AnyConnectionType>([
    [
      'ends',
      defineConnectionType({
        type: 'ends',
        isExternal: false,
        settingsSchema,
        parameters: () => [],
        run: () => running,
      }),
    ],
    [
      'cannot',
      defineConnectionType({
        type: 'cannot',
        isExternal: false,
        settingsSchema,
        parameters: () => [],
        run: () => throwError(() => new HubError('cannot-start', 'there is no such device')),
      }),
    ],
  ]);
  const hub = await startTestHub(t, { connections: { a: { type: 'ends' }, b: { type: 'cannot' } } }, { types });
  t.like(hub.connections(), [
    { state: 'degraded', reason: 'the connection ended unexpectedly' },
    { state: 'failed', reason: 'there is no such device' },
  ]);
});

test('a value that does not convert, or has no parameter, is logged and the connection continues', async (t) => {
  const odd = defineConnectionType({
    type: 'odd',
    isExternal: false,
    settingsSchema,
    parameters: () => [{ id: 'n', type: 'I', access: 'read-only' }],
    run: () =>
      of<ConnectionEvent[]>(
        { state: 'running' },
        { set: 'n', value: 'x' },
        { set: 'm', value: 1 },
        { set: 'n', value: 2 },
      ).pipe(concatWith(NEVER)),
  });
  const hub = await startTestHub(t, { connections: { odd: { type: 'odd' } } }, { types: new Map([['odd', odd]]) });
  t.is(hub.find('odd/n')?.value, 2);
  t.is(hub.lines.filter(({ message }) => message.startsWith('cannot set ')).length, 2);
});

test('a connection looks up a parameter once and sets it; another ID has none', async (t) => {
  const found: (Parameter | undefined)[] = [];
  const sure = defineConnectionType({
    type: 'sure',
    isExternal: false,
    settingsSchema,
    parameters: () => [{ id: 'n', type: 'I', access: 'read-only' }],
    run: ({ own }) => {
      found.push(own('n'), own('m'));
      return of<ConnectionEvent[]>(
        { state: 'running' },
        { set: 'n', own: found[0], value: '2' },
        { set: 'm', own: found[1], value: 1 },
      ).pipe(concatWith(NEVER));
    },
  });
  const hub = await startTestHub(t, { connections: { sure: { type: 'sure' } } }, { types: new Map([['sure', sure]]) });
  t.deepEqual(found, [hub.find('sure/n'), undefined]);
  t.is(hub.find('sure/n')?.value, 2);
  t.is(hub.lines.filter(({ message }) => message.startsWith('cannot set ')).length, 1);
});

test('a gateway that cannot start ends the start: nothing is left running', async (t) => {
  let isRunning = false;
  const device = defineConnectionType({
    type: 'device',
    isExternal: false,
    settingsSchema,
    parameters: () => [],
    run: () =>
      new Observable<ConnectionEvent>(() => {
        isRunning = true;
        return () => {
          isRunning = false;
        };
      }),
  });
  const gate = defineGatewayType({
    type: 'gate',
    isExternal: true,
    settingsSchema,
    parameters: () => [],
    run: () => throwError(() => new HubError('cannot-start', 'the port is in use')),
  });
  const types = new Map<string, AnyConnectionType>([
    ['device', device],
    ['gate', gate],
  ]);
  const folder = await createFolder(t, { 'a.json5': { connections: { a: { type: 'device' }, b: { type: 'gate' } } } });
  await t.throwsAsync(startHub({ paths: [folder], log: createLogRecorder(), types }), {
    message: /\/a\.json5:\d+:\d+: connections\.b: the port is in use$/,
  });
  t.false(isRunning);
});

test('stopping waits for the remaining work of a connection', async (t) => {
  let isWritten = false;
  const writer = defineConnectionType({
    type: 'writer',
    isExternal: false,
    settingsSchema,
    parameters: () => [],
    run: (context) =>
      new Observable<ConnectionEvent>((subscriber) => {
        subscriber.next({ state: 'running' });
        return () =>
          context.finish(
            new Promise<void>((resolve) =>
              setImmediate(() => {
                isWritten = true;
                resolve();
              }),
            ),
          );
      }),
  });
  const hub = await startTestHub(
    t,
    { connections: { a: { type: 'writer' } } },
    { types: new Map([['writer', writer]]) },
  );
  await hub.stop();
  t.true(isWritten);
});

test('timers, pulses and rules run together on the real clock', async (t) => {
  const hub = await startTestHub(t, {
    connections: {
      clock: { type: 'timer', timers: [20], pulses: [{ interval: 20 }] },
      desk: { type: 'dummy', parameters: ['lamp,B'] },
    },
    rules: [
      { from: 'clock/pulse/1', map: '5', to: 'clock/timer/1/start' },
      { from: 'clock/timer/1/trigger', map: 'true', to: 'desk/lamp' },
    ],
  });
  const lit = hub.changes$.pipe(filter(({ parameter }) => parameter.address === 'desk/lamp'));
  const change = await firstValueFrom(lit.pipe(timeout(deadlineMs)));
  t.is(change.value, true);
  t.is(hub.find('clock/timer/1/start')?.value, 5);
});
