// A request that was lost is sent again, and may come behind a later one: what the later one has written stays.

import test from 'ava';
import { VirtualAction, VirtualTimeScheduler } from 'rxjs';
import { JoinedHub } from './support/joined-hub.ts';
import { LossyNetwork } from './support/lossy-network.ts';

test('a late request does not write over what a later one of its run has written', async (t) => {
  const scheduler = new VirtualTimeScheduler(VirtualAction, 0);
  const network = new LossyNetwork(scheduler, () => 0.5);
  const west = new JoinedHub('west', scheduler, network.transportOf('west'));
  const parameter = { access: 'read-write', type: 'I' } as const;
  west.declare({ id: 'level', ...parameter }, { id: 'other', ...parameter }, { id: 'bell', ...parameter, type: 'T' });
  const east = network.transportOf('east');
  let fires = 0;
  west.graph.changes$.subscribe(({ parameter: { type } }) => {
    if (type === 'T') fires++;
  });
  let epoch = '';
  east.subscribe('patchbay.house.west.turns', ({ data }) => {
    epoch = JSON.parse(new TextDecoder().decode(data)).epoch;
  });
  scheduler.maxFrames = 1000;
  scheduler.flush();
  const ask = async (number: number, items: readonly [string, unknown][], run = 'a') => {
    const head = { hub: 'east', run, number, epoch, asked: scheduler.now(), by: ['client', 'x'], hop: 0, why: [] };
    const asked = east.request('patchbay.house.west.write', JSON.stringify({ ...head, items }), 1000);
    for (let round = 0; round < 4; round++) {
      scheduler.maxFrames += 100;
      scheduler.flush();
      scheduler.frame = scheduler.maxFrames;
      await new Promise(setImmediate);
    }
    const { results } = JSON.parse(new TextDecoder().decode(await asked));
    return results.map((one: { v?: unknown; message?: string }) => one.v ?? one.message);
  };
  t.deepEqual(await ask(2, [['west/level', 2]]), [2]);
  t.deepEqual(
    await ask(1, [
      ['west/level', 1],
      ['west/other', 1],
      ['west/bell', true],
    ]),
    ['west/level: not written: a later write from hub "east" arrived first', 1, 1],
  );
  t.deepEqual(await ask(3, [['west/level', 'loud']]).then(([text]) => /loud/.test(text)), true);
  t.deepEqual(await ask(2, [['west/level', 2]]), [2], 'the same request once more is answered as before');
  t.deepEqual(await ask(0, [['west/level', 4]], 'b'), [4], 'another run counts for itself');
  t.deepEqual(west.valuesOf('west'), { 'west/bell': 'T undefined', 'west/level': 'I 4', 'west/other': 'I 1' });
  t.is(fires, 1);
  west.stop();
});
