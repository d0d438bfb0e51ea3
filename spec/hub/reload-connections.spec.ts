// What a reload does to connections: what changed is replaced, and what can be kept of it is kept.

import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { firstValueFrom, Observable, timer, VirtualTimeScheduler } from 'rxjs';
import { filter, timeout } from 'rxjs/operators';
import { z } from 'zod';
import { type ConnectionEvent, defineConnectionType } from '../../lib/connections/connection.ts';
import { HubError } from '../../lib/model/error.ts';
import { connectionTypes } from '../support/connection-types.ts';
import { deadlineMs } from '../support/deadline.ts';
import { startReloading } from '../support/reload.ts';

const none = { added: [], removed: [], changed: [] };
const dummy = (...parameters: string[]) => ({ type: 'dummy', parameters });

test('a changed Dummy keeps the values of unchanged parameters, and their rules continue', async (t) => {
  const rules = [
    { name: 'kept', from: 'desk/level', to: 'other/level' },
    { name: 'replaced', from: 'desk/count', to: 'other/count' },
  ];
  const connections = { desk: dummy('level,F,0.5', 'count,I,1', 'old'), other: dummy('level,F', 'count,S') };
  const { hub, reload, write, value, takeChanges } = await startReloading(t, { 'a.json5': { connections, rules } });
  write('desk/level', 0.75);
  write('desk/count', 7);
  write('desk/old', 'x');
  const removed: string[] = [];
  hub.removed$.subscribe(({ address }) => removed.push(address));
  const level = hub.find('desk/level');
  takeChanges();
  const swapped = await reload('a.json5', {
    connections: { ...connections, desk: dummy('level,F,0.1', 'count,S,two', 'new,B,true') },
    rules,
  });
  t.deepEqual(swapped.connections, { ...none, changed: ['desk'] });
  t.deepEqual(swapped.rules, { ...none, changed: ['replaced'] });
  t.is(hub.find('desk/level'), level);
  t.is(value('desk/level'), 0.75);
  t.deepEqual(removed, ['desk/count', 'desk/old']);
  t.deepEqual(takeChanges(), ['desk/count=two', 'desk/new=true'], 'announced, but no rule has heard it');
  const known = [...hub.changedSince(0)].map(({ address }) => address);
  t.deepEqual(known, ['desk/level', 'other/level', 'other/count', 'desk/count', 'desk/new']);
  t.throws(() => write('desk/old', 'y'), { message: /no parameter has this address$/ });
  write('desk/level', 1);
  write('desk/count', 'three');
  t.deepEqual(takeChanges(), ['desk/level=1', 'other/level=1', 'desk/count=three', 'other/count=three']);
});

test('a gateway whose new port is busy keeps the old one, and the whole reload is refused', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port: busy } = server.address() as { port: number };
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as { port: number };
  await new Promise((resolve) => free.close(resolve));
  const api = { type: 'rest-api', port, bindIp: '127.0.0.1', statusParameter: true };
  const { hub, reload, value, lines } = await startReloading(t, {
    'a.json5': { connections: { api, desk: dummy('a,S,x') } },
  });
  const next = { connections: { api: { ...api, port: busy }, desk: dummy('b,S,y') } };
  const error = await t.throwsAsync(reload('a.json5', next), { instanceOf: HubError });
  t.is(error.code, 'cannot-start');
  t.true(lines.some(({ message }) => /a\.json5:\d+:\d+: connections\.api\.port: expected a free port/.test(message)));
  t.is(await (await fetch(`http://127.0.0.1:${port}/parameters/desk/a`)).text(), 'x');
  t.is(value('desk/b'), undefined);
  t.is(value('api/_status/connected'), true);
  server.close();
  await once(server, 'close');
  await hub.reload();
  t.is(await (await fetch(`http://127.0.0.1:${busy}/parameters/desk/b`)).text(), 'y');
  await t.throwsAsync(fetch(`http://127.0.0.1:${port}/parameters/desk/b`));
});

test('a changed gateway takes over the port immediately, even with connected clients', async (t) => {
  const api = { type: 'rest-api', port: 0, bindIp: '127.0.0.1' };
  const { reload, lines, hub } = await startReloading(t, { 'a.json5': { connections: { api } } });
  const port = Number(/:(\d+)\/$/.exec(lines.find(({ message }) => message.startsWith('listening'))!.message)![1]);
  await reload('a.json5', { connections: { api: { ...api, port } } });
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  await once(socket, 'open');
  const closed = once(socket, 'close');
  await reload('a.json5', { connections: { api: { ...api, port, maxClients: 5 } } });
  t.is((await closed)[0].code, 1001);
  const again = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  await once(again, 'open');
  again.close();
  t.is(hub.connections()[0]?.state, 'running');
});

test('a connection that listens to a parameter keeps its state while the parameter stays, and restarts otherwise', async (t) => {
  const core = {
    type: 'virtual-core',
    inputs: { pulse: 'desk/pulse' },
    outputs: { count: { block: 'CTU', up: 'pulse', pv: 99 } },
  };
  const flow = (...parameters: string[]) => ({ connections: { core, desk: dummy(...parameters) } });
  const { reload, write, value } = await startReloading(t, { 'a.json5': flow('pulse,B,false') });
  const pulse = () => {
    write('desk/pulse', true);
    write('desk/pulse', false);
    return value('core/count/count');
  };
  pulse();
  t.is(pulse(), 2);
  t.deepEqual((await reload('a.json5', flow('pulse,B,false', 'more'))).connections, { ...none, changed: ['desk'] });
  t.is(pulse(), 3);
  t.deepEqual((await reload('a.json5', flow('pulse,T', 'more'))).connections, { ...none, changed: ['core', 'desk'] });
  t.is(pulse(), 2, 'a trigger fires at each write');
});

test('a connection with a new description continues, and shows the new description', async (t) => {
  const core = {
    type: 'virtual-core',
    inputs: { pulse: 'desk/pulse' },
    outputs: { count: { block: 'CTU', up: 'pulse', pv: 99 } },
  };
  const flow = (description?: string) => ({ connections: { core: { ...core, description }, desk: dummy('pulse,T') } });
  const { hub, reload, write, value } = await startReloading(t, { 'a.json5': flow() });
  const pulse = () => {
    write('desk/pulse', true);
    return value('core/count/count');
  };
  t.is(pulse(), 1);
  for (const [index, description] of ['rings of the bell', 'all rings', undefined].entries()) {
    const { connections } = await reload('a.json5', flow(description));
    t.deepEqual(connections, { ...none, changed: ['core'] });
    t.is(hub.connections()[0]?.description, description ?? '');
    t.is(pulse(), index + 2);
  }
  t.deepEqual((await reload('a.json5', flow())).connections, none);
});

test('a template file is part of its connection, and values set while a file is being written are not lost', async (t) => {
  const onair = { type: 'xml-file-output', filename: 'out.xml', templateFile: 'in.xml', statusParameter: true };
  const { folder, reload, write, hub } = await startReloading(t, {
    'a.json5': { connections: { onair } },
    'in.xml': '<a>$Lamp</a>',
  });
  const written = () => {
    const path = join(folder, 'out.xml');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  const isWritten = (text: string) =>
    firstValueFrom(
      timer(0, 5).pipe(
        filter(() => written() === text),
        timeout(deadlineMs),
      ),
    );
  for (let round = 1; round <= 5; round++) {
    write('onair/Lamp', round - 0.5); // still being written when the reload comes
    const reloading = reload('in.xml', `<b${round}>$Lamp</b${round}>`);
    t.deepEqual((await reloading).connections, { ...none, changed: ['onair'] });
    write('onair/Lamp', round);
    await isWritten(`<b${round}>${round}</b${round}>`);
  }
  t.is(hub.find('onair/Lamp')?.value, '5');
});

test('writes to a connection that waits for its predecessor are kept, in order', async (t) => {
  const heard: string[] = [];
  let finish = () => {};
  const slow = defineConnectionType({
    type: 'slow',
    settingsSchema: z.strictObject({ name: z.string() }),
    parameters: () => [{ id: 'n', type: 'I', access: 'write-only' }],
    isExternal: true,
    claims: () => [{ kind: 'device', name: 'the device', scope: '*' }],
    run: ({ settings, inbox, finish: keep }) =>
      new Observable<ConnectionEvent>((subscriber) => {
        subscriber.next({ state: 'running' });
        const subscription = inbox('n').subscribe({ next: (value) => heard.push(`${settings.name}${value}`) });
        return () => {
          subscription.unsubscribe();
          keep(
            new Promise<void>((resolve) => {
              finish = resolve;
            }),
          );
        };
      }),
  });
  const flow = (name: string) => ({ connections: { slow: { type: 'slow', name } } });
  const types = new Map([...connectionTypes, ['slow', slow]]);
  const { reload, write, hub } = await startReloading(t, { 'a.json5': flow('a') }, { types });
  write('slow/n', 1);
  await reload('a.json5', flow('b'));
  write('slow/n', 2);
  write('slow/n', 2);
  t.deepEqual(heard, ['a1']);
  t.is(hub.connections()[0]?.reason, 'starting');
  finish();
  await new Promise((resolve) => setImmediate(resolve));
  write('slow/n', 3);
  t.deepEqual(heard, ['a1', 'b2', 'b2', 'b3']);
  const stopped = hub.stop();
  finish();
  await stopped;
});

test('a disabled connection is stopped, and shows that', async (t) => {
  const clock = { type: 'timer', timers: [], pulses: [{ interval: 100 }], statusParameter: true };
  const scheduler = new VirtualTimeScheduler();
  const { reload, value, takeChanges } = await startReloading(
    t,
    { 'a.json5': { connections: { clock } } },
    { scheduler },
  );
  t.is(value('clock/_status/connected'), true);
  await reload('a.json5', { connections: { clock: { ...clock, enabled: false } } });
  scheduler.maxFrames = 1000;
  scheduler.flush();
  t.deepEqual(takeChanges(), ['clock/_status/connected=false']);
});

test('a parameter that stays accepts writes by its new settings', async (t) => {
  const flow = (durationMs: number) => ({ connections: { clock: { type: 'timer', timers: [durationMs] } } });
  const { reload, write, hub } = await startReloading(t, { 'a.json5': flow(1000) });
  const start = hub.find('clock/timer/1/start');
  await reload('a.json5', flow(60_000));
  t.is(hub.find('clock/timer/1/start'), start);
  t.is(write('clock/timer/1/start', true), 60_000);
});
