// Another one sends in the name of a hub: what makes no sense, or is not that hub's, changes nothing, and what the hub itself has comes back
// by itself.

import test, { type ExecutionContext } from 'ava';
import { Subject } from 'rxjs';
import type { Transport } from '../../../../lib/connections/nats/link/transport.ts';
import { JoinedHub, type JoinedHubOptions } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

const integer = { type: 'I', access: 'read-write' } as const;

async function startTwo(options: JoinedHubOptions = {}) {
  const time = new Time();
  const network = new LossyNetwork(time, () => 0.5);
  const west = new JoinedHub('west', time, network.transportOf('west'));
  west.declare({ ...integer, id: 'n', defaultValue: 1 }, { id: 'text', type: 'S', access: 'read-write' });
  const east = new JoinedHub('east', time, network.transportOf('east'), 1, options);
  await time.run(1000);
  /** What west has told last, which others may send again with something else in it. */
  let last: Record<string, unknown> = {};
  const rogue = network.transportOf('rogue');
  rogue.subscribe('patchbay.house.west.turns', ({ data }) => {
    last = JSON.parse(new TextDecoder().decode(data));
    return undefined;
  });
  await time.run(2250); // between two heartbeats
  const forge = (parts: object) => rogue.publish('patchbay.house.west.turns', JSON.stringify({ ...last, ...parts }));
  const stop = () => {
    for (const hub of [west, east]) hub.stop();
  };
  const wait = (ms: number) => time.run(time.now() + ms);
  return { time, network, west, east, rogue, forge, stop, wait, reported: () => last };
}

type Two = Awaited<ReturnType<typeof startTwo>>;

/** East goes on with what west has, and is fresh. */
async function expectWest(t: ExecutionContext, { west, east, wait }: Two, value: number): Promise<void> {
  west.graph.write('west/n', value, west.owner);
  await wait(600);
  t.is(east.graph.find('west/n')!.value, value);
  t.is(east.graph.find('west/n')!.remote!.staleSince, undefined);
  t.deepEqual(east.valuesOf('west'), west.valuesOf('west'));
}

for (const [what, parts] of Object.entries({
  'the greatest term there is': { term: Number.MAX_SAFE_INTEGER },
  'a great term': { term: 2 ** 40 },
  'the next term': { term: 2 },
  'a negative term': { term: -1 },
  'half a term': { term: 1.5 },
  'a negative revision': { rev: -5, prev: -5 },
  'a revision beyond all numbers': { rev: 2 ** 53, prev: 2 ** 53 },
  'a clock beyond all numbers': { clock: 1e300 },
  'text for a structure': { structure: '0' },
  'a deep epoch': { epoch: ['e'] },
  'an epoch of a megabyte': { epoch: 'x'.repeat(899_000) },
  'no turns': { turns: undefined },
  'an object of turns': { turns: { length: 1 } },
  'a machine that is a list': { machine: [] },
  'a hub that is another one': { hub: 'east' },
  'a hub of no name': { hub: '__proto__' },
}))
  test(`${what} changes nothing, once or permanently`, async (t) => {
    const two = await startTwo();
    two.forge(parts);
    await two.wait(100);
    await expectWest(t, two, 5);
    const stale: unknown[] = [];
    two.east.hub.mirroring.stale$.subscribe({ next: (one) => stale.push(one) });
    for (let count = 0; count < 50; count++) {
      two.forge(parts);
      await two.wait(100);
    }
    await expectWest(t, two, 6);
    t.deepEqual(stale, [], 'it was never stale');
    two.stop();
  });

test('a term is believed once its lease is held, and the previous one no longer', async (t) => {
  let terms: ReadonlySet<number> | undefined = new Set([1]);
  const two = await startTwo({ ownership: { termsOf: async () => terms } });
  const [mirror] = [...two.east.mirrors.hubs()];
  two.forge({ term: 4 });
  await two.wait(2000);
  t.is(mirror!.term, 1);
  terms = undefined; // nobody can say
  two.forge({ term: 4 });
  await two.wait(2000);
  t.is(mirror!.term, 1);
  two.west.stop();
  const again = new JoinedHub('west', two.time, two.network.transportOf('west'), 4);
  again.declare({ ...integer, id: 'n', defaultValue: 9 });
  await two.wait(1000);
  t.is(two.east.graph.find('west/n')!.value, 1);
  terms = new Set([4]);
  await two.wait(1500);
  t.is(mirror!.term, 4);
  t.is(two.east.graph.find('west/n')!.value, 9);
  two.forge({ term: 1 });
  await two.wait(2000);
  t.is(mirror!.term, 4);
  again.stop();
  two.east.stop();
});

test('a revision that is far ahead, and a turn that fits, are detected by the messages of the hub itself', async (t) => {
  const two = await startTwo();
  const value = () => two.east.graph.find('west/n')!.value;
  const rev = two.reported().rev as number;
  two.forge({ prev: rev, rev: Number.MAX_SAFE_INTEGER, turns: [[0, 666]] });
  await two.wait(10);
  t.is(value(), 666);
  await two.wait(700);
  t.is(value(), 1, 'the next heartbeat contradicts it');
  const next = two.reported().rev as number;
  two.forge({ prev: next, rev: next + 1, turns: [[0, 667]] });
  await two.wait(10);
  t.is(value(), 667);
  two.west.graph.write('west/n', 5, two.west.owner);
  await two.wait(300);
  t.is(value(), 5, 'so does the next turn');
  await expectWest(t, two, 6);
  two.stop();
});

test('earlier messages, of any epoch, cause few requests to the hub', async (t) => {
  const two = await startTwo();
  const before = two.reported();
  for (let value = 2; value < 20; value++) await expectWest(t, two, value);
  let asked = 0;
  two.network.transportOf('witness').subscribe('patchbay.house.west.walk', () => {
    asked++;
    return undefined;
  });
  for (let count = 0; count < 1000; count++) {
    two.forge(before);
    two.forge({ ...before, epoch: `epoch ${count}`, structure: count });
    two.forge({ prev: 1_000_000 + count, rev: 2_000_000 + count, turns: [[0, 1]] });
    await two.wait(10);
  }
  t.true(asked <= 200, `${asked} walks in 10 s of three hundred lies a second`);
  await two.wait(1500);
  await expectWest(t, two, 77);
  two.stop();
});

for (const [what, changes] of Object.entries({
  'half a whole number': [0, 1.5],
  'a whole number that is too large': [0, 2 ** 53],
  'a truth': [0, true],
  'text for a boolean or a number': [0, '7'],
  'a list': [0, [1]],
  nothing: [0, null],
  'text of too many characters': [1, 'x'.repeat(65_537)],
  'half a character': [1, '\ud800'],
  'a number for text': [1, 5],
  'a name that is an object': [{ by: ['client', {}], at: 1 }, 0, 5],
  'a writer of no kind': [{ by: ['root', 'x'], at: 1 }, 0, 5],
  'a context with more in it': [{ by: ['client', 'x'], at: 1, __proto__2: 1 }, 0, 5],
  'a hop that is negative': [{ at: 1, hop: -1 }, 0, 5],
  'a cause at no address': [{ at: 1, why: [['__proto__', 'I', 1, ['client', 'x'], 1, 0]] }, 0, 5],
}))
  test(`a value that is ${what} is ignored, and the hub is believed again`, async (t) => {
    const two = await startTwo();
    const rev = two.reported().rev as number;
    const before = two.east.valuesOf('west');
    two.forge({ prev: rev, rev: rev + 1, turns: [changes] });
    await two.wait(50);
    t.deepEqual(two.east.valuesOf('west'), before);
    await two.wait(1000);
    await expectWest(t, two, 8);
    two.stop();
  });

test('an impossible time is not the time of a change', async (t) => {
  const two = await startTwo();
  const rev = two.reported().rev as number;
  two.forge({ prev: rev, rev: rev + 1, turns: [[{ at: 8e15 }, 0, 5]] });
  await two.wait(10);
  const lamp = two.east.graph.find('west/n')!;
  t.is(lamp.value, 5);
  t.true(lamp.lastChange!.time <= two.time.now());
  two.stop();
});

/** A hub in the raw that answers with these definitions and no values. */
function answerWith(network: LossyNetwork, name: string, definitions: readonly unknown[]): Transport {
  const transport = network.transportOf(name);
  const head = { hub: name, epoch: `${name} 1`, term: 0, rev: 1, clock: 0, structure: 0 };
  transport.subscribe(`patchbay.house.${name}.walk`, ({ data, reply }) => {
    const { from } = JSON.parse(new TextDecoder().decode(data));
    reply(JSON.stringify(from === undefined ? { ...head, changes: [] } : { ...head, definitions }));
    return undefined;
  });
  transport.publish(`patchbay.house.${name}.turns`, JSON.stringify({ ...head, prev: 1, turns: [] }));
  return transport;
}

for (const [what, definition] of Object.entries({
  'an address that is none': [0, '__proto__', 'I', 'read-write'],
  'an address of objects': [0, '__proto__/x', 'I', 'read-write'],
  'an address with a control character': [0, 'desk/\u001b[2J', 'I', 'read-write'],
  'an address of a thousand segments': [0, `desk${'/x'.repeat(1000)}`, 'I', 'read-write'],
  'no type': [0, 'desk/a', 'X', 'read-write'],
  'no access': [0, 'desk/a', 'I', 'all'],
  'no number': [-1, 'desk/a', 'I', 'read-write'],
  'more than it has': [0, 'desk/a', 'I', 'read-write', 5],
}))
  test(`parameters of which one has ${what} are not shown`, async (t) => {
    const two = await startTwo();
    answerWith(two.network, 'evil', [[7, 'desk/good', 'I', 'read-write'], definition]);
    await two.wait(1000);
    t.deepEqual(two.east.valuesOf('desk'), {});
    await expectWest(t, two, 8);
    two.stop();
  });

test('a repeated address or number is not a definition', async (t) => {
  for (const second of [
    [1, 'desk/a', 'I', 'read-write'],
    [0, 'desk/b', 'I', 'read-write'],
  ]) {
    const two = await startTwo();
    answerWith(two.network, 'evil', [[0, 'desk/a', 'I', 'read-write'], second]);
    await two.wait(1000);
    t.deepEqual(two.east.valuesOf('desk'), {});
    two.stop();
  }
});

test('connections of this hub, and connections claimed by others, are not shown as those of another sender', async (t) => {
  const claims = new Map([['desk', 'west']]);
  const claimed$ = new Subject<void>();
  const ownership = { ownerOf: (id: string) => claims.get(id), claimed$ };
  const two = await startTwo({ ownership });
  two.east.declare({ ...integer, id: 'own', defaultValue: 3 });
  answerWith(two.network, 'evil', [
    [0, 'east/own', 'I', 'read-write'],
    [1, 'east/more', 'I', 'read-write'],
    [2, 'desk/lamp', 'I', 'read-write'],
    [3, 'rack/lamp', 'I', 'read-write'],
  ]);
  await two.wait(1000);
  const shown = () => [...two.east.graph.parameters()].map(({ address, remote }) => `${address} of ${remote?.hub}`);
  t.deepEqual(shown().sort(), ['east/own of undefined', 'rack/lamp of evil', 'west/n of west', 'west/text of west']);
  t.is(two.east.graph.find('east/own')!.value, 3);
  claims.set('rack', 'west');
  claimed$.next();
  await two.wait(100);
  t.false(shown().includes('rack/lamp of evil'));
  claims.set('rack', 'evil');
  claims.set('desk', 'evil');
  claimed$.next();
  const head = { hub: 'evil', epoch: 'evil 1', term: 0, rev: 1, prev: 1, clock: 5, structure: 0, turns: [] };
  two.network.transportOf('evil').publish('patchbay.house.evil.turns', JSON.stringify(head));
  await two.wait(1000);
  t.true(['rack/lamp of evil', 'desk/lamp of evil'].every((one) => shown().includes(one)));
  two.stop();
});

test('of more parameters than the limit the first are shown, and the log names the hub', async (t) => {
  const two = await startTwo({ maxParameters: 10 });
  answerWith(
    two.network,
    'evil',
    Array.from({ length: 25 }, (_, number) => [number, `desk/p${number}`, 'I', 'read-write']),
  );
  await two.wait(1000);
  t.is(Object.keys(two.east.valuesOf('desk')).length, 10);
  t.true(two.east.log.lines.some(({ message }) => message.startsWith('hub "evil" shares more than 10 parameters')));
  await expectWest(t, two, 8);
  two.stop();
});

test('text above the limit is not shown at all, rather than its earlier value', async (t) => {
  const two = await startTwo({ maxParameters: 1000 });
  const count = 700; // 700 texts of 65,536 characters are more than 32 Mi
  two.west.declare(
    ...Array.from({ length: count }, (_, number) => ({
      id: `t${number}`,
      type: 'S' as const,
      access: 'read-write' as const,
      defaultValue: 'old',
    })),
  );
  await two.wait(2000);
  for (let number = 0; number < count; number++) {
    two.west.graph.write(`west/t${number}`, `${number} `.padEnd(65_536, 'x'), two.west.owner);
    if (number % 10 === 9) await two.wait(20);
  }
  await two.wait(5000);
  const shown = Object.keys(two.east.valuesOf('west')).length;
  t.true(shown >= 500 && shown < count, `${shown} are shown`);
  const [reported, has] = [two.east.valuesOf('west'), two.west.valuesOf('west')];
  t.true(Object.entries(reported).every(([address, value]) => has[address] === value));
  t.true(two.east.log.lines.some(({ message }) => message.startsWith('hub "west" shares more text')));
  two.stop();
});

test('hundreds of thousands of invalid fires, definitions and requests take no time', async (t) => {
  const two = await startTwo();
  const { network, wait } = two;
  const listed = Array.from({ length: 200_000 }, () => 'x');
  const evil = answerWith(network, 'evil', listed);
  const { user: before } = process.cpuUsage();
  await wait(500);
  const request = {
    run: 'r',
    number: 1,
    epoch: 'e',
    asked: 1,
    by: ['client', 'x'],
    hop: 0,
    why: listed,
    items: listed,
  };
  for (let count = 0; count < 20; count++) {
    evil.publish('patchbay.house.evil.turns', JSON.stringify({ ...two.reported(), hub: 'evil', turns: listed }));
    evil.publish('patchbay.house.west.write.evil', JSON.stringify(request));
  }
  await wait(500);
  const ms = (process.cpuUsage().user - before) / 1000;
  t.true(ms < 3000, `${ms} ms of processor time`);
  await expectWest(t, two, 8);
  two.stop();
});

test('a megabyte of brackets, and of keys, is scanned but not parsed', async (t) => {
  const two = await startTwo();
  const evil = two.network.transportOf('evil');
  const depth = 400_000;
  const keys = Array.from({ length: 50_000 }, (_, index) => `"key ${index}":1`).join();
  const { turns, ...head } = { ...two.reported(), hub: 'evil' } as Record<string, unknown>;
  const begin = JSON.stringify(head).slice(0, -1);
  const texts = [
    `${begin},"turns":${'['.repeat(depth)}${']'.repeat(depth)}}`,
    `${begin},"turns":[{${keys}}]}`,
    `${begin},"turns":[["${'\\"['.repeat(5000)}"]]}`,
    'x'.repeat(2_000_000),
  ];
  const { user: before } = process.cpuUsage();
  for (let count = 0; count < 10; count++) for (const text of texts) evil.publish('patchbay.house.evil.turns', text);
  await two.wait(100);
  const ms = (process.cpuUsage().user - before) / 1000 / 10;
  t.true(ms < 60, `${ms} ms of processor time for these four`);
  await expectWest(t, two, 8);
  two.stop();
});
