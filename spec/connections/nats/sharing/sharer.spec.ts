// A hub that joins its domain anew, as when its settings are reloaded, shares under other numbers: those that it gave before mean nothing.

import test from 'ava';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

const lamp = { type: 'I', access: 'read-write' } as const;

test('changes that a hub shares after it joined again arrive at their own parameters', async (t) => {
  const time = new Time();
  const network = new LossyNetwork(time, () => 0.5);
  const [west, east] = ['west', 'east'].map((name) => new JoinedHub(name, time, network.transportOf(name))) as [
    JoinedHub,
    JoinedHub,
  ];
  west.declare(...['a', 'b', 'c'].map((id, index) => ({ ...lamp, id, defaultValue: index })));
  await time.run(2000);
  t.deepEqual(east.valuesOf('west'), west.valuesOf('west'));
  west.rejoin((address) => address !== 'west/a');
  west.graph.write('west/c', 7, west.owner);
  await time.run(4000);
  t.deepEqual(east.valuesOf('west'), { 'west/b': 'I 1', 'west/c': 'I 7' });
  west.declare({ ...lamp, id: 'd', defaultValue: 4 });
  await time.run(6000);
  t.deepEqual(east.valuesOf('west'), { 'west/b': 'I 1', 'west/c': 'I 7', 'west/d': 'I 4' });
  t.is(east.graph.find('west/c')!.remote!.staleSince, undefined);
  for (const hub of [west, east]) hub.stop();
});
