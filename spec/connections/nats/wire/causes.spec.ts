// A rule without a name is called after all that it listens to, which may be long: its changes arrive, with the beginning of the name.

import test from 'ava';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

test('the writes of a rule with a long name arrive, also at later followers, and so do its causes', async (t) => {
  const time = new Time();
  const network = new LossyNetwork(time, () => 0.5);
  const start = (name: string) => new JoinedHub(name, time, network.transportOf(name));
  const [west, east] = [start('west'), start('east')];
  west.declare({ id: 'lamp', type: 'I', access: 'read-write', defaultValue: 1 });
  await time.run(2000);
  const rule = { kind: 'rule', name: 'a'.repeat(3000), file: 'b'.repeat(3000) } as const;
  west.graph.write('west/lamp', 5, rule);
  await time.run(4000);
  const late = start('late');
  await time.run(6000);
  for (const { graph, mirrors } of [east, late]) {
    const { name, file = '', hub } = graph.find('west/lamp')!.lastChange!.origin;
    t.deepEqual([name.length, file.length, hub], [1000, 1000, 'west']);
    t.true([...mirrors.hubs()].every(({ counts }) => counts.snapshots <= 1));
  }
  const parameter = east.graph.find('west/lamp')!;
  const written = east.hub.writeRemote(parameter.remote!, [{ parameter, input: 7 }], rule);
  await time.run(8000);
  t.deepEqual(await written, [7]);
  for (const hub of [west, east, late]) hub.stop();
});
