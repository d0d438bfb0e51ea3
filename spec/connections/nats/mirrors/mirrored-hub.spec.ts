// A hub comes to declare a parameter that it has shown of another hub: its own one it is from then on, and nothing is left of the other.

import test, { type ExecutionContext } from 'ava';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

const declaration = { id: 'lamp', type: 'I', access: 'read-write', defaultValue: 1 } as const;

async function startTwo() {
  const time = new Time();
  const network = new LossyNetwork(time, () => 0.5);
  network.faults = { lost: 0, doubled: 0, delayMs: 40 };
  const [west, east] = ['west', 'east'].map((name) => new JoinedHub(name, time, network.transportOf(name))) as [
    JoinedHub,
    JoinedHub,
  ];
  west.declare(declaration, { ...declaration, id: 'other' });
  await time.run(2000);
  const declare = () => east.graph.declare({ kind: 'connection', name: 'west' }, [{ ...declaration, defaultValue: 2 }]);
  return { time, network, west, east, declare };
}

type Two = Awaited<ReturnType<typeof startTwo>>;

/** What west writes from now on does not come to what east has for itself; what else west has does. */
async function expectOwn(t: ExecutionContext, { time, west, east }: Two): Promise<void> {
  for (const value of [5, 6]) {
    west.graph.write('west/lamp', value, west.owner);
    west.graph.write('west/other', value, west.owner);
    await time.run(time.now() + 2000);
  }
  const all = [...east.graph.changedSince(0)];
  t.deepEqual(all.map(({ address, value }) => `${address} ${value}`).sort(), ['west/lamp 2', 'west/other 6']);
  t.is(east.graph.find('west/lamp')!.remote, undefined);
  t.true(all.every((one) => east.graph.find(one.address) === one));
  west.stop();
  east.stop();
}

test('a mirrored parameter that is declared locally no longer follows its hub', async (t) => {
  const two = await startTwo();
  t.deepEqual(two.east.valuesOf('west'), two.west.valuesOf('west'));
  two.declare();
  await expectOwn(t, two);
});

test('a parameter that was refused because another hub has it is shown once its local declaration ends', async (t) => {
  const { time, west, east, declare } = await startTwo();
  declare();
  const lamp = east.graph.find('west/lamp')!;
  east.hub.mirroring.entrust(lamp, { hub: 'west', staleSince: 0, write: async () => [] });
  await time.run(time.now() + 2000);
  t.is(lamp.value, 2);
  east.graph.remove([lamp]);
  await time.run(time.now() + 2000);
  t.deepEqual(east.valuesOf('west'), west.valuesOf('west'));
  west.stop();
  east.stop();
});

test('a lower term is refused, until no other has arrived for long: servers that lost all leases start again', async (t) => {
  const time = new Time();
  const network = new LossyNetwork(time, () => 0.5);
  const start = (name: string, term: number) => new JoinedHub(name, time, network.transportOf(name), term);
  const west = start('west', 2);
  west.declare(declaration);
  const east = start('east', 1);
  await time.run(2000);
  west.stop();
  const again = start('west', 1);
  again.declare({ ...declaration, defaultValue: 3 });
  await time.run(4500);
  t.deepEqual(east.valuesOf('west'), west.valuesOf('west'));
  await time.run(8000);
  t.deepEqual(east.valuesOf('west'), again.valuesOf('west'));
  t.is(east.graph.find('west/lamp')!.remote!.staleSince, undefined);
  for (const hub of [east, again]) hub.stop();
});

test('lost fires are reported also if parameters came and went meanwhile; fires of a new trigger are not', async (t) => {
  const { time, network, west, east } = await startTwo();
  const trigger = { type: 'T', access: 'read-write' } as const;
  west.declare({ ...trigger, id: 'go' });
  await time.run(3000);
  const lost: string[] = [];
  east.hub.mirroring.lost$.subscribe((fires) => {
    for (const [{ address }, count] of fires) lost.push(`${address} ${count}`);
  });
  const fire = (id: string) => west.graph.write(`west/${id}`, true, west.owner);
  fire('go');
  await time.run(4000);
  network.faults = { ...network.faults, lost: 100 };
  for (let count = 0; count < 3; count++) fire('go');
  west.withdraw('other');
  west.declare({ ...trigger, id: 'new' });
  fire('new');
  await time.run(4100);
  network.faults = { ...network.faults, lost: 0 };
  await time.run(8000);
  t.deepEqual(east.valuesOf('west'), west.valuesOf('west'));
  t.deepEqual(lost, ['west/go 3']);
  west.stop();
  east.stop();
});

test('a parameter that is declared locally during a request for missed changes does not follow its hub either', async (t) => {
  const two = await startTwo();
  const { network, west, time } = two;
  network.faults = { ...network.faults, lost: 100 };
  west.graph.write('west/lamp', 3, west.owner);
  await time.run(time.now() + 50);
  network.faults = { ...network.faults, lost: 0 };
  let asked = 0;
  network.transportOf('witness').subscribe('patchbay.house.west.walk', ({ data }) => {
    if (asked++ > 0) return;
    t.regex(new TextDecoder().decode(data), /^\{"since":/);
    two.declare();
  });
  await time.run(time.now() + 2000);
  t.true(asked > 0);
  await expectOwn(t, two);
});

test('parameters that are unknown after a restart of their hub, or after a new declaration, do not keep their old values', async (t) => {
  const { time, network, west, east } = await startTwo();
  const { defaultValue, ...unknown } = declaration;
  t.deepEqual(east.valuesOf('west'), { 'west/lamp': 'I 1', 'west/other': 'I 1' });
  network.faults = { ...network.faults, lost: 100 };
  west.withdraw('lamp');
  west.declare(unknown);
  await time.run(2100);
  network.faults = { ...network.faults, lost: 0 };
  await time.run(4000);
  t.deepEqual(east.valuesOf('west'), { 'west/lamp': 'I undefined', 'west/other': 'I 1' });
  west.stop();
  const again = new JoinedHub('west', time, network.transportOf('west'));
  again.declare(declaration, { ...unknown, id: 'other' });
  await time.run(6000);
  t.deepEqual(east.valuesOf('west'), { 'west/lamp': 'I 1', 'west/other': 'I undefined' });
  again.graph.write('west/other', 3, again.owner);
  await time.run(8000);
  t.deepEqual(east.valuesOf('west'), { 'west/lamp': 'I 1', 'west/other': 'I 3' });
  t.true([...east.graph.changedSince(0)].every((one) => east.graph.find(one.address) === one));
  for (const hub of [again, east]) hub.stop();
});

test('a value that returned to its old state during a break does not count as a change, but its latest writer is known', async (t) => {
  const { time, network, west, east } = await startTwo();
  const lamp = east.graph.find('west/lamp')!;
  const { revision } = lamp.lastChange!;
  let reported = 0;
  east.graph.changes$.subscribe(() => reported++);
  east.graph.repeated$.subscribe(() => reported++);
  const client = { kind: 'client', name: 'spec' } as const;
  network.faults = { ...network.faults, lost: 100 };
  west.graph.write('west/lamp', 2, west.owner);
  await time.run(time.now() + 100);
  west.graph.write('west/lamp', 1, client);
  const { time: setAt } = west.graph.find('west/lamp')!.lastChange!;
  await time.run(time.now() + 100);
  network.faults = { ...network.faults, lost: 0 };
  await time.run(time.now() + 2000);
  t.like(lamp.lastChange, { value: 1, origin: { ...client, hub: 'west' }, time: setAt, revision });
  t.is(reported, 0);
  t.deepEqual([...east.graph.changedSince(revision)], [east.graph.find('west/other')!]);
  const known = lamp.lastChange;
  east.mirrors.detach();
  west.rejoin();
  east.mirrors.attach(network.transportOf('east'));
  await time.run(time.now() + 3000);
  t.is(lamp.lastChange, known, 'it is told once more, and is the same change');
  west.graph.write('west/lamp', 3, west.owner);
  await time.run(time.now() + 500);
  t.is(reported, 1);
  t.true(lamp.lastChange!.revision > revision);
  for (const hub of [west, east]) hub.stop();
});

test('a hub that returns to the network before a mirrored hub asks that hub as soon as it hears from it', async (t) => {
  const { time, network, west, east } = await startTwo();
  for (const hub of [west, east]) {
    hub.sharer.detach();
    hub.mirrors.detach();
  }
  west.graph.write('west/lamp', 5, west.owner);
  await time.run(8000);
  east.mirrors.attach(network.transportOf('east'));
  await time.run(10_000); // nobody answers: it asks again each second by now
  west.sharer.attach(network.transportOf('west'));
  await time.run(10_200);
  t.is(east.graph.find('west/lamp')!.value, 5);
  t.is(east.graph.find('west/lamp')!.remote!.staleSince, undefined);
  west.stop();
  east.stop();
});
