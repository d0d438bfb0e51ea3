// Devices that answer badly, one table for all built-in descriptions: answers that are cut at every byte, glued, with garbage between them,
// late, lost, doubled, in another order, and all of it at random. No value is wrong, no confirmed write is lost, and none is sent twice.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import test, { type ExecutionContext } from 'ava';
import { WebSocketServer } from 'ws';
import { protocolNames, readProtocol } from '../../../lib/connections/device/description.ts';
import type { Value } from '../../../lib/model/value.ts';
import { eventually } from '../../support/deadline.ts';
import { type HubUnderTest, startHubFrom, statusOf, writer } from '../../support/hub.ts';
import { type Peer, startPeer } from '../../support/peer.ts';
import { Random } from '../../support/random.ts';
import { type Fake, others, routers } from './fakes.ts';

/** What a bad device makes of an answer: what it sends, and after how many milliseconds. `number` counts the answers. */
type Fault = (answer: string, number: number, fake: Fake) => readonly (readonly [text: string, ms: number])[];

/** How many times shorter than described the device has to answer, and is asked again. */
const faster = 5;
const lateMs = 2300 / faster;
const few = 8;
/** How long a write may take. */
const confirmMs = 1500;
const seed = 7;

const whole: Fault = (answer, _, { garbage, hasLines }) => {
  const pieces = hasLines === true ? (answer.match(/[^\n]*\n/g) ?? []) : [answer];
  return [garbage, ...pieces.flatMap((piece) => [piece, garbage]), garbage].map((text) => [text, 0]);
};

const faults: Readonly<Record<string, Fault>> = {
  'cut, glued, or have garbage between them': whole,
  doubled: (answer, number) => [
    [answer, 0],
    [answer, 4 * (number % 3)],
  ],
  'in another order': (answer, number) => [[answer, 20 * (number % 3)]],
  'lost and late': (answer, number) => (number % 7 === 3 ? [] : [[answer, number % 5 === 2 ? lateMs : 0]]),
  'all of that at random': atRandom(new Random(seed, 0)),
};
/** All of it at random. */
function atRandom(random: Random): Fault {
  return (answer, _, { garbage }) =>
    random.pick([
      [[answer, 0]],
      [[answer, 0]],
      [[answer, 10]],
      [],
      [[answer, lateMs]],
      [
        [answer, 0],
        [answer, 0],
      ],
      [
        [garbage, 0],
        [answer, 0],
        [garbage, 5],
      ],
    ] as (readonly [string, number])[][]);
}

const fakes = {
  ...Object.fromEntries(Object.entries(routers).map(([name, create]) => [name, () => create(few)])),
  ...others,
};

test('the table has every built-in description but those over HTTP, where each answer comes with its request', (t) => {
  const names = protocolNames().filter((name) => !readProtocol(name).includes("transports: ['http']"));
  t.deepEqual(Object.keys(fakes).sort(), [...names].sort());
});

for (const [what, fault] of Object.entries(faults))
  test(`no value is wrong, no confirmed write is lost, and none is sent twice if answers are ${what}`, (t) =>
    answerBadly(t, fault));

/** A description that waits for answers, and asks again, in a tenth of the time. */
function fasterDescription(name: string): string {
  const inTenths = (_: string, key: string, number: string, unit: string) =>
    `${key}: '${(Number(number) * (unit === 'm' ? 60_000 : 1000)) / faster}ms'`;
  const text = readProtocol(name).replace(/\b(timeout|poll|every): '(\d+)(s|m)'/g, inTenths);
  return /^ {2}timeout:/m.test(text) ? text : text.replace(/^\{$/m, `{\n  timeout: '${2000 / faster}ms',`);
}

async function answerBadly(t: ExecutionContext, fault: Fault): Promise<void> {
  const isWhole = fault === whole;
  let isBad = false;
  let number = 0;
  const devices = new Map<string, Fake>(Object.entries(fakes).map(([name, create]) => [name, create()]));
  const connections: Record<string, object> = {};
  const files: Record<string, unknown> = { 'flow.json5': { connections } };
  for (const [name, fake] of devices) {
    const spread = (answers: readonly string[], send: (text: string) => void) => {
      const sent = answers.flatMap((one) => (isBad ? fault(one, number++, fake) : [[one, 0] as const]));
      for (const [text, ms] of sent)
        if (ms === 0) send(text);
        else setTimeout(() => send(text), ms);
    };
    const { target, send } = await start(t, fake, spread, isWhole ? 1 : undefined);
    const talking = fake.talk && setInterval(() => spread(fake.talk!(), send), 20);
    t.teardown(() => clearInterval(talking));
    const protocol = isWhole ? name : `./${name}.device.json5`;
    connections[name] = { type: 'device', ...target, protocol, ...fake.settings };
    if (!isWhole) files[protocol] = fasterDescription(name);
  }
  const hub = await startHubFrom(t, files);
  const wrongOf = (name: string, { state }: Fake, isRight: (id: string, value: Value | undefined) => boolean) =>
    [...state.now.keys()].flatMap((id) => {
      const value = hub.find(`${name}/${id}`)?.value;
      return isRight(id, value) ? [] : [`${name}/${id} = ${value}`];
    });
  const isRead = (name: string) => {
    const fake = devices.get(name)!;
    const isRight = (id: string, value: Value | undefined) =>
      fake.talk === undefined ? value === fake.state.get(id) : fake.state.hasHad(id, value);
    return statusOf(hub, name).state === 'running' && wrongOf(name, fake, isRight).length === 0;
  };
  for (const name of devices.keys()) await eventually(() => isRead(name), `${name} to be read`);
  const wrong = new Set<string>();
  const look = () => {
    for (const [name, fake] of devices)
      for (const one of wrongOf(name, fake, (id, value) => fake.state.hasHad(id, value))) wrong.add(one);
  };
  const looking = hub.changes$.subscribe(look);
  t.teardown(() => looking.unsubscribe());
  isBad = true;
  const counts = await Promise.all(
    [...devices].map(async ([name, fake]) => {
      const { state, writes } = fake;
      let confirmed = 0;
      const set = async ([id, values]: readonly [string, readonly Value[]]) => {
        for (const value of values) {
          if (!(await whenConfirmed(hub, `${name}/${id}`, value, isWhole ? 20_000 : confirmMs))) continue;
          confirmed++;
          t.is(state.commandsOf(id).at(-1), value, `${name}/${id} is confirmed`);
        }
        const commands = state.commandsOf(id);
        if (name !== 'sw-p-08') t.is(new Set(commands).size, commands.length, `${name}/${id} was sent ${commands}`); // it repeats by itself
      };
      await Promise.all(Object.entries(writes).map(set));
      const all = Object.values(writes).flat().length;
      if (isWhole) t.is(confirmed, all, name);
      return `${name} ${confirmed}/${all}`;
    }),
  );
  look();
  t.deepEqual([...wrong], []);
  t.log(counts.join(', '));
  isBad = false;
  for (const name of devices.keys())
    if (isWhole || /\bpoll:/.test(readProtocol(name)))
      await eventually(() => isRead(name), `the values of ${name} to be right again`);
}

/** Writes a value; resolves to whether the device has confirmed it. */
async function whenConfirmed(hub: HubUnderTest, address: string, value: Value, limitMs: number): Promise<boolean> {
  try {
    hub.write(address, value, writer);
    await hub.whenConfirmed(hub.find(address)!, limitMs);
    return true;
  } catch {
    return false; // refused, not confirmed in time, or offline
  }
}

/** Starts the fake: where it is, and what sends to all of its clients. */
async function start(
  t: ExecutionContext,
  fake: Fake,
  spread: (answers: readonly string[], send: (text: string) => void) => void,
  pieceBytes: number | undefined,
): Promise<{ readonly target: object; readonly send: (text: string) => void }> {
  if (fake.transport === 'tcp') {
    const peer: Peer = await startPeer(t, {
      ...(fake.greeting && { greeting: fake.greeting }),
      ...(fake.findEnd && { findEnd: fake.findEnd }),
      ...(pieceBytes !== undefined && { pieceBytes }),
      end: fake.end!,
      answer(request) {
        spread(fake.answer(request), peer.send);
        return undefined;
      },
    });
    return { target: { tcp: `127.0.0.1:${peer.port}` }, send: peer.send };
  }
  if (fake.transport === 'ws') {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    t.teardown(() => {
      for (const client of server.clients) client.terminate();
      server.close();
    });
    await once(server, 'listening');
    const send = (text: string) => {
      for (const client of server.clients) {
        const pieces = pieceBytes === undefined ? [text] : [...text];
        for (const [place, piece] of pieces.entries()) client.send(piece, { fin: place === pieces.length - 1 });
      }
    };
    server.on('connection', (client) => {
      client.send(fake.greeting!());
      client.on('message', (text) => spread(fake.answer(String(text)), send));
      client.on('error', () => {});
    });
    return { target: { ws: `ws://127.0.0.1:${(server.address() as { port: number }).port}` }, send };
  }
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  let client = 0;
  let isClosed = false;
  t.teardown(() => (isClosed = true));
  const send = (text: string) => {
    if (!isClosed) socket.send(Buffer.from(text, 'latin1'), client, '127.0.0.1');
  };
  socket.on('message', (bytes, { port }) => {
    client = port;
    spread(fake.answer(bytes.toString('latin1')), send);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { target: { udp: `127.0.0.1:${socket.address().port}` }, send };
}
