// What many clients miss is counted once; each is told what it would have been if it were counted for it alone.

import test from 'ava';
import fc from 'fast-check';
import { Losses, type Segment } from '../../../../../../lib/connections/rest-api/sockets/v1/members/losses.ts';
import { Channels } from '../../../../../support/sockets/v1-channels.ts';

const readers = 5;
const step = fc.oneof(
  fc.record({ kind: fc.constantFrom('open' as const, 'take' as const), reader: fc.nat(readers - 1) }),
  fc.record({ kind: fc.constant('count' as const), places: fc.array(fc.nat(8), { maxLength: 12 }) }),
);

test('each reader takes what was counted since it was opened, whoever else comes and goes', (t) => {
  const { all } = new Channels(9, () => ({ delivery: 'all', put: () => {} }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const losses = new Losses();
      const open = new Map<number, { segment: Segment; counts: Map<number, number> }>();
      for (const one of steps) {
        if (one.kind === 'count') {
          losses.count(one.places.map((place) => all[place]!));
          for (const { counts } of open.values())
            for (const place of one.places) counts.set(place, (counts.get(place) ?? 0) + 1);
        } else if (one.kind === 'open') {
          if (!open.has(one.reader)) open.set(one.reader, { segment: losses.open(), counts: new Map() });
        } else {
          const taken = open.get(one.reader);
          if (taken === undefined) continue;
          open.delete(one.reader);
          const missed = [...losses.take(taken.segment)].map(([{ channel }, count]) => [channel.id, count]);
          t.deepEqual(new Map(missed as [number, number][]), taken.counts);
        }
        t.is(losses.isOpen, open.size > 0);
        t.true(losses.size <= open.size * all.length, 'no more is held than each reader has missed');
      }
    }),
  );
});
