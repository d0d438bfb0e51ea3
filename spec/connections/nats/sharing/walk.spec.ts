// Long texts that rules pass on, in a script of three bytes a character: no message is longer than a server takes, so they arrive.

import test from 'ava';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
const textOf = (character: string) => character.repeat(60_000);

test('long texts and their causes arrive at followers, also at later ones', async (t) => {
  const time = new Time();
  const network = new LossyNetwork(time, () => 0.5);
  const [west, east] = ['west', 'east'].map((name) => new JoinedHub(name, time, network.transportOf(name))) as [
    JoinedHub,
    JoinedHub,
  ];
  west.declare(...ids.map((id) => ({ id, type: 'S', access: 'read-write' }) as const));
  ids.slice(0, -1).forEach((id, index) => {
    west.graph.find(`west/${id}`)!.subscribe((value) => {
      if (value !== undefined) west.graph.write(`west/${ids[index + 1]}`, value, west.owner);
    });
  });
  await time.run(1000);
  west.graph.write('west/a', textOf('灯'), { kind: 'client', name: 'spec' });
  await time.run(4000);
  const late = new JoinedHub('late', time, network.transportOf('late'));
  await time.run(8000);
  for (const hub of [east, late]) {
    t.deepEqual(
      Object.values(hub.valuesOf('west')).map((value) => value === `S ${textOf('灯')}`),
      ids.map(() => true),
      hub.name,
    );
    const chain: string[] = [];
    for (let link = hub.graph.find('west/f')!.lastChange; link !== undefined; link = link.cause) {
      chain.push(link.parameter.address);
      t.true(`${link.value}`.startsWith('灯灯灯'));
    }
    t.deepEqual(
      chain,
      [...ids].reverse().map((id) => `west/${id}`),
    );
  }
  for (const hub of [west, east, late]) hub.stop();
});
