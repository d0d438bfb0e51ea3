// What is asked of an owner page by page, while parameters come and go there: all pages are of one moment, or they are asked for again.

import test from 'ava';
import { VirtualAction, VirtualTimeScheduler } from 'rxjs';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';

const two = 6000; // so many definitions are two pages

test('parameters that go between two pages of definitions are not shown', async (t) => {
  const scheduler = new VirtualTimeScheduler(VirtualAction, 0);
  const network = new LossyNetwork(scheduler, () => 0.5);
  network.faults = { lost: 0, doubled: 0, delayMs: 40 };
  const west = new JoinedHub('west', scheduler, network.transportOf('west'));
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
  const east = new JoinedHub('east', scheduler, network.transportOf('east'));
  for (let slice = 0; slice < 200; slice++) {
    scheduler.maxFrames += 20;
    scheduler.flush();
    scheduler.frame = scheduler.maxFrames;
    await new Promise(setImmediate);
  }
  t.is(asked[0], '{"from":0}');
  t.regex(asked[1]!, /^\{"from":\d{4}\}$/);
  const [told, shown] = [west, east].map((hub) => Object.entries(hub.valuesOf('west')).map(String));
  t.is(told!.length, two - 1);
  t.deepEqual(
    shown!.filter((one) => !told!.includes(one)),
    [],
  );
  t.is(shown!.length, told!.length);
  west.stop();
  east.stop();
});
