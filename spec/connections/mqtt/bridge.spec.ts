// The bridge: the parameters of a hub as topics of a real broker.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { thisTree } from '../../support/folder.ts';
import { type HubUnderTest, startTestHub, statusOf, writer } from '../../support/hub.ts';
import { joinBroker, type Mosquitto, startMosquitto } from '../../support/mosquitto.ts';
import { needs } from '../../support/programs.ts';
import { mistakesIn, platforms } from './home-assistant.ts';

needs('mosquitto');

const kinds = ['lamp,B,false', 'level,F,0.5', 'count,I,3', 'text,S,hi', 'go,T', 'a+b,I,1'];

async function startHub(
  t: ExecutionContext,
  { url }: Pick<Mosquitto, 'url'>,
  bridge: object = {},
  more: object = {},
  parameters: readonly string[] = kinds,
): Promise<HubUnderTest> {
  const hub = await startTestHub(t, {
    connections: {
      home: { type: 'mqtt', url, bridge: { prefix: 'hub', ...bridge }, ...more },
      desk: { type: 'dummy', parameters },
    },
  });
  await running(hub);
  return hub;
}

const running = (hub: HubUnderTest) =>
  eventually(() => statusOf(hub, 'home').state === 'running', 'the connection to run');
const becomes = (hub: HubUnderTest, address: string, value: unknown) =>
  eventually(() => hub.find(address)?.value === value, `${address} = ${value}`);

test('the tree has all values, retained, then online, and takes writes', async (t) => {
  const broker = await startMosquitto(t);
  const early = await joinBroker(t, broker);
  const hub = await startHub(t, broker);
  await early.hears('hub/status', 'online');
  t.is(early.heard.at(-1)!.topic, 'hub/status', 'online comes last');
  const late = await joinBroker(t, broker);
  await late.hears('hub/desk/level', '0.5');
  await late.hears('hub/desk/a%2Bb', '1');
  await late.say('hub/desk/lamp/set', 'ON');
  await late.hears('hub/desk/lamp', 'true');
  t.is(hub.find('desk/lamp')!.lastChange!.origin.name, 'home set');
  hub.write('desk/go', true, writer);
  await late.hears('hub/desk/go', '1');
  await late.say('hub/desk/count/set', 'nonsense');
  await hub.logged(/^rejected a message to hub\/desk\/count\/set: expected a number, got "nonsense"/);
  const again = await joinBroker(t, broker);
  await again.hears('hub/desk/lamp', 'true');
  t.true(again.heard.every(({ topic, isRetained }) => isRetained && topic !== 'hub/desk/go'));
});

test('a retained command is old, and is ignored', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  await other.say('hub/desk/lamp/set', 'true', true);
  const hub = await startHub(t, broker);
  await other.say('hub/desk/count/set', '9');
  await becomes(hub, 'desk/count', 9);
  t.is(hub.find('desk/lamp')!.value, false);
});

test('two hubs that share a tree agree, without echo', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  const first = await startHub(t, broker, { follow: ['desk/**'] });
  first.write('desk/level', 1, writer);
  await other.hears('hub/desk/level', '1');
  const second = await startHub(t, broker, { follow: ['desk/**'] });
  await becomes(second, 'desk/level', 1);
  other.heard.length = 0;
  for (let value = 1; value <= 100; value++) {
    first.write('desk/count', value, writer);
    second.write('desk/count', -value, writer);
  }
  first.write('desk/text', 'from the first', writer);
  await becomes(second, 'desk/text', 'from the first');
  second.write('desk/lamp', true, writer);
  await becomes(first, 'desk/lamp', true);
  await other.say('end', '');
  await other.hears('end', '');
  await eventually(() => first.find('desk/count')!.value === second.find('desk/count')!.value, 'the same value');
  t.is(Math.abs(first.find('desk/count')!.value as number), 100);
  for (const topic of ['hub/desk/text', 'hub/desk/lamp'])
    t.is(other.heard.filter((one) => one.topic === topic).length, 1, `${topic} is published once`);
  t.is(second.find('desk/text')!.lastChange!.origin.name, 'home follow');
});

test('what was changed while the broker was away wins over what the tree has, and the rest is taken over', async (t) => {
  const broker = await startMosquitto(
    t,
    (folder) =>
      `allow_anonymous true\npersistence true\npersistence_location ${folder}/\nautosave_on_changes true\nautosave_interval 1`,
  );
  const [first, second] = [
    await startHub(t, broker, { follow: ['desk/**'] }),
    await startHub(t, broker, { follow: ['desk/**'] }),
  ];
  await broker.kill('SIGTERM');
  await eventually(() => [first, second].every((hub) => statusOf(hub, 'home').state === 'degraded'));
  first.write('desk/count', 11, writer);
  second.write('desk/text', 'changed', writer);
  await broker.start();
  await Promise.all([running(first), running(second)]);
  await Promise.all([becomes(second, 'desk/count', 11), becomes(first, 'desk/text', 'changed')]);
  t.pass();
});

test('5,000 topics are complete within 5 s after the broker was killed and started again', async (t) => {
  const broker = await startMosquitto(t);
  const count = 5000;
  const hub = await startHub(
    t,
    broker,
    {},
    {},
    Array.from({ length: count }, (_, index) => `it/${index},I,${index}`),
  );
  const other = await joinBroker(t, broker);
  await eventually(() => other.last.size >= count + 1, 'all topics');
  await broker.kill();
  await eventually(() => statusOf(hub, 'home').state === 'degraded');
  hub.write('desk/it/7', 70_000, writer);
  await broker.start();
  const startMs = performance.now();
  await running(hub);
  const late = await joinBroker(t, broker);
  await eventually(() => late.last.size >= count + 1 && late.last.get('hub/desk/it/7') === '70000', 'all topics again');
  const takenMs = performance.now() - startMs;
  t.log(`${Math.round(takenMs)} ms`);
  t.true(takenMs < 15_000, 'of which 5 s are the promise, on a machine that does nothing else');
});

/** Stands between a hub and its broker, and cuts the links. */
async function startCut(t: ExecutionContext, port: number): Promise<{ readonly url: string; cut(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const to = connect(port, '127.0.0.1');
    for (const one of [socket, to]) sockets.add(one.on('error', () => {}));
    socket.pipe(to).pipe(socket);
    to.on('close', () => socket.destroy());
    socket.on('close', () => to.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(cut);
  return { url: `mqtt://127.0.0.1:${(server.address() as { port: number }).port}`, cut };
}

test('others see offline when the hub is gone, by its last will or when it stops', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  const between = await startCut(t, broker.port);
  await startHub(t, between);
  await other.hears('hub/status', 'online');
  between.cut();
  await other.hears('hub/status', 'offline');
  const hub = await startHub(t, broker);
  await other.hears('hub/status', 'online');
  await hub.stop();
  await other.hears('hub/status', 'offline');
  t.pass();
});

test('every kind of parameter has a document of Home Assistant, which goes with the parameter', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  await other.say('homeassistant/switch/patchbay_hub/gone/config', '{"name":"gone"}', true);
  const xml = { type: 'xml-file-output', filename: 'a.xml', template: '<a b="$Lamp"/>' };
  const hub = await startTestHub(t, {
    connections: {
      home: {
        type: 'mqtt',
        url: broker.url,
        bridge: { prefix: 'hub', homeAssistant: true, accept: ['desk/**', 'xml/**'] },
      },
      desk: { type: 'dummy', parameters: [...kinds, 'mode,I,0', 'source,S'] },
      seen: { type: 'dummy', parameters: [...kinds, 'mode,I,0'] },
      xml,
    },
    describe: {
      'desk/level': { label: 'Mic 1', unit: 'dB', min: -90, max: 10 },
      '*/mode': { choices: { off: 0, on: 1 } },
      'desk/source': { choices: { one: 'one', two: 'two' } },
    },
  });
  await running(hub);
  await other.hears('hub/status', 'online');
  await other.hears('homeassistant/switch/patchbay_hub/gone/config', '');
  const found = new Set<string>();
  const ids = new Set<string>();
  let documents = 0;
  for (const [topic, text] of other.last) {
    const [, component] = /^homeassistant\/([a-z_]+)\/patchbay_hub\/[a-zA-Z0-9_-]+\/config$/.exec(topic) ?? [];
    if (component === undefined || text === '') continue;
    const document = JSON.parse(text);
    found.add(component);
    documents++;
    t.deepEqual(mistakesIn(topic, text), [], topic);
    ids.add(document.unique_id);
  }
  t.deepEqual([...found].sort(), Object.keys(platforms).sort());
  t.is(ids.size, documents, 'each has its own');
  const level = JSON.parse(other.last.get('homeassistant/number/patchbay_hub/desk_level/config')!);
  t.like(level, {
    name: 'Mic 1',
    unit_of_measurement: 'dB',
    min: -90,
    max: 10,
    command_topic: 'hub/desk/level/set',
    state_topic: 'hub/desk/level',
  });
});

test('the recipe show-lamps-in-home-assistant shows the lamps with their labels, ranges and rights', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  const recipe = await readFile(join(thisTree, 'flows/cookbook/machines/show-lamps-in-home-assistant.json5'), 'utf8');
  t.true(recipe.includes('mqtt://10.0.0.5') && recipe.includes('simulate: true,'));
  const hub = await startTestHub(t, recipe.replace('mqtt://10.0.0.5', broker.url).replace('simulate: true,', ''));
  await other.hears('patchbay/status', 'online');
  const documents = [...other.last].filter(([topic]) => topic.startsWith('homeassistant/'));
  for (const [topic, text] of documents) t.deepEqual(mistakesIn(topic, text), []);
  t.deepEqual(documents.map(([topic, text]) => `${topic.split('/')[1]} ${JSON.parse(text).name}`).sort(), [
    'binary_sensor Red light',
    'button All lamps off',
    'number Level of the lamps',
    'switch Table lamp',
    'switch Wall lamp',
  ]);
  const commandOf = (component: string, name: string) =>
    documents
      .map(([topic, text]) => ({ topic, ...JSON.parse(text) }))
      .find((one) => one.topic.split('/')[1] === component && one.name === name);
  const table = commandOf('switch', 'Table lamp');
  await other.say(table.command_topic, table.payload_on);
  await other.hears(table.state_topic, table.state_on);
  t.true(hub.find('lamps/table')!.value);
  await other.say(commandOf('button', 'All lamps off').command_topic, '1');
  await other.hears(table.state_topic, table.state_off);
});
