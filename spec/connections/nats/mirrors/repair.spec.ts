// What is asked of an owner page by page, while parameters come and go there: all pages are of one moment, or they are asked for again.

import test from 'ava';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

const two = 6000; // so many definitions are two pages

test('parameters removed between two pages of definitions are not shown', async (t) => {
  const time = new Time();
  const network = new LossyNetwork(time, () => 0.5);
  network.faults = { lost: 0, doubled: 0, delayMs: 40 };
  const west = new JoinedHub('west', time, network.transportOf('west'));
  const declaration = { type: 'I', access: 'read-write', defaultValue: 1 } as const;
  west.declare(...Array.from({ length: two }, (_, number) => ({ ...declaration, id: `p${number}` })));
  const asked: string[] = [];
  network.transportOf('witness').subscribe('patchbay.house.west.walk', ({ data }) => {
    asked.push(new TextDecoder().decode(data));
    if (asked.length !== 1) return;
    west.withdraw('p7');
    west.withdraw('p8');
    west.declare({ ...declaration, id: 'p8', type: 'S', defaultValue: 'text' });
  });
  const east = new JoinedHub('east', time, network.transportOf('east'));
  await time.run(4000);
  t.is(asked[0], '{"from":0}');
  t.regex(asked[1]!, /^\{"from":\d{4}\}$/);
  const [reported, shown] = [west, east].map((hub) => Object.entries(hub.valuesOf('west')).map(String));
  t.is(reported!.length, two - 1);
  t.deepEqual(
    shown!.filter((one) => !reported!.includes(one)),
    [],
  );
  t.is(shown!.length, reported!.length);
  west.stop();
  east.stop();
});
