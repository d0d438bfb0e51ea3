// A hub that mirrors providers which others have written, emberplus-connection and node-emberplus: values, writes, matrices, streams, and
// everything that can happen to a device.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { encodeMessage } from '../../../lib/connections/ember-plus/s101.ts';
import { readMessage } from '../../../lib/connections/ember-plus/text.ts';
import type { Hub } from '../../../lib/index.ts';
import { eventually } from '../../support/deadline.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';
import type { DeviceTask } from './device.ts';
import { type Device, startDevice } from './peers.ts';

const find = (hub: Hub, id: string) => hub.find(`it/device/${id}`);
const value = (hub: Hub, id: string) => find(hub, id)?.value;
const has = (hub: Hub, id: string, expected: unknown) =>
  eventually(() => value(hub, id) === expected, `${id} = ${expected}`);
const isRunning = (hub: Hub) => eventually(() => statusOf(hub, 'it').state === 'running', 'a running connection');
const isStale = (hub: Hub, id: string) => find(hub, id)?.device?.staleSince !== undefined;
const mirrored = (hub: Hub) => [...hub.parameters()].filter(({ address }) => address.startsWith('it/'));
async function write(hub: Hub, id: string, input: unknown): Promise<void> {
  hub.write(`it/device/${id}`, input, writer);
  await hub.whenConfirmed(find(hub, id)!, 30_000);
}

async function start(t: ExecutionContext, device: Pick<Device, 'port'>, settings: object = {}, more: object = {}) {
  const it = { type: 'ember-plus', tcp: `127.0.0.1:${device.port}`, ...settings };
  const hub = await startTestHub(t, { connections: { it }, ...more });
  await isRunning(hub);
  return hub;
}

const packages: readonly NonNullable<DeviceTask['package']>[] = ['emberplus-connection', 'node-emberplus'];

for (const name of packages)
  test(`a provider of ${name}: values of all types are read and written, and a write is its cause`, async (t) => {
    const device = await startDevice(t, { package: name });
    const hub = await start(t, device);
    const ids = ['int', 'real', 'flag', 'mode'].map((id) => `all/${id}`);
    t.deepEqual(
      ids.map((id) => value(hub, id)),
      [7, -12.5, true, 1],
    );
    t.deepEqual(find(hub, 'all/mode')!.about!.choices, { off: 0, on: 1, auto: 2 });
    t.like(find(hub, 'all/int')!.about, { min: -1000, max: 1000 });
    const writes = {
      'all/int': -5,
      'all/real': 3.25,
      'all/text': 'neu',
      'all/flag': false,
      'all/mode': 2,
      'router/1': 3,
    };
    for (const [id, one] of Object.entries(writes)) {
      await write(hub, id, one);
      t.is(value(hub, id), one);
    }
    t.is(find(hub, 'all/int')!.lastChange!.cause!.origin.name, 'spec');
    hub.write('it/device/go', true, writer);
    const written: string[] = [];
    await eventually(async () => {
      written.push(...(await device.written()));
      return written.includes('invoke');
    }, 'an invocation');
    for (const one of ['int -5', 'real 3.25', 'text neu', 'flag false', 'mode 2', 'connect 1 3'])
      t.true(written.includes(one), `${one} of ${written}`);
    device.tell({ set: [name === 'node-emberplus' ? '0.0.0' : '1.1.1', 99] });
    await has(hub, 'all/int', 99);
    device.tell({ connect: [2, 0] });
    await has(hub, 'router/2', 0);
    t.throws(() => hub.write('it/device/all/int', 1001, writer), { code: 'out-of-range' });
    t.throws(() => hub.write('it/device/router/1', 4, writer), { code: 'out-of-range' });
  });

test('factors, bytes, units and accesses are those of the provider', async (t) => {
  const hub = await start(t, await startDevice(t));
  t.is(value(hub, 'all/scaled'), 2.5);
  await write(hub, 'all/scaled', -1.25);
  t.is(value(hub, 'all/scaled'), -1.25);
  t.like(find(hub, 'all/scaled'), { type: 'F', about: { min: -10, max: 10 } });
  t.is(value(hub, 'all/bytes'), '00ff');
  await write(hub, 'all/bytes', '01 02 FF');
  t.is(value(hub, 'all/bytes'), '0102ff');
  t.throws(() => hub.write('it/device/all/bytes', 'xy', writer), { message: /bytes in hex/ });
  t.like(find(hub, 'all/real')!.about, { unit: 'dB', min: -100, max: 100 });
  t.like(find(hub, 'all/int')!.about, { unit: 'ms', label: 'An integer' });
  t.is(find(hub, 'all/shown')!.access, 'read-only');
});

test('what the provider refuses, or never reports, is no secret', async (t) => {
  const hub = await start(t, await startDevice(t));
  await t.throwsAsync(write(hub, 'all/limited', 101), { message: /refused the write: the value is still 50/ });
  t.is(value(hub, 'all/limited'), 50);
  await write(hub, 'all/limited', 100);
  await t.throwsAsync(write(hub, 'all/silent', 5), { message: /has not reported the value within 5 s/ });
  t.is(value(hub, 'all/silent'), 1);
});

test('include and exclude choose the part of the tree; the hub does not ask for the rest', async (t) => {
  const device = await startDevice(t, { channels: 300 });
  const hub = await start(t, device, { include: ['device/channels/group-2/**'], exclude: ['**/ch-150/**'] });
  t.is(mirrored(hub).length, 198);
  t.is(value(hub, 'channels/group-2/ch-101/gain'), -101);
  t.is(find(hub, 'channels/group-2/ch-150/gain'), undefined);
  t.true(statusOf(hub, 'it').wire!.framesOut < 110);
});

test('rules use expected parameters before the provider reports them; others that it lacks refuse writes', async (t) => {
  const device = await startDevice(t);
  const settings = { expect: ['device/all/int,F', 'device/router/1,I', 'device/none,I'] };
  const rules = [{ name: 'follow', from: 'it/device/all/int', map: 'value > 5.0 ? 2 : 3', to: 'it/device/router/1' }];
  const hub = await start(t, device, settings, { rules });
  await has(hub, 'router/1', 2);
  await write(hub, 'all/int', 4);
  await has(hub, 'router/1', 3);
  t.throws(() => hub.write('it/device/none', 1, writer), { message: /currently does not have this parameter/ });
});

test('a provider of 2,000 nodes that comes back in another shape: new ones appear, others go, equal values fire nothing', async (t) => {
  const device = await startDevice(t, { channels: 2000 });
  const hub = await start(t, device);
  t.is(value(hub, 'channels/group-20/ch-2000/gain'), -2000);
  const count = mirrored(hub).length;
  device.child.kill('SIGKILL');
  await eventually(() => isStale(hub, 'channels/group-1/ch-1/gain'), 'stale values');
  t.is(value(hub, 'channels/group-1/ch-2/gain'), -2);
  const changes: string[] = [];
  const following = hub.changes$.subscribe(({ parameter }) => changes.push(parameter.address));
  t.teardown(() => following.unsubscribe());
  await startDevice(t, { channels: 2000, firstChannel: 3, port: device.port });
  await isRunning(hub);
  await eventually(() => mirrored(hub).length === count, `${count} parameters`);
  t.is(find(hub, 'channels/group-1/ch-1/gain'), undefined);
  t.is(value(hub, 'channels/group-20/ch-2002/gain'), -2002);
  t.is(value(hub, 'channels/group-1/ch-3/gain'), -3);
  t.false(isStale(hub, 'channels/group-1/ch-3/gain'));
  // of each group of 100, two channels have gone to the group before
  t.deepEqual(
    changes.filter((address) => /group-1\/ch-(?:[3-9]|[1-9]\d|100)\/|\/all\//.test(address)),
    [],
    'equal values are no changes',
  );
});

test('a provider adds nodes while it runs, and nodes go offline and come back', async (t) => {
  const device = await startDevice(t, { channels: 150, reportsOnline: true });
  const hub = await start(t, device);
  device.tell({ add: ['1.2', 99, 'extra'] });
  await has(hub, 'channels/extra/new', 42);
  await write(hub, 'channels/extra/new', 43);
  device.tell({ online: ['1.2.1', false] });
  await eventually(() => isStale(hub, 'channels/group-1/ch-1/gain'), 'stale values of a node');
  t.false(isStale(hub, 'channels/group-2/ch-101/gain') || isStale(hub, 'all/int'));
  t.is(value(hub, 'channels/group-1/ch-1/gain'), -1);
  t.throws(() => hub.write('it/device/channels/group-1/ch-1/gain', 1, writer), { code: 'unavailable' });
  device.tell({ online: ['1.2.1', true] });
  await eventually(() => !isStale(hub, 'channels/group-1/ch-1/gain'), 'fresh values');
  await write(hub, 'channels/group-1/ch-1/gain', -3);
  device.tell({ online: ['1', false] });
  await eventually(() => isStale(hub, 'all/int') && isStale(hub, 'channels/group-2/ch-101/gain'), 'a stale tree');
});

for (const name of packages)
  test(`a matrix of 1,000 × 1,000 of ${name}: read, connected, confirmed`, async (t) => {
    const hub = await start(t, await startDevice(t, { package: name, signals: 1000 }));
    t.is(value(hub, 'router/0'), 1);
    t.is(value(hub, 'router/999'), 0);
    const targets = Array.from({ length: 1000 }, (_, target) => target);
    hub.turn(() => {
      for (const target of targets) hub.write(`it/device/router/${target}`, (target + 500) % 1000, writer);
    });
    await Promise.all(targets.map((target) => hub.whenConfirmed(find(hub, `router/${target}`)!, 30_000)));
    t.deepEqual(
      targets.filter((target) => value(hub, `router/${target}`) !== (target + 500) % 1000),
      [],
    );
  });

test('100 streams at 25 Hz are meters', async (t) => {
  const device = await startDevice(t, { meters: 100 });
  const hub = await start(t, device);
  t.is(find(hub, 'meters/meter-100')!.about!.class, 'meter');
  let changes = 0;
  const following = hub.changes$.subscribe(({ parameter }) => {
    if (parameter.address.startsWith('it/device/meters/')) changes++;
  });
  t.teardown(() => following.unsubscribe());
  device.tell({ streamsPerSecond: 25 });
  await eventually(() => changes >= 5000, '5,000 values of meters');
  t.true((value(hub, 'meters/meter-100') as number) < 0);
});

test('a provider that is killed: stale, refused, never replayed, and back', async (t) => {
  const device = await startDevice(t);
  const hub = await start(t, device);
  device.child.kill('SIGSTOP');
  hub.write('it/device/all/int', 500, writer);
  const pending = hub.whenConfirmed(find(hub, 'all/int')!, 30_000);
  device.child.kill('SIGKILL');
  await t.throwsAsync(pending);
  await eventually(() => isStale(hub, 'all/int'), 'stale values');
  t.is(statusOf(hub, 'it').state, 'degraded');
  t.throws(() => hub.write('it/device/all/int', 1, writer), { code: 'unavailable' });
  t.is(value(hub, 'all/int'), 7);
  const again = await startDevice(t, { port: device.port });
  await isRunning(hub);
  t.false(isStale(hub, 'all/int'));
  t.is(value(hub, 'all/int'), 7);
  t.deepEqual(await again.written(), []);
});

test('a provider that is stopped is offline within the idle timeout, and back when it continues', async (t) => {
  const device = await startDevice(t);
  const hub = await start(t, device, { idleTimeout: '900ms' });
  device.child.kill('SIGSTOP');
  await eventually(() => isStale(hub, 'all/int'), 'stale values');
  t.regex(statusOf(hub, 'it').reason, /the device has been silent for \d(?:\.\d)? s|no answer within/);
  device.child.kill('SIGCONT');
  await isRunning(hub);
  t.false(isStale(hub, 'all/int'));
});

test('onLoss makes values unknown, immediately or after a time', async (t) => {
  const device = await startDevice(t);
  const hub = await start(t, device, { onLoss: { hold: 300 } });
  device.child.kill('SIGKILL');
  await eventually(() => isStale(hub, 'all/int') && value(hub, 'all/int') === 7, 'stale values');
  await has(hub, 'all/int', undefined);
  t.true(isStale(hub, 'all/int'));
});

/** Stands between the hub and a provider, and does to the bytes what a test wants. */
async function startRelay(t: ExecutionContext, target: number) {
  const sockets = new Set<Socket>();
  let isCut = false;
  let onAnswer = (bytes: Buffer, to: Socket) => void to.write(bytes);
  const server = createServer((socket) => {
    const other = connect(target, '127.0.0.1');
    for (const one of [socket, other]) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        socket.destroy();
        other.destroy();
      });
    }
    socket.on('data', (bytes) => !isCut && other.write(bytes));
    other.on('data', (bytes: Buffer) => !isCut && onAnswer(bytes, socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const one of sockets) one.destroy();
  });
  return {
    port: (server.address() as { port: number }).port,
    cut: (isSo: boolean) => {
      isCut = isSo;
    },
    end: () => {
      for (const one of sockets) one.destroy();
    },
    answer: (how: typeof onAnswer) => {
      onAnswer = how;
    },
    sockets,
  };
}

test('a cut link is noticed, and mended when bytes pass again', async (t) => {
  const device = await startDevice(t);
  const relay = await startRelay(t, device.port);
  const hub = await start(t, relay, { idleTimeout: '900ms' });
  relay.cut(true);
  await eventually(() => isStale(hub, 'all/int'), 'stale values');
  relay.cut(false);
  await isRunning(hub);
  await write(hub, 'all/int', 8);
  t.false(isStale(hub, 'all/int'));
});

test('garbage, and answers cut at any byte, cost no neighbour anything; afterwards the tree is whole', async (t) => {
  const device = await startDevice(t);
  const relay = await startRelay(t, device.port);
  const hub = await start(t, relay, { idleTimeout: '2s', timeout: '300ms' });
  // each new link gets the first bytes of the real answers, some more each time, and then garbage
  let kept = 0;
  let left = 0;
  relay.answer((bytes, to) => {
    to.write(bytes.subarray(0, left));
    if (bytes.length > left) {
      to.write(Buffer.from('fe000e0001c001021f02605aff00fe0102ff', 'hex'));
      to.destroy();
      kept += 23;
      left = kept;
    } else left -= bytes.length;
  });
  relay.end();
  await eventually(() => isStale(hub, 'all/int'), 'stale values');
  await eventually(() => kept > 69, 'some broken links');
  relay.answer((bytes, to) => void to.write(bytes));
  await isRunning(hub);
  t.is(value(hub, 'all/int'), 7);
  const refused = () => statusOf(hub, 'it').wire?.refused ?? 0;
  t.true(refused() > 0);
  relay.answer((bytes, to) => void to.write(Buffer.concat([Buffer.from('garbage'), bytes])));
  await write(hub, 'all/int', 8);
  t.true(refused() > 1);
});

test('a provider that sends too much, or nonsense, is bounded', async (t) => {
  const frame = (text: string) => encodeMessage(readMessage(text));
  let count = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write(frame('keep-alive'));
    socket.write(frame('1 node "device"; 1.1 parameter "a" = 1; 1.2 parameter "a" = 2; 1.3 parameter "a/b" = 3'));
    // a matrix that claims far too many targets, and a node below which others appear for ever
    socket.write(frame('1.4 matrix "router" 2000000000x2000000000; 1.5 node "more"; 1.9.9.9 parameter "lost" = 1'));
    socket.on('data', () => {
      const parts = Array.from({ length: 50 }, () => {
        count++;
        return `1.5.${count} node "n${count}"; 1.5.${count}.1 parameter "p" = ${count}`;
      });
      if (count < 3000) socket.write(frame(parts.join('; ')));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const hub = await startTestHub(t, {
    connections: { it: { type: 'ember-plus', tcp: `127.0.0.1:${port}`, maxDiscovered: 1000, timeout: 100 } },
  });
  await eventually(() => mirrored(hub).length === 1000, '1,000 parameters');
  await hub.logged(/more than 1000 parameters; further parameters are left out/);
  t.deepEqual(
    ['a', 'a~2', 'a_b'].map((id) => value(hub, id)),
    [1, 2, 3],
  );
});

test('simulate confirms every write immediately', async (t) => {
  const it = { type: 'ember-plus', tcp: '127.0.0.1:9', simulate: true, expect: ['Mixer/Gain,F', 'Mixer/Go,T'] };
  const hub = await startTestHub(t, { connections: { it } });
  await isRunning(hub);
  hub.write('it/Mixer/Gain', -3, writer);
  await eventually(() => hub.find('it/Mixer/Gain')!.value === -3);
  t.is(hub.find('it/Mixer/Gain')!.wanted, undefined);
});
