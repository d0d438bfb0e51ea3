// A hub and a real broker: topics as parameters (D-48).

import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { type HubUnderTest, startTestHub, statusOf, writer } from '../../support/hub.ts';
import { joinBroker, type Mosquitto, startMosquitto } from '../../support/mosquitto.ts';
import { needs } from '../../support/programs.ts';

needs('mosquitto');

const desk = { type: 'dummy', parameters: ['seen,I,0', 'press,B,false'] };
const parameters = {
  lamp: {
    type: 'B',
    topic: 'z2m/lamp',
    path: 'state',
    on: 'ON',
    off: 'OFF',
    set: 'z2m/lamp/set',
    send: { state: '{value}' },
  },
  level: { type: 'F', topic: 'z2m/lamp', path: 'brightness', value: 'value / 254 * 100', unit: '%', min: 0, max: 100 },
  mode: {
    type: 'I',
    topic: 'heat/mode',
    set: 'heat/mode/set',
    choices: { off: 0, heat: 1 },
    availability: 'heat/there',
  },
  shared: { type: 'F', topic: 'house/level', set: 'house/level' },
  bell: { type: 'T', topic: 'bell', on: 'ring' },
  ring: { type: 'T', set: 'ring', on: 'now' },
  'room/{room}/temperature': { type: 'F', topic: 'rooms/{room}', path: 't', unit: '°C' },
};

async function startHub(
  t: ExecutionContext,
  broker: Mosquitto,
  more: object = {},
  settings: object = {},
): Promise<HubUnderTest> {
  const hub = await startTestHub(t, {
    connections: { home: { type: 'mqtt', url: broker.url, parameters, ...settings }, desk },
    ...more,
  });
  await running(hub);
  return hub;
}

const running = (hub: HubUnderTest) =>
  eventually(() => statusOf(hub, 'home').state === 'running', 'the connection to run');
const becomes = (hub: HubUnderTest, address: string, value: unknown) =>
  eventually(() => hub.find(address)?.value === value, `${address} = ${value}, not ${hub.find(address)?.value}`);

test('messages set parameters, by path, words, expressions and choices', async (t) => {
  const broker = await startMosquitto(t);
  const hub = await startHub(t, broker);
  const other = await joinBroker(t, broker);
  await other.say('z2m/lamp', '{"state":"ON","brightness":127}');
  await becomes(hub, 'home/lamp', true);
  await becomes(hub, 'home/level', 50);
  await other.say('heat/mode', 'heat');
  await becomes(hub, 'home/mode', 1);
  t.deepEqual(hub.find('home/mode')!.about, { choices: { off: 0, heat: 1 } });
  await other.say('rooms/kitchen', '{"t":21.5}');
  await becomes(hub, 'home/room/kitchen/temperature', 21.5);
  t.is(hub.find('home/room/kitchen/temperature')!.about!.unit, '°C');
  await other.say('z2m/lamp', '{"state":null}');
  await becomes(hub, 'home/lamp', undefined);
  await other.say('z2m/lamp', 'no JSON');
  await other.say('heat/mode', 'nonsense');
  await hub.logged(/^cannot read mode: expected a number, got "nonsense"/);
  t.is(hub.find('home/mode')!.value, 1);
});

test('a write is pending until its topic reports it, and is the cause of what it reports', async (t) => {
  const broker = await startMosquitto(t);
  const hub = await startHub(t, broker, { rules: [{ name: 'press', from: 'desk/press', to: 'home/lamp' }] });
  const other = await joinBroker(t, broker);
  await other.say('z2m/lamp', '{"state":"OFF"}');
  await becomes(hub, 'home/lamp', false);
  hub.write('desk/press', true, writer);
  await other.hears('z2m/lamp/set', '{"state":"ON"}');
  t.is(hub.find('home/lamp')!.value, false);
  t.is(hub.find('home/lamp')!.wanted?.value, true);
  await other.say('z2m/lamp', '{"state":"ON"}');
  await becomes(hub, 'home/lamp', true);
  t.is(hub.find('home/lamp')!.lastChange!.cause?.origin.name, 'press');
  t.false(other.heard.some(({ topic, isRetained }) => topic === 'z2m/lamp/set' && isRetained));
  t.throws(() => hub.write('home/mode', 7, writer), { message: /expected one of 0, 1, got 7/ });
  hub.write('home/ring', true, writer);
  await other.hears('ring', 'now');
});

test('a retained first value is shown and fires no rule; a retained trigger never fires', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  await other.say('heat/mode', 'heat', true);
  await other.say('bell', 'ring', true);
  const rules = [
    { name: 'seen', from: 'home/mode', map: '5', to: 'desk/seen' },
    { name: 'bell', from: 'home/bell', map: '7', to: 'desk/seen' },
  ];
  const hub = await startHub(t, broker, { rules });
  await becomes(hub, 'home/mode', 1);
  t.is(hub.find('desk/seen')!.value, 0);
  await other.say('heat/mode', 'off', true);
  await becomes(hub, 'desk/seen', 5);
  await other.say('bell', 'other');
  await other.say('bell', 'ring');
  await becomes(hub, 'desk/seen', 7);
});

test('values are stale without the broker, and what it then reports is found after the return', async (t) => {
  const broker = await startMosquitto(t);
  const hub = await startHub(t, broker, {
    rules: [{ name: 'seen', from: 'home/mode', map: 'value + 2', to: 'desk/seen' }],
  });
  const other = await joinBroker(t, broker);
  await other.say('heat/mode', 'off');
  await becomes(hub, 'desk/seen', 2);
  await broker.kill();
  await eventually(() => hub.find('home/mode')!.device?.staleSince !== undefined, 'a stale value');
  t.is(hub.find('home/mode')!.value, 0);
  t.throws(() => hub.write('home/mode', 1, writer), { code: 'unavailable' });
  await broker.start();
  await running(hub);
  await eventually(() => hub.find('home/mode')!.device?.staleSince === undefined, 'a fresh value');
  await other.say('heat/mode', 'heat', true);
  await becomes(hub, 'desk/seen', 3);
});

test('a device that is away is stale alone', async (t) => {
  const broker = await startMosquitto(t);
  const hub = await startHub(t, broker);
  const other = await joinBroker(t, broker);
  await other.say('heat/mode', 'off');
  await other.say('z2m/lamp', '{"state":"ON"}');
  await becomes(hub, 'home/lamp', true);
  await other.say('heat/there', 'offline', true);
  await eventually(() => hub.find('home/mode')!.device?.staleSince !== undefined, 'a stale value');
  t.is(hub.find('home/lamp')!.device!.staleSince, undefined);
  t.throws(() => hub.write('home/mode', 1, writer), { message: /mode: the device is offline/ });
  await other.say('heat/there', '{"state":"online"}', true);
  await eventually(() => hub.find('home/mode')!.device?.staleSince === undefined, 'a fresh value');
});

test('a topic that is shared both ways has no echo', async (t) => {
  const broker = await startMosquitto(t);
  for (const version of ['5', '3.1.1']) {
    const other = await joinBroker(t, broker);
    const hub = await startHub(t, broker, {}, { version });
    for (let value = 1; value <= 200; value++) hub.write('home/shared', value, writer);
    await other.hears('house/level', '200');
    await other.say('house/level', '7', true);
    await becomes(hub, 'home/shared', 7);
    await other.say('end', version);
    await other.hears('end', version);
    t.is(
      other.heard.filter(({ topic, text, isRetained }) => topic === 'house/level' && text === '7' && !isRetained)
        .length,
      1,
    );
    t.is(hub.find('home/shared')!.value, 7);
    await hub.stop();
  }
});

test('a value of a shared topic that was set while the broker was away wins over the retained one', async (t) => {
  const broker = await startMosquitto(
    t,
    (folder) =>
      `allow_anonymous true\npersistence true\npersistence_location ${folder}/\nautosave_on_changes true\nautosave_interval 1`,
  );
  const hub = await startHub(t, broker);
  const other = await joinBroker(t, broker);
  await other.say('house/level', '3', true);
  await becomes(hub, 'home/shared', 3);
  await broker.kill('SIGTERM');
  await eventually(() => statusOf(hub, 'home').state === 'degraded', 'the loss');
  hub.write('home/shared', 8, writer);
  await broker.start();
  await other.hears('house/level', '8');
  await running(hub);
  t.is(hub.find('home/shared')!.value, 8);
});

test('a broker that is stopped is away, and back when it continues', async (t) => {
  const broker = await startMosquitto(t);
  const hub = await startHub(t, broker, {}, { keepAlive: '1s', connectTimeout: '500ms' });
  broker.signal('SIGSTOP');
  await eventually(() => statusOf(hub, 'home').state === 'degraded', 'the loss');
  broker.signal('SIGCONT');
  await running(hub);
  t.pass();
});

test('errors of the settings have their places', async (t) => {
  const mistakes = async (settings: object) => {
    const error = await t.throwsAsync(
      startTestHub(t, { connections: { home: { type: 'mqtt', url: 'mqtt://localhost', ...settings } } }),
    );
    return error!.message;
  };
  t.regex(await mistakes({ paramters: {} }), /unknown .*"paramters", did you mean "parameters"\?/);
  t.regex(await mistakes({}), /expected at least one of `parameters`, `bridge` and `discover`/);
  const one = (settings: object) => mistakes({ parameters: { it: { type: 'F', ...settings } } });
  t.regex(await one({ topic: 'a/#' }), /parameters\.it\.topic: expected a topic without the wildcards/);
  t.regex(await one({}), /parameters\.it: expected topic, set, or both/);
  t.regex(
    await one({ topic: 'a', value: 'valu / 2' }),
    /parameters\.it\.value: unknown name "valu", did you mean "value"\?/,
  );
  t.regex(await one({ set: 'a', send: '{valu}' }), /parameters\.it\.send: unknown name "valu"/);
  t.regex(await one({ topic: 'a/{rom}' }), /parameters\.it\.topic: unknown variable "rom"/);
  t.regex(await mistakes({ url: 'mqtt://user:word@host', parameters }), /expected an address without credentials/);
  t.notRegex(await mistakes({ url: 'mqtt://user:word@host', parameters }), /word@/);
});
