// A write to a hub that is making its link anew: the server says at once that nobody listens, and some tries later somebody does.

import test from 'ava';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

test('a write waits for an owner that is back within its time, and is refused after that', async (t) => {
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
  t.deepEqual(results, [5, 'west/lamp: not confirmed by hub "west"; it may have taken effect']);
  t.is(west.graph.find('west/lamp')!.value, 5);
  west.stop();
  east.stop();
});
