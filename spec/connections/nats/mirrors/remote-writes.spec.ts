// A write to a hub that is making its link anew: the server says at once that nobody listens, and some tries later somebody does. One
// that was perhaps done already is not done again by the next run of its hub, and nobody writes what is not shared.

import test from 'ava';
import { describe, HubError } from '../../../../lib/model/error.ts';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

test('a write waits for an owner that returns in time, and is refused later', async (t) => {
  const time = new Time();
  const network = new LossyNetwork(time, () => 0.5);
  const west = new JoinedHub('west', time, network.transportOf('west'));
  const east = new JoinedHub('east', time, network.transportOf('east'));
  west.declare({ id: 'lamp', type: 'I', access: 'read-write', defaultValue: 1 });
  await time.run(2000);
  const parameter = east.graph.find('west/lamp')!;
  const results: unknown[] = [];
  const write = (input: number) =>
    void east.hub
      .writeRemote(parameter.remote!, [{ parameter, input }], { kind: 'client', name: 'spec' })
      .then(([result]) => results.push(result instanceof Error ? result.message : result));
  west.sharer.detach();
  write(5);
  await time.run(3000);
  t.deepEqual(results, []);
  west.sharer.attach(network.transportOf('west'));
  await time.run(5000);
  t.deepEqual(results, [5]);
  west.sharer.detach();
  write(6);
  await time.run(7100);
  t.deepEqual(results, [5, 'west/lamp: not confirmed by hub "west"; the write may have taken effect']);
  t.is(west.graph.find('west/lamp')!.value, 5);
  west.stop();
  east.stop();
});

async function startTwo() {
  const time = new Time();
  const network = new LossyNetwork(time, () => 0.5);
  network.faults = { lost: 0, doubled: 0, delayMs: 40 };
  const west = new JoinedHub('west', time, network.transportOf('west'));
  const east = new JoinedHub('east', time, network.transportOf('east'));
  west.declare(
    { id: 'bell', type: 'T', access: 'read-write' },
    { id: 'lamp', type: 'I', access: 'read-write', defaultValue: 1 },
    { id: 'own', type: 'I', access: 'read-write', defaultValue: 1 },
  );
  await time.run(2000);
  const write = async (id: string) => {
    const parameter = east.graph.find(`west/${id}`)!;
    const [result] = await east.hub.writeRemote(parameter.remote!, [{ parameter, input: 1 }], {
      kind: 'client',
      name: '',
    });
    return result instanceof Error ? result.message : result;
  };
  return { time, network, west, east, write };
}

test('a request to a hub that joins again meanwhile is not executed twice', async (t) => {
  const { time, network, west, east, write } = await startTwo();
  let fires = 0;
  west.graph.find('west/bell')!.subscribe(() => {
    fires++;
  });
  const written = write('bell');
  await time.run(2001);
  network.faults = { ...network.faults, lost: 100 }; // the answer
  await time.run(2100);
  t.is(fires, 1);
  west.rejoin();
  await time.run(2300);
  network.faults = { ...network.faults, lost: 0 };
  await time.run(5000);
  t.is(await written, 'west/bell: not confirmed, its hub has rejoined the domain; the write may have taken effect');
  t.is(fires, 1);
  const again = write('bell');
  await time.run(6000);
  t.is(await again, 1);
  for (const hub of [west, east]) hub.stop();
});

test('a hub writes for others only what it shares with them', async (t) => {
  const { time, network, west, east } = await startTwo();
  west.rejoin((address) => address !== 'west/own');
  await time.run(3000);
  const request = {
    ...{ hub: 'east', run: 'x', number: 0, asked: time.now(), by: ['client', ''], hop: 0, why: [] },
    epoch: [...east.mirrors.hubs()][0]!.epoch,
    items: ['own', 'lamp'].map((id) => [`west/${id}`, 5]),
  };
  const asked = network.transportOf('x').request('patchbay.house.west.write', JSON.stringify(request), 1000);
  await time.run(4500);
  t.deepEqual(JSON.parse(new TextDecoder().decode(await asked)).results, [
    { code: 'unknown-parameter', message: 'west/own: its hub does not share this parameter' },
    { v: 5 },
  ]);
  t.is(west.graph.find('west/own')!.value, 1);
  for (const hub of [west, east]) hub.stop();
});

test('a value too long for a message is refused immediately, because it was not sent', async (t) => {
  const { time, west, east } = await startTwo();
  west.declare({ id: 'text', type: 'S', access: 'read-write' });
  await time.run(4000);
  const parameter = east.graph.find('west/text')!;
  const writes = Array.from({ length: 20 }, () => ({ parameter, input: 'x'.repeat(60_000) }));
  const written = east.hub.writeRemote(parameter.remote!, writes, { kind: 'client', name: '' });
  const [first] = await written;
  t.is((first as Error).message, 'west/text: expected at most 900000 bytes of values for hub "west" at a time');
  west.stop();
  east.stop();
});

test('an invalid value is refused as its owner refuses it, and text too long for any message immediately', async (t) => {
  const { time, west, east } = await startTwo();
  const accept = (input: unknown) => {
    throw new HubError('out-of-range', `expected less, got ${describe(input)}`);
  };
  west.declare({ id: 'strict', type: 'I', access: 'read-write', accept });
  await time.run(4000);
  const deep = JSON.parse('['.repeat(30_000) + ']'.repeat(30_000)) as unknown;
  const inputs = [deep, Number.POSITIVE_INFINITY, undefined, Object(7), 5n];
  const writer = { kind: 'client', name: '' } as const;
  for (const id of ['lamp', 'bell', 'strict']) {
    const parameter = east.graph.find(`west/${id}`)!;
    const writes = inputs.map((input) => ({ parameter, input }));
    const written = east.hub.writeRemote(parameter.remote!, writes, writer);
    await time.run(time.now() + 1000);
    for (const [index, result] of (await written).entries())
      t.deepEqual(result, t.throws(() => west.hub.write(`west/${id}`, inputs[index], writer)) as HubError);
  }
  const parameter = east.graph.find('west/lamp')!;
  const huge = Array(3).fill({ parameter, input: 'x'.repeat(2 ** 28) });
  const [refused] = await withoutRoom(() => east.hub.writeRemote(parameter.remote!, huge, writer));
  t.regex((refused as Error).message, /^west\/lamp: expected at most 900000 bytes/);
  for (const hub of [west, east]) hub.stop();
});

/** Calls what makes a JSON text that is longer than any text may be, which V8 says only after it has filled half a gigabyte. */
function withoutRoom<T>(call: () => T): T {
  const { stringify } = JSON;
  JSON.stringify = () => 'x'.repeat(2 ** 30);
  try {
    return call();
  } finally {
    JSON.stringify = stringify;
  }
}

test('a write that nobody waits for any more is not executed, and the next request is', async (t) => {
  const { time, network, west, east, write } = await startTwo();
  network.faults = { ...network.faults, delayMs: 6000 }; // half of it is what each message takes
  const written = write('lamp');
  await time.run(4001);
  network.faults = { ...network.faults, delayMs: 40 };
  let changes = 0;
  west.graph.changes$.subscribe(() => changes++);
  west.graph.write('west/lamp', 7, west.owner);
  await time.run(8000);
  t.is(await written, 'west/lamp: not confirmed by hub "west"; the write may have taken effect');
  t.is(west.graph.find('west/lamp')!.value, 7);
  t.is(changes, 1);
  const again = write('lamp');
  await time.run(9000);
  t.is(await again, 1);
  for (const hub of [west, east]) hub.stop();
});

test('the duration of a broken link does not make a write late', async (t) => {
  const { time, network, west, east, write } = await startTwo();
  east.mirrors.detach();
  await time.run(62_000);
  east.mirrors.attach(network.transportOf('east'));
  await time.run(62_100); // it is mended, and no heartbeat has come yet
  t.is(east.graph.find('west/lamp')!.remote!.staleSince, undefined);
  const written = write('lamp');
  await time.run(62_300);
  t.is(await written, 1);
  for (const hub of [west, east]) hub.stop();
});
