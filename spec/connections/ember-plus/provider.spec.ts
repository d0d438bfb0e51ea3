// A hub that shows its parameters to consumers which others have written, emberplus-connection and node-emberplus, and to one that misbehaves.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { encodeMessage, maxRequestBytes, s101Framing } from '../../../lib/connections/ember-plus/s101.ts';
import { readMessage, showMessage } from '../../../lib/connections/ember-plus/text.ts';
import { eventually } from '../../support/deadline.ts';
import { type HubUnderTest, startTestHub, statusOf, writer } from '../../support/hub.ts';
import { freePort } from '../../support/system/port.ts';
import { firstClient, secondClient, startDevice } from './peers.ts';

const refusedOf = (hub: HubUnderTest) => statusOf(hub, 'it').wire?.refused ?? 0;
const isRunning = (hub: HubUnderTest) =>
  eventually(() => statusOf(hub, 'it').state === 'running', 'a running connection');

const desk = [
  'level,F',
  'count,I',
  'mode,I',
  'name,S',
  'on,B',
  'fire,T',
  'sub/deep/x,I',
  'meter,F',
  'bar,I',
  'secret,S',
];
const describe = {
  'desk/level': { label: 'Level', unit: 'dB', min: -90, max: 10 },
  'desk/meter': { class: 'meter' },
  'desk/bar': { class: 'meter' },
  'desk/mode': { choices: { off: 0, on: 1 } },
};
const write = ['desk/level', 'desk/count', 'desk/mode', 'desk/name', 'desk/on', 'desk/fire', 'desk/sub/**'];

function flowOf(port: number, settings: object = {}, parameters: readonly string[] = desk) {
  return {
    connections: {
      desk: { type: 'dummy', parameters },
      router: { type: 'dummy', parameters: Array.from({ length: 4 }, (_, index) => `out/${index},I`) },
      it: {
        ...{ type: 'ember-plus', listen: `127.0.0.1:${port}`, read: ['desk/meter', 'desk/bar'], write },
        matrices: { Router: { targets: 'router/out/{n:0..3}', sources: 4, none: -1 } },
        ...settings,
      },
    },
    describe: Object.fromEntries(
      Object.entries(describe).filter(([address]) => parameters.some((one) => one.startsWith(`${address.slice(5)},`))),
    ),
  };
}

async function saveFlow(hub: HubUnderTest, flow: object): Promise<void> {
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow));
  await hub.reload();
}

async function start(t: ExecutionContext, settings: object = {}) {
  const port = await freePort();
  const hub = await startTestHub(t, flowOf(port, settings));
  await isRunning(hub);
  hub.turn(() => {
    for (const [id, one] of Object.entries({ level: -12.5, count: 70_000, mode: 1, name: 'Grüße', on: true, meter: 0 }))
      hub.write(`desk/${id}`, one, writer);
    for (let target = 0; target < 4; target++) hub.write(`router/out/${target}`, (target + 1) % 4, writer);
  });
  return { hub, port };
}

test('the client of emberplus-connection: the tree, values of all types from both sides, refused values', async (t) => {
  const { hub, port } = await start(t);
  const client = await firstClient(t, port);
  const warnings: unknown[] = [];
  client.on('warn', (warning: unknown) => warnings.push(warning));
  await client.expand(client.tree);
  const at = (id: string) => client.getElementByPath(`patchbay.desk.${id}`);
  const level = await at('level');
  t.like(level.contents, {
    ...{ parameterType: 'REAL', identifier: 'level', description: 'Level', value: -12.5, access: 'READ_WRITE' },
    ...{ minimum: -90, maximum: 10, format: '%.2f dB' },
  });
  t.is((await at('meter')).contents.access, 'READ');
  await t.throwsAsync(at('secret'), { message: /Could not find/ });
  const written = { level: 3.5, count: -70_000, mode: 0, name: 'neu', on: false, 'sub.deep.x': 5 };
  for (const [id, one] of Object.entries(written)) {
    const element = await at(id);
    const answer = await (await client.setValue(element, one)).response;
    t.is(answer.contents.value, one);
    t.is(hub.find(`desk/${id.replaceAll('.', '/')}`)!.value, one);
  }
  t.like(hub.find('desk/level')!.lastChange!.origin, { kind: 'client' });
  for (const [id, one, kept] of [
    ['level', 10.5, 3.5],
    ['mode', 2, 0],
  ] as const)
    t.is((await (await client.setValue(await at(id), one)).response).contents.value, kept, `${id} refuses ${one}`);
  hub.write('desk/level', -7, writer);
  hub.write('desk/name', 'vom Hub', writer);
  await eventually(() => level.contents.value === -7, 'a value of the hub');
  const result = await (await client.invoke(await at('fire'))).response;
  t.true(result.success);
  t.truthy(hub.find('desk/fire')!.lastChange);
  t.deepEqual(warnings, []);
});

test('the client of node-emberplus: the tree, values of all types from both sides, refused values', async (t) => {
  const { hub, port } = await start(t);
  const client = await secondClient(t, port);
  await client.getDirectoryAsync();
  const at = (id: string) => client.getElementByPathAsync(`patchbay/desk/${id}`);
  const level = await at('level');
  const seen: unknown[] = [];
  await client.getDirectoryAsync(level, (one: { contents?: { value: unknown } }) => seen.push(one.contents?.value));
  for (const [id, one] of Object.entries({
    level: 3.5,
    count: -70_000,
    mode: 0,
    name: 'neu',
    on: false,
    'sub/deep/x': 5,
  })) {
    await client.setValueAsync(await at(id), one);
    t.is(hub.find(`desk/${id}`)!.value, one);
  }
  await client.setValueAsync(level, 11);
  t.is(hub.find('desk/level')!.value, 3.5);
  hub.write('desk/level', -33, writer);
  await eventually(() => seen.includes(-33), 'a value of the hub');
  const fire = await at('fire');
  t.true((await client.invokeFunctionAsync(fire, [])).success);
  t.truthy(hub.find('desk/fire')!.lastChange);
});

test('several clients at once: each sees what the others write, and a matrix of all', async (t) => {
  const { hub, port } = await start(t);
  const clients = await Promise.all([firstClient(t, port), firstClient(t, port)]);
  const second = await secondClient(t, port);
  await second.getDirectoryAsync();
  // the client of emberplus-connection keeps only the last connections that it received, so the spec gathers them
  const matrices: { node: unknown; sources: Map<number, string> }[] = [];
  for (const client of clients) {
    await client.expand(client.tree);
    const node = await client.getElementByPath('patchbay.Router');
    const sources = new Map<number, string>();
    const take = ({ contents }: { contents: { connections?: object } }) => {
      for (const one of Object.values(contents.connections ?? {}) as { target: number; sources: number[] }[])
        sources.set(one.target, one.sources.join());
    };
    take(await (await client.getDirectory(node)).response);
    await client.subscribe(node, take);
    matrices.push({ node, sources });
  }
  const own = await second.getElementByPathAsync('patchbay/Router');
  await second.getDirectoryAsync(own);
  for (const { sources } of matrices)
    t.deepEqual(
      [0, 1, 2, 3].map((target) => sources.get(target)),
      ['1', '2', '3', '0'],
    );
  t.deepEqual(own.connections[2].sources, [3]);
  await (await clients[0].matrixSetConnection(matrices[0]!.node, 2, [1])).response;
  t.is(hub.find('router/out/2')!.value, 1);
  await second.matrixSetConnection(own, 3, [2]);
  await (await clients[1].matrixDisconnect(matrices[1]!.node, 0, [1])).response;
  t.is(hub.find('router/out/0')!.value, -1);
  hub.write('router/out/1', 0, writer);
  await eventually(
    () => matrices.every(({ sources }) => ['', '0', '1', '2'].every((one, target) => sources.get(target) === one)),
    'the same matrix everywhere',
  );
  await (await clients[0].matrixSetConnection(matrices[0]!.node, 2, [9])).response; // no such source
  t.is(hub.find('router/out/2')!.value, 1);
  const levels = await Promise.all(clients.map((client) => client.getElementByPath('patchbay.desk.level')));
  await (await clients[0].setValue(levels[0], -1)).response;
  await eventually(() => levels[1].contents.value === -1, 'the value that another client has written');
});

for (const [streamFormat, id] of [
  ['value', 'bar'],
  ['float32', 'meter'],
] as const)
  test(`meters are streams for those who subscribe: ${id} as ${streamFormat}`, async (t) => {
    const { hub, port } = await start(t, { streamFormat });
    const values: number[] = [];
    const client = await firstClient(t, port);
    await client.expand(client.tree);
    client.on('streamUpdate', (_: string, one: number) => values.push(one));
    const meter = await client.getElementByPath(`patchbay.desk.${id}`);
    hub.write(`desk/${id}`, -1, writer);
    await client.subscribe(meter);
    let level = 0;
    await eventually(() => {
      hub.write(`desk/${id}`, id === 'bar' ? --level : --level / 4, writer);
      return values.length >= 5;
    }, 'values of a stream');
    t.true(
      values.every((one) => one < 0 && (one * 4) % 1 === 0),
      `${values}`,
    );
    await client.unsubscribe(meter);
    const frames = () => statusOf(hub, 'it').wire!.framesOut;
    await eventually(() => {
      const before = frames();
      for (let index = 0; index < 10; index++) hub.write(`desk/${id}`, --level, writer);
      return frames() === before;
    }, 'no more values');
  });

test('the hub mirrors another hub: 2,000 parameters, and those that a reload adds or removes', async (t) => {
  const port = await freePort();
  const parameters = Array.from({ length: 2000 }, (_, index) => `a/${index % 20}/p${index},I`);
  const settings = { read: [], write: ['desk/**'], matrices: {} };
  const hub = await startTestHub(t, flowOf(port, settings, parameters));
  await isRunning(hub);
  const mirror = await startTestHub(t, { connections: { it: { type: 'ember-plus', tcp: `127.0.0.1:${port}` } } });
  await isRunning(mirror);
  const at = (index: number) => mirror.find(`it/patchbay/desk/a/${index % 20}/p${index}`);
  t.is([...mirror.parameters()].length, 2000);
  mirror.write(at(1999)!.address, 5, writer);
  await mirror.whenConfirmed(at(1999)!, 30_000);
  t.is(hub.find('desk/a/19/p1999')!.value, 5);
  hub.write('desk/a/0/p0', 7, writer);
  await eventually(() => at(0)!.value === 7);
  const frames = () => statusOf(mirror, 'it').wire!.framesOut;
  const before = frames();
  await saveFlow(hub, flowOf(port, settings, [...parameters.slice(1), 'b/new,I', 'c/d/e/f,S']));
  await eventually(() => mirror.find('it/patchbay/desk/b/new') !== undefined, 'a new parameter');
  await eventually(() => mirror.find('it/patchbay/desk/c/d/e/f') !== undefined, 'a new parameter deeper down');
  hub.write('desk/b/new', 3, writer);
  await eventually(() => mirror.find('it/patchbay/desk/b/new')!.value === 3);
  await eventually(() => at(0)!.value === undefined, 'a removed parameter is offline');
  t.throws(() => mirror.write(at(0)!.address, 1, writer), { code: 'unavailable' });
  t.true(frames() - before < 50, 'the tree is not read again');
  await saveFlow(hub, flowOf(port, settings, parameters));
  hub.write('desk/a/0/p0', 8, writer);
  await eventually(() => at(0)!.value === 8, 'the same parameter again');
});

test('numbers of elements stay the same when the connection restarts', async (t) => {
  const { hub, port } = await start(t);
  const numbers = async () => {
    const client = await secondClient(t, port);
    await client.getDirectoryAsync();
    const name = await client.getElementByPathAsync('patchbay/desk/name');
    const path: string = name.getPath();
    await client.disconnectAsync();
    return path;
  };
  const before = await numbers();
  await saveFlow(hub, flowOf(port, { name: 'patchbay', streamEvery: 50 }, ['first,I', ...desk.slice(2)]));
  await isRunning(hub);
  t.is(await numbers(), before);
});

/** A consumer of bytes. */
async function plainClient(t: ExecutionContext, port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  const heard: string[] = [];
  const framer = s101Framing(4 * 1_048_576).createFramer(() => {});
  socket.on('data', (bytes: Buffer) => heard.push(...framer.push(bytes).map(showMessage)));
  return { socket, heard, send: (text: string) => socket.write(encodeMessage(readMessage(text))) };
}

test('clients that send garbage, frames cut at every byte, or too much, cost others nothing', async (t) => {
  const { hub, port } = await start(t, { requestsPerSecond: 200 });
  const good = await firstClient(t, port);
  await good.expand(good.tree);
  const bad = await plainClient(t, port);
  bad.socket.write('GET / HTTP/1.1\r\n\r\n');
  const whole = Buffer.from(encodeMessage(readMessage('1.2.1 = "text"; 1.2 node "x"')));
  for (let at = 1; at < whole.length; at++) bad.socket.write(whole.subarray(0, at));
  await eventually(() => refusedOf(hub) > 20, 'refused frames');
  bad.send('get 1');
  await eventually(() => bad.heard.some((one) => one.includes('node "desk"')), 'an answer after garbage');
  for (const path of ['9', '1.99', '1.1.1.1', '0']) bad.send(`get ${path}`);
  bad.send('invoke 1');
  await eventually(() => bad.heard.includes('result 1 failed'), 'a failed invocation');
  bad.send('1.1 connect 99 = 1; 1.1 connect 0 = 1,2,3');
  const before = refusedOf(hub);
  for (let index = 0; index < 1000; index++) bad.send('get 1.2');
  await eventually(() => refusedOf(hub) > before + 500, 'refused requests');
  const level = await good.getElementByPath('patchbay.desk.level');
  await eventually(async () => {
    await (await good.setValue(level, -2, false)).response;
    return hub.find('desk/level')!.value === -2;
  }, 'a write of another client');
  t.is(statusOf(hub, 'it').state, 'running');
});

test('consumers that vanish, stop reading or fall silent are disconnected; others notice nothing', async (t) => {
  const { hub, port } = await start(t, { idleTimeout: '900ms' });
  const silent = await plainClient(t, port);
  const closed = once(silent.socket, 'close');
  silent.send('get 1');
  const stopped: ChildProcess = fork(join(import.meta.dirname, 'stopped-client.ts'), [String(port)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  t.teardown(() => stopped.kill('SIGKILL'));
  await once(stopped, 'message');
  stopped.kill('SIGSTOP');
  const good = await secondClient(t, port);
  await good.getDirectoryAsync();
  const level = await good.getElementByPathAsync('patchbay/desk/level');
  await closed;
  t.true(silent.heard.includes('keep-alive'));
  for (let index = 0; index < 500; index++) {
    hub.write('desk/level', -index / 10, writer);
    hub.write('desk/name', `${'x'.repeat(5000)}${index}`, writer);
  }
  await eventually(() => level.contents.value === -49.9, 'the newest value');
  await eventually(() => hub.lines.filter(({ message }) => /has been silent for too long/.test(message)).length >= 1);
  await good.setValueAsync(level, 1);
  await eventually(() => hub.find('desk/level')!.value === 1, 'a write of another consumer');
  stopped.kill('SIGKILL');
});

test('a write to a device is answered once the device has confirmed or refused it', async (t) => {
  const device = await startDevice(t);
  const port = await freePort();
  const hub = await startTestHub(t, {
    connections: {
      far: { type: 'ember-plus', tcp: `127.0.0.1:${device.port}`, idleTimeout: '3s' },
      it: { type: 'ember-plus', listen: `127.0.0.1:${port}`, write: ['far/**'] },
    },
  });
  await eventually(() => statusOf(hub, 'far').state === 'running');
  const client = await firstClient(t, port);
  await client.expand(client.tree);
  const limited = await client.getElementByPath('patchbay.far.device.all.limited');
  // the client sets the value itself when it writes, so only an answer can set it back
  await eventually(async () => {
    await client.setValue(limited, 60, false); // again, should the device have seemed offline on a busy machine
    await after(200);
    return hub.find('far/device/all/limited')!.value === 60;
  }, 'a confirmed value');
  await client.setValue(limited, 101, false);
  t.is(limited.contents.value, 101);
  await eventually(() => limited.contents.value === 60, 'the answer that the device refuses it');
  device.child.kill('SIGSTOP');
  await eventually(() => limited.contents.isOnline === false, 'an element that is offline');
  device.child.kill('SIGCONT');
  await eventually(() => limited.contents.isOnline === true, 'an element that is online');
});

test('who is not allowed is refused, and the port survives', async (t) => {
  const { hub, port } = await start(t, { allowFrom: ['10.0.0.0/8'] });
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'close');
  t.true(refusedOf(hub) > 0);
  t.true(maxRequestBytes > 0);
});
