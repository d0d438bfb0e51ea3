// A hub that tells what makes no sense: its mirror says so, asks again less and less often, and everything else goes on.

import test, { type ExecutionContext } from 'ava';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

const head = { hub: 'west', epoch: 'e', term: 1, rev: 1, clock: 0 };

/** A hub in the raw, of one parameter: it answers with these values, and tells these turns. */
async function startRaw(changes: unknown) {
  const time = new Time();
  const network = new LossyNetwork(time, () => 0.5);
  const west = network.transportOf('west');
  const asked: number[] = [];
  west.subscribe('patchbay.house.west.walk', ({ data, reply }) => {
    const { from } = JSON.parse(new TextDecoder().decode(data));
    if (from !== undefined) asked.push(time.now());
    const definitions = [[5, 'west/lamp', 'F', 'read-write']];
    reply(JSON.stringify({ ...head, structure: 0, ...(from === undefined ? { changes } : { definitions }) }));
  });
  const ownership = { termsOf: async () => new Set([head.term]) };
  const east = new JoinedHub('east', time, network.transportOf('east'), 1, { ownership });
  const notify = (rev: number, turns: string) => {
    const { hub, epoch, term } = head;
    const reported = { hub, epoch, term, structure: 0, clock: 0, prev: rev - 1, rev };
    west.publish('patchbay.house.west.turns', `${JSON.stringify(reported).slice(0, -1)},"turns":${turns}}`);
  };
  notify(1, '[]');
  await time.run(50);
  return { time, network, east, notify, asked };
}

async function expectMistrust(t: ExecutionContext, turn: string): Promise<void> {
  const { time, east, notify, asked } = await startRaw([{ at: 5 }, 5, 1]);
  const lamp = east.graph.find('west/lamp')!;
  t.is(lamp.value, 1);
  notify(2, `[[{"at":5},5,2],${turn}]`);
  await time.run(100);
  t.is(asked.length, 1);
  east.declare({ id: 'own', type: 'I', access: 'read-write' });
  east.graph.write('east/own', 7, east.owner);
  t.is(east.graph.find('east/own')!.value, 7);
  await time.run(1000);
  t.is(asked.length, 2);
  t.is(lamp.value, 1);
  t.is(lamp.lastChange!.time, 5);
  notify(2, '[[5,3]]');
  await time.run(1100);
  t.is(lamp.value, 3);
  east.stop();
}

for (const turn of [
  '["length",6]',
  '["0",6]',
  '[true,6]',
  '[5,"6"]',
  '[5,1e400]',
  '[{"at":1e300},5,6]',
  '[{"at":1e400,"by":["client","x"]},5,6]',
  '[{"at":0.5},5,6]',
  '[{"why":[["west/lamp","F",1,["client","x"],1e17,0]]},5,6]',
])
  test(`an invalid turn ${turn} is ignored, its hub is asked again, and this hub continues`, expectMistrust, turn);

test('a hub with invalid answers is asked less and less often, and normally once they are valid', async (t) => {
  const changes: unknown[] = [5, 'text'];
  const { time, east, asked, notify } = await startRaw(changes);
  await time.run(10_000);
  t.deepEqual(
    asked.slice(1).map((at, index) => Math.round((at - asked[index]!) / 100)),
    [1, 2, 4, 8, 16, 32],
  );
  changes[1] = 4;
  await time.run(40_000);
  t.is(asked.length, 8);
  t.is(east.graph.find('west/lamp')!.value, 4);
  await time.run(80_000);
  notify(2, '[["length",5]]');
  await time.run(80_500);
  t.is(asked.length, 9);
  east.stop();
});

test('a message with a hub name other than that of its subject is ignored, for both hubs', async (t) => {
  const { time, network, east, notify } = await startRaw([{ at: 5 }, 5, 1]);
  const reported = { ...head, structure: 0, prev: 1, rev: 1, turns: [] };
  const evil = (message: object) =>
    network.transportOf('evil').publish('patchbay.house.evil.turns', JSON.stringify(message));
  evil({ ...reported, epoch: 'fake', term: 999 });
  evil({ ...reported, hub: 'north' });
  await time.run(100);
  t.deepEqual(
    [...east.mirrors.hubs()].map(({ hub, term, counts }) => [hub, term, counts.refused]),
    [['west', 1, 0]],
  );
  notify(2, '[[5,2]]');
  await time.run(200);
  t.is(east.graph.find('west/lamp')!.value, 2);
  east.stop();
});
