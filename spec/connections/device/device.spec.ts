// A hub with a device: a Videohub whose side is written from the text of its protocol.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { filter, from, map, startWith } from 'rxjs';
import { connect as connectClient, type Stream } from '../../../lib/client/index.ts';
import { typesOf } from '../../../lib/command/types-command.ts';
import type { Hub } from '../../../lib/index.ts';
import { eventually, first } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { api, type HubUnderTest, startHubFrom, startTestHub, statusOf, writer } from '../../support/hub.ts';
import { type Peer, type PeerOptions, startPeer } from '../../support/peer.ts';
import { call } from '../../support/system/process.ts';

const outputs = 40;

interface Videohub extends Peer {
  readonly routing: number[];
  readonly labels: string[];
}

const block = (head: string, lines: readonly string[]) => `${head}:\n${lines.join('\n')}\n\n`;

/** What it says after a connect. */
function greetingOf({ routing, labels }: Pick<Videohub, 'routing' | 'labels'>): string {
  const numbered = (values: readonly (string | number)[]) => values.map((value, index) => `${index} ${value}`);
  return [
    block('PROTOCOL PREAMBLE', ['Version: 2.3']),
    block('VIDEOHUB DEVICE', ['Device present: true', 'Model name: Blackmagic Smart Videohub 40 x 40']),
    block('INPUT LABELS', numbered(routing.map((input) => `Camera ${input}`))),
    block('OUTPUT LABELS', numbered(labels)),
    block('VIDEO OUTPUT LOCKS', numbered(routing.map(() => 'U'))),
    block('VIDEO OUTPUT ROUTING', numbered(routing)),
    block('END PRELUDE', []),
  ].join('');
}

async function startVideohub(t: ExecutionContext, options: Partial<PeerOptions> = {}): Promise<Videohub> {
  const routing = Array.from({ length: outputs }, (_, output) => output);
  const labels = routing.map((output) => `Monitor ${output}`);
  const set = (lines: readonly string[], take: (output: number, value: string) => boolean) =>
    lines.every((line) => {
      const [, output, value] = /^(\d+) (.*)$/.exec(line) ?? [];
      return value !== undefined && Number(output) < outputs && take(Number(output), value);
    });
  const answer = (request: string) => {
    const [head, ...lines] = request.split('\n');
    if (head === 'PING:') return 'ACK\n\n';
    if (head === 'VIDEO OUTPUT ROUTING:') {
      const isTaken = set(lines, (output, value) => {
        if (Number(value) >= outputs) return false;
        routing[output] = Number(value);
        return true;
      });
      return isTaken ? `ACK\n\n${block('VIDEO OUTPUT ROUTING', lines)}` : 'NAK\n\n';
    }
    if (head !== 'OUTPUT LABELS:') return 'NAK\n\n';
    set(lines, (output, value) => {
      labels[output] = value;
      return true;
    });
    return `ACK\n\n${block('OUTPUT LABELS', lines)}`;
  };
  const peer = await startPeer(t, { greeting: () => greetingOf({ routing, labels }), end: '\n\n', answer, ...options });
  return Object.assign(peer, { routing, labels });
}

/** Waits until a parameter has a value. */
function until(hub: Hub, address: string, value: unknown): Promise<unknown> {
  const value$ = hub.changes$.pipe(
    startWith(undefined),
    map(() => hub.find(address)?.value),
    filter((now) => now === value),
  );
  return first(value$, `${address} = ${value}`);
}

/** Waits until a stream of the client library has emitted such a value. */
function emits<T>(stream$: Stream<T>, isSo: (value: T) => boolean): Promise<unknown> {
  return first(from(stream$).pipe(filter(isSo)));
}

const isRunning = (hub: Hub, id = 'router') => eventually(() => statusOf(hub, id).state === 'running');

const desk = { type: 'dummy', parameters: ['take,T', 'next,I,0', 'seen,I'] };
const routerAt = ({ port }: Peer) => ({
  type: 'device',
  tcp: `127.0.0.1:${port}`,
  protocol: 'videohub',
  statusParameter: true,
});

async function startRouter(t: ExecutionContext, peer: Peer, more: object = {}): Promise<HubUnderTest> {
  const hub = await startTestHub(t, {
    connections: { router: routerAt(peer), desk },
    rules: [
      { name: 'take', from: 'desk/take', map: '7', to: 'router/out/1' },
      { name: 'seen', from: 'router/out/1', to: 'desk/seen' },
    ],
    ...more,
  });
  await isRunning(hub);
  return hub;
}

test('all messages of a device arrive, with frames in pieces of any length', async (t) => {
  const hub = await startRouter(t, await startVideohub(t, { pieceBytes: 1 }));
  t.is(hub.find('router/model')!.value, 'Blackmagic Smart Videohub 40 x 40');
  t.is(hub.find('router/out/39')!.value, 39);
  t.is(hub.find('router/in/3/label')!.value, 'Camera 3');
  t.is(hub.find('router/out/3/lock')!.value, 'U');
});

test('the report of the device is the state, and the write its cause', async (t) => {
  const peer = await startVideohub(t);
  const hub = await startRouter(t, peer);
  hub.write('desk/take', 1, writer);
  t.is(hub.find('router/out/1')!.value, 1, 'the device has not said it yet');
  t.is(hub.find('router/out/1')!.wanted?.value, 7);
  await until(hub, 'router/out/1', 7);
  t.is(hub.find('router/out/1')!.wanted, undefined);
  const causes: string[] = [];
  for (let change = hub.find('router/out/1')!.lastChange; change !== undefined; change = change.cause)
    causes.push(`${change.parameter.address} by ${change.origin.name}`);
  t.deepEqual(causes, ['router/out/1 by router', 'router/out/1 by take', 'desk/take by spec']);
  t.is(hub.find('desk/seen')!.value, 7);
});

test('changes at the device arrive without a request', async (t) => {
  const peer = await startVideohub(t);
  const hub = await startRouter(t, peer);
  peer.send('VIDEO OUTPUT ROUTING:\n2 17\n5 18\n\n');
  await until(hub, 'router/out/5', 18);
  t.is(hub.find('router/out/2')!.value, 17);
  t.is(hub.find('router/out/2')!.lastChange!.cause, undefined);
});

test('all writes of a turn are sent in one frame, the newest of each parameter', async (t) => {
  const peer = await startVideohub(t);
  const hub = await startRouter(t, peer);
  hub.turn(() => {
    for (let output = 0; output < outputs; output++) {
      hub.write(`router/out/${output}`, 1, writer);
      hub.write(`router/out/${output}`, (output + 5) % outputs, writer);
    }
  });
  await until(hub, 'router/out/39', 4);
  t.is(peer.received.match(/VIDEO OUTPUT ROUTING:/g)?.length, 1);
  t.deepEqual(
    peer.routing,
    peer.routing.map((_, output) => (output + 5) % outputs),
  );
});

test('a write that the device refuses is no longer wanted, and the state stays', async (t) => {
  const hub = await startRouter(t, await startVideohub(t));
  hub.write('router/out/1', 99, writer);
  await hub.logged(/^cannot set out\/1: the device reported: NAK$/);
  t.is(hub.find('router/out/1')!.value, 1);
  t.is(hub.find('router/out/1')!.wanted, undefined);
});

test('a value that would be a second command is refused', async (t) => {
  const peer = await startVideohub(t);
  const hub = await startRouter(t, peer);
  for (const value of ['x\n5 3', 'x\n\nVIDEO OUTPUT ROUTING:\n0 9', 'x\r\n0 1', '\n'])
    t.throws(() => hub.write('router/out/1/label', value, writer), { code: 'out-of-range' });
  hub.write('router/out/1/label', 'Größe {n}', writer);
  await until(hub, 'router/out/1/label', 'Größe {n}');
});

test('the values of an offline device stay and are stale, it refuses writes, and the hub resends nothing after the reconnect', async (t) => {
  const peer = await startVideohub(t);
  const hub = await startRouter(t, peer, { connections: { api, router: routerAt(peer), desk } });
  hub.write('router/out/1', 3, writer);
  await until(hub, 'router/out/1', 3);
  await peer.stop();
  await eventually(() => hub.find('router/out/1')!.device?.staleSince !== undefined);
  t.is(hub.find('router/out/1')!.value, 3);
  t.throws(() => hub.write('router/out/1', 9, writer), { code: 'unavailable' });
  const before = peer.received.length;
  peer.routing[2] = 30; // somebody has turned it meanwhile
  const { revision } = hub;
  await peer.start();
  await until(hub, 'router/out/2', 30);
  await isRunning(hub);
  t.is(hub.find('router/out/1')!.device?.staleSince, undefined);
  const changed = [...hub.changedSince(revision)].map(({ address }) => address);
  t.deepEqual(
    changed.filter((address) => address.includes('out/')),
    ['router/out/2'],
    'an equal value does not count as a change',
  );
  t.notRegex(peer.received.slice(before), /ROUTING/);
  const explain = async (address: string) =>
    JSON.parse(await (await fetch(`http://127.0.0.1:${hub.port}/hub/explain/${address}`)).text()).chain[0];
  t.regex((await explain('router/out/2')).awaySince, /^20/, 'it was found when the device came back');
  t.is((await explain('router/out/1')).awaySince, undefined);
  peer.send('VIDEO OUTPUT ROUTING:\n2 17\n\n');
  await until(hub, 'router/out/2', 17);
  t.is((await explain('router/out/2')).awaySince, undefined);
});

test('a silent device counts as offline, although its link is up', async (t) => {
  let isSilent = false;
  const peer = await startVideohub(t, { answer: () => (isSilent ? undefined : 'ACK\n\n') });
  const router = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: 'videohub', idleTimeout: '300ms' };
  const hub = await startTestHub(t, { connections: { router } });
  await hub.logged(/^connection "router" is running$/);
  isSilent = true;
  await hub.logged(/^connection "router" is degraded: .* the device has been silent for 0\.3 s$/);
  t.not(hub.find('router/out/1')!.device?.staleSince, undefined);
});

test('withdrawals, declarations and values of one read happen in its order', async (t) => {
  const peer = await startPeer(t, { greeting: () => 'DONE 0\n', end: '\n', answer: () => undefined });
  const description = {
    about: 'Inputs that come and go',
    frame: { end: '\n' },
    parameters: {
      'in/{name}': { type: 'I', on: 'IN {name:word} {value:int}' },
      done: { type: 'I', on: 'DONE {value:int}' },
    },
    on: [{ pattern: 'DEL {name:word}', withdraw: 'in/{name}' }],
  };
  const folder = await createFolder(t, { 'inputs.device.json5': description });
  const it = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: join(folder, 'inputs.device.json5') };
  const hub = await startTestHub(t, { connections: { api, it } });
  await isRunning(hub, 'it');
  peer.send('IN a 1\nIN b 1\nDEL a\nIN a 2\nDEL b\nDONE 1\n');
  await until(hub, 'it/done', 1);
  t.is(hub.find('it/in/a')?.value, 2);
  t.is(hub.find('it/in/b'), undefined);
  const options = { url: `http://127.0.0.1:${hub.port}`, username: '', password: '', token: '' };
  const { output } = await call((console) => typesOf('it', options, console));
  t.deepEqual(JSON.parse(output), { done: 'I', 'in/a': 'I' });
  await t.throwsAsync(
    call((console) => typesOf('ti', options, console)),
    { message: /"ti" has none/ },
  );
  const rules = [{ name: 'named before it is there', from: 'it/in/a', to: 'desk/seen' }];
  const flow = { connections: { it: { ...it, expect: './it.types.json', simulate: true }, desk }, rules };
  const next = await startHubFrom(t, { 'flow.json5': flow, 'it.types.json': output });
  t.is(next.find('it/in/a')!.type, 'I');
  t.is(next.find('it/in/a')!.value, undefined);
  await t.throwsAsync(startHubFrom(t, { 'flow.json5': flow }), {
    message: /connections\.it\.expect: expected the output of patchbay types --of/,
  });
});

test('a device that sends only garbage is offline, and one that refuses a question is not', async (t) => {
  const description = {
    about: 'A device with a question',
    frame: { end: '\n' },
    timeout: '100ms',
    parameters: { level: { type: 'I', ask: { send: 'LEVEL?', reply: 'LEVEL {value:int}', fail: 'ERR' } } },
  };
  const ofLines = { send: 'LEVEL?', until: 'OK', reply: 'LEVEL\n{value:int}', fail: 'ERR' };
  const folder = await createFolder(t, {
    'level.device.json5': description,
    'lines.device.json5': { ...description, parameters: { level: { type: 'I', ask: ofLines } } },
  });
  const start = async (id: string, file: string, answer: string) => {
    const peer = await startPeer(t, { greeting: () => `${answer}\n`, end: '\n', answer: () => `${answer}\n` });
    return { [id]: { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: join(folder, file) } };
  };
  const hub = await startTestHub(t, {
    connections: {
      ...(await start('garbage', 'level.device.json5', 'LEVEL \x00\xffx')),
      ...(await start('refusing', 'level.device.json5', 'ERR')),
      ...(await start('garbage-lines', 'lines.device.json5', 'LEVEL \x00\xffx')),
      ...(await start('refusing-lines', 'lines.device.json5', 'ERR')),
    },
  });
  for (const lines of ['', '-lines']) {
    await hub.logged(new RegExp(`^connection "garbage${lines}" is degraded: .*: the device does not answer$`));
    await isRunning(hub, `refusing${lines}`);
    t.is(statusOf(hub, `garbage${lines}`).state, 'degraded');
  }
});

test('the link to a device that sends much, and nothing that is expected, ends before its time', async (t) => {
  const peer = await startPeer(t, { end: '\n', answer: () => undefined, greeting: () => 'garbage\n'.repeat(2500) });
  const hub = await startTestHub(t, {
    connections: { it: { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: 'lwrp' } },
  });
  await hub.logged(
    /^connection "it" is degraded: .*: the device has sent only unexpected messages, more than 16 KiB of them$/,
  );
  t.pass();
});

test('a device that is only listened to is running while it sends messages that a pattern matches', async (t) => {
  const heading = '$GPHDT,123.456,T*32\r\n';
  const garbage = '$GPHDT,99.9,T*00\r\n\xff\x00\r\n';
  let isGood = true;
  const [from, never, later] = await Promise.all([
    startPeer(t, { end: '\n', answer: () => undefined, greeting: () => heading }),
    startPeer(t, { end: '\n', answer: () => undefined, greeting: () => garbage }),
    startPeer(t, { end: '\n', answer: () => undefined, greeting: () => garbage }),
  ]);
  const sending = setInterval(() => {
    from.send(isGood ? heading : garbage);
    never.send(garbage);
  }, 20);
  t.teardown(() => clearInterval(sending));
  const device = (peer: Peer, more: object) => ({ type: 'device', tcp: `127.0.0.1:${peer.port}`, ...more });
  const hub = await startHubFrom(t, {
    'flow.json5': {
      connections: {
        from: device(from, { protocol: 'nmea', idleTimeout: '500ms' }),
        never: device(never, { protocol: 'nmea', idleTimeout: '500ms' }),
        later: device(later, { protocol: './it.device.json5' }),
      },
    },
    'it.device.json5': `{ about: 'It', frame: { end: '\\n' }, timeout: '20ms', parameters: { level: { type: 'I', on: 'LEVEL {value:int}' } } }`,
  });
  await hub.logged(/^connection "from" is running$/);
  await hub.logged(/^connection "later" is degraded: .*: the device sent none of the expected messages within 0\.1 s$/);
  later.send('LEVEL 5\n');
  await hub.logged(/^connection "later" is running$/);
  await hub.logged(
    /^connection "never" is degraded: .*: the device has sent none of the expected messages for 0\.\d s$/,
  );
  t.false(hub.lines.some(({ message }) => message === 'connection "never" is running'));
  isGood = false;
  await hub.logged(
    /^connection "from" is degraded: .*: the device has sent none of the expected messages for 0\.\d s$/,
  );
  t.is(hub.find('from/heading')!.value, 123.456);
});

test('a rule that the first value of a device starts can write to the device', async (t) => {
  let isMuted = 1;
  const answer = (request: string) => {
    if (request === 'ON?') return 'ON 1\n';
    if (request === 'MUTE 0') isMuted = 0;
    return request.startsWith('MUTE') ? `MUTE ${isMuted}\n` : undefined; // it has no model, and does not say so
  };
  const peer = await startPeer(t, { end: '\n', answer });
  const description = {
    about: 'A projector that opens its picture',
    frame: { end: '\n' },
    timeout: '200ms',
    window: 1,
    parameters: {
      on: { type: 'B', ask: { send: 'ON?', reply: 'ON {value:on(1,0)}' } },
      model: { type: 'S', ask: { send: 'MODEL?', reply: 'MODEL {value}' } },
      mute: { type: 'B', on: 'MUTE {value:on(1,0)}', write: { send: 'MUTE {value:on(1,0)}' } },
    },
  };
  const folder = await createFolder(t, { 'projector.device.json5': description });
  const it = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: join(folder, 'projector.device.json5') };
  const rules = [{ name: 'open', from: 'it/on', map: 'false', to: 'it/mute' }];
  const hub = await startTestHub(t, { connections: { it }, rules });
  await until(hub, 'it/mute', false);
  t.is(isMuted, 0);
});

test('one message sets a parameter once: its answer counts first, then the first pattern; a number that the device rounds is confirmed', async (t) => {
  let level = 105;
  const answer = (request: string) => {
    const isSet = request.startsWith('\x02');
    if (isSet) level = request.charCodeAt(1);
    if (request === 'S') return 'S\x04\x01!\xff';
    return request === '\x01' || isSet ? `\x01${String.fromCharCode(level)}\xff` : undefined;
  };
  const peer = await startPeer(t, { end: '\xff', answer });
  const description = {
    about: 'A level in 5/11 dB, and a source that an answer and an event say differently',
    format: 'hex',
    frame: { end: 'FF' },
    parameters: {
      level: {
        type: 'F',
        on: { pattern: '01 {v:uint}', value: '(v - 105) / 2.2' },
        ask: { send: '01' },
        write: { send: '02 {value:uint}', value: 'round(value * 2.2) + 105' },
      },
      source: {
        type: 'I',
        on: ['53 {value:uint} {name}', '53 {_:uint} {value:uint} {_}'],
        ask: { send: '53', reply: '53 {count:uint} {value:uint} {_}' },
      },
      named: { type: 'S', on: ['4E {value:one(01=first)}', { pattern: '4E {v:uint}', value: "'second'" }] },
    },
  };
  const folder = await createFolder(t, { 'level.device.json5': description });
  const it = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: join(folder, 'level.device.json5') };
  const hub = await startTestHub(t, { connections: { api, it, desk } });
  const seen: unknown[] = [];
  hub.changes$.subscribe(({ parameter, value }) => seen.push(`${parameter.address} ${value}`));
  await isRunning(hub, 'it');
  t.is(hub.find('it/source')!.value, 1, 'the reply counts');
  peer.send('S\x02abc\xffN\x01\xffN\x07\xff');
  await until(hub, 'it/named', 'second');
  t.deepEqual(
    seen.filter((one) => /named|source/.test(String(one))),
    ['it/source 1', 'it/source 2', 'it/named first', 'it/named second'],
  );
  hub.write('it/level', 3.3, writer);
  t.is(hub.find('it/level')!.wanted?.value, 3.3);
  await eventually(() => hub.find('it/level')!.wanted === undefined);
  t.is(hub.find('it/level')!.value, (112 - 105) / 2.2);
  const confirmed = await fetch(`http://127.0.0.1:${hub.port}/update?parameter=it/level&value=-3.3&confirm=5s`, {
    headers: { accept: 'application/json' },
  });
  t.deepEqual(await confirmed.json(), { p: 'it/level', v: (98 - 105) / 2.2 });
});

test('a write is confirmed by an answer to a question that was sent after it, not before it', async (t) => {
  const description = {
    about: 'A device whose answers overtake one another',
    frame: { end: '\n' },
    parameters: {
      level: {
        type: 'I',
        ask: { send: 'GET {id}', reply: '{id:int} = {value:int}' },
        // biome-ignore lint/suspicious/noThenProperty: it is a key of descriptions
        write: { send: 'SET {value:int} {id}', reply: 'OK {id:int}', then: 'ask' },
      },
    },
  };
  const folder = await createFolder(t, { 'level.device.json5': description });
  let level = 0;
  let asked = 0;
  let answer = () => {};
  const peer: Peer = await startPeer(t, {
    end: '\n',
    answer(request) {
      const [verb, first, id] = request.split(' ');
      if (verb === 'SET') {
        level = Number(first);
        return `OK ${id}\n`;
      }
      const text = `${first} = ${level}\n`;
      if (++asked !== 2) return text;
      answer = () => peer.send(text); // the answer to the second question waits
      return undefined;
    },
  });
  const it = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: join(folder, 'level.device.json5') };
  const hub = await startTestHub(t, { connections: { it } });
  await isRunning(hub, 'it');
  hub.write('it/level', 1, writer);
  await eventually(() => asked === 2);
  hub.write('it/level', 2, writer);
  await eventually(() => level === 2);
  setTimeout(answer, 50);
  await hub.whenConfirmed(hub.find('it/level')!, 4000);
  t.is(hub.find('it/level')!.value, 2);
});

test('two toggles in one turn toggle twice', async (t) => {
  const peer = await startVideohub(t);
  const hub = await startRouter(t, peer, {
    rules: [{ name: 'toggle', from: 'desk/take', map: "wanted('router/out/1') == 1 ? 2 : 1", to: 'router/out/1' }],
  });
  hub.write('desk/take', 1, writer);
  t.is(hub.find('router/out/1')!.wanted?.value, 2);
  hub.write('desk/take', 1, writer);
  t.is(hub.find('router/out/1')!.wanted?.value, 1);
  await eventually(() => hub.find('router/out/1')!.wanted === undefined);
  t.is(peer.routing[1], 1);
});

test('a simulated device confirms writes immediately', async (t) => {
  const router = { type: 'device', tcp: 'nowhere', protocol: 'videohub', simulate: true };
  const hub = await startTestHub(t, { connections: { router } });
  hub.write('router/out/1', 3, writer);
  t.is(hub.find('router/out/1')!.value, 3);
  t.throws(() => hub.write('router/out/1', 'x', writer), { code: 'not-convertible' });
});

test('a write waits for the confirmation of the device: 200, 504 without one, 503 while the device is offline', async (t) => {
  const peer = await startVideohub(t);
  const router = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: 'videohub' };
  const hub = await startTestHub(t, { connections: { api, router } });
  await isRunning(hub);
  const update = async (parameter: string, value: unknown, confirm: string) => {
    const answer = await fetch(`http://127.0.0.1:${hub.port}/update?confirm=${confirm}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ parameter, value }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  t.deepEqual(await update('router/out/1', 7, '5s'), { status: 200, text: '{"p":"router/out/1","v":7}' });
  t.is(hub.find('router/out/1')!.value, 7);
  t.is((await update('router/out/1', 7, '5s')).status, 200, 'an equal value is confirmed as well');
  const refused = await update('router/out/1', 99, '5s');
  t.is(refused.status, 504);
  t.regex(refused.text, /router\/out\/1: the device reported: NAK/);
  t.is((await update('router/in/1/label', 'x', '100ms')).status, 504, 'this peer refuses it');
  t.is((await update('router/out/1', 7, '5x')).status, 400);
  await peer.stop();
  await eventually(() => hub.find('router/out/1')!.device?.staleSince !== undefined);
  t.is((await update('router/out/1', 3, '5s')).status, 503);
  const read = async (path: string) => JSON.parse(await (await fetch(`http://127.0.0.1:${hub.port}${path}`)).text());
  const list = await read('/hub/parameters?address=router/out/1');
  t.regex(list[0].staleSince, /^20/);
  t.deepEqual(list[0].about, { min: 0, max: 9999, description: 'The input that the output shows' });
  const wire = await read('/hub/wire/router');
  t.true(
    wire.some(
      ({ direction, text }: { direction: string; text: string }) =>
        direction === 'out' && text === 'VIDEO OUTPUT ROUTING:\\n1 7',
    ),
  );
  t.is((await fetch(`http://127.0.0.1:${hub.port}/hub/wire/ruoter`)).status, 404);
  const metrics = await (await fetch(`http://127.0.0.1:${hub.port}/hub/metrics`)).text();
  const { framesIn } = statusOf(hub, 'router').wire!;
  t.true(metrics.includes(`patchbay_device_frames_total{id="router",direction="in"} ${framesIn}\n`), metrics);
  t.true(metrics.includes('patchbay_device_stale{id="router"} 1\n'));
  t.true(metrics.includes('patchbay_device_pending_writes{id="router"} 0\n'));
  const { connections } = await read('/hub/connections');
  const { device } = connections.find(({ id }: { id: string }) => id === 'router');
  t.regex(device.staleSince, /^20/);
  t.deepEqual(Object.keys(device), ['staleSince', 'pending']);
});

test('a write of a parameter that the device never reports is confirmed by the answer to it: 200, 504 when refused', async (t) => {
  const peer = await startPeer(t, {
    end: '\n',
    answer: (request) => (/ [1-4]$/.test(request) ? '+OK\n' : '-ERR no preset\n'),
  });
  const write = { send: 'RECALL {value:int}', reply: '+OK', fail: '-ERR {reason}' };
  const description = {
    about: 'Presets',
    frame: { end: '\n' },
    parameters: { preset: { type: 'I', optimistic: true, write } },
  };
  const folder = await createFolder(t, { 'dsp.device.json5': description });
  const dsp = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: join(folder, 'dsp.device.json5') };
  const hub = await startTestHub(t, { connections: { api, dsp } });
  await isRunning(hub, 'dsp');
  const recall = async (preset: number) => {
    const answer = await fetch(`http://127.0.0.1:${hub.port}/update?parameter=dsp/preset&value=${preset}&confirm=5s`);
    return { status: answer.status, text: await answer.text() };
  };
  t.is((await recall(3)).status, 200);
  t.is(hub.find('dsp/preset')!.value, 3);
  const refused = await recall(5);
  t.is(refused.status, 504, refused.text);
  t.regex(refused.text, /preset: .*-ERR no preset|preset: .*no preset/);
  t.is(hub.find('dsp/preset')!.value, 3);
});

test('clients see pending writes, metadata and stale values, also those that connect later', async (t) => {
  let isHeld = false;
  const peer = await startVideohub(t);
  const holding = await startPeer(t, {
    greeting: () => greetingOf(peer),
    end: '\n\n',
    answer: () => (isHeld ? undefined : 'ACK\n\n'),
  });
  const router = { type: 'device', tcp: `127.0.0.1:${holding.port}`, protocol: 'videohub' };
  const flow = (label: string) => ({ connections: { api, router }, describe: { 'router/out/1': { label } } });
  const hub = await startTestHub(t, flow('Desk'));
  await isRunning(hub);
  const open = async () => {
    const client = connectClient(`http://127.0.0.1:${hub.port}`);
    t.teardown(() => client.close());
    const output = client.param('router/out/1');
    output.subscribe(() => {});
    await client.whenLive();
    return output;
  };
  const early = await open();
  t.like(early.about, { label: 'Desk', min: 0, max: 9999 });
  t.is(early.wanted, undefined);
  isHeld = true;
  hub.write('router/out/1', 7, writer);
  await emits(early.wanted$, (wanted) => wanted === 7);
  t.is(early.value, 1);
  const late = await open();
  t.is(late.wanted, 7);
  holding.send('VIDEO OUTPUT ROUTING:\n1 7\n\n');
  await Promise.all([early, late].map(({ wanted$ }) => emits(wanted$, (wanted) => wanted === undefined)));
  t.is(early.value, 7, 'the value comes before');
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow('Screen')));
  await hub.reload();
  await emits(late.about$, (about) => about?.label === 'Screen');
  await holding.stop();
  await emits(late.stale$, (isStale) => isStale);
  t.is(late.value, 7);
  t.not(late.staleSince, undefined);
});

test('sent and received frames are shown without secrets', async (t) => {
  const peer = await startPeer(t, { greeting: () => 'OK MPD 0.23\n', end: '\n', answer: () => 'OK\n' });
  process.env.PB_SPEC_MPD = 'secret-word';
  const secrets = { password: { env: 'PB_SPEC_MPD' } };
  const player = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: 'mpd', secrets };
  const hub = await startTestHub(t, { connections: { player } });
  await isRunning(hub, 'player');
  t.true(peer.received.includes('password secret-word\n'));
  const shown = hub.wire('player', 0);
  t.true(shown.some(({ text, hex }) => text === 'password ***' && hex === undefined));
  t.false(JSON.stringify(shown).includes('secret-word'));
});

test('metadata of flow files has precedence over metadata of the device, also after a reload', async (t) => {
  const router = { type: 'device', tcp: 'nowhere', protocol: 'videohub', simulate: true };
  const flow = (label: string) => ({
    connections: { router },
    describe: { 'router/out/*': { label, max: 12 }, 'router/out/1': { label: 'Desk' } },
  });
  const hub = await startTestHub(t, flow('Monitor'));
  t.like(hub.find('router/out/1')!.about, { label: 'Desk', min: 0, max: 12 });
  t.is(hub.find('router/out/2')!.about?.label, 'Monitor');
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify({ ...flow('Screen') }));
  await hub.reload();
  t.is(hub.find('router/out/2')!.about?.label, 'Screen');
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify({ connections: { router } }));
  await hub.reload();
  t.deepEqual(hub.find('router/out/2')!.about, { min: 0, max: 9999, description: 'The input that the output shows' });
  const misspelt = { connections: { router }, describe: { 'router/ot/1': {} } };
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(misspelt));
  await t.throwsAsync(hub.reload(), { message: /describe\["router\/ot\/1"\]: unknown parameter .* did you mean/ });
});

test('the audit has the author of a write to a device, though the device has to confirm it', async (t) => {
  const peer = await startVideohub(t);
  const router = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: 'videohub' };
  const store = { type: 'store', folder: 'data' };
  const hub = await startTestHub(t, { connections: { api, store, router } });
  await isRunning(hub);
  hub.write('router/out/1', 7, writer);
  await until(hub, 'router/out/1', 7);
  await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${hub.port}/hub/audit?address=router/out/1`);
    const { entries = [] } = JSON.parse(await answer.text());
    return entries.some(
      ({ user, after }: { user: string; after: unknown }) => user === 'spec' && String(after) === '7',
    );
  }, 'the entry of the audit');
  t.pass();
});
