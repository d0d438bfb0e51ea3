// What many clients miss is counted once; each is told what it would have been if it were counted for it alone.
// What a client has missed: it is told how many changes were lost, and the newest value, of each parameter once.

import test from 'ava';
import fc from 'fast-check';
import { Losses, Missed, type Segment } from '../../../../../lib/connections/rest-api/sockets/v1/losses.ts';
import { Channels } from '../../../../support/sockets/v1-channels.ts';

const readers = 5;
const step = fc.oneof(
  fc.record({ kind: fc.constantFrom('open' as const, 'take' as const), reader: fc.nat(readers - 1) }),
  fc.record({ kind: fc.constant('count' as const), places: fc.array(fc.nat(8), { maxLength: 12 }) }),
);

test('each reader gets the counts since its start, regardless of other readers', (t) => {
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

test('losses and newest values add up to all missed changes, in pieces of about a frame', (t) => {
  const count = 300;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(count - 1), fc.integer({ min: 1, max: 5 })), { maxLength: 400 }),
      fc.boolean(),
      (noted, isDefined) => {
        // The lower half wants every change, the upper half the newest values.
        const channels = new Channels(count, (index) => ({
          delivery: index < count / 2 ? 'all' : 'latest',
          put: () => {},
        }));
        for (let index = 0; index < count; index++) channels.set(index, index);
        const missed = new Missed();
        const sums = new Map<number, number>();
        for (const [index, times] of noted) {
          missed.note(channels.all[index]!, times);
          sums.set(index, (sums.get(index) ?? 0) + times);
        }
        t.is(missed.size, sums.size);
        const lost = new Map<number, number>();
        const reported: number[] = [];
        const defined: number[] = [];
        while (missed.size > 0) {
          const parts = missed.take(({ id }) => id % 7 !== 0, isDefined);
          for (const text of parts.lost) {
            const [[id, times]] = Object.entries(JSON.parse(`{${text}}`)) as [[string, number]];
            lost.set(Number(id), times);
          }
          reported.push(...parts.items.map((text) => JSON.parse(text)[0]));
          defined.push(...parts.definitions.map((text) => JSON.parse(text)[0]));
          t.true([...parts.items, ...parts.definitions].join().length < 17_000);
        }
        const wanted = [...sums.keys()].filter((id) => id % 7 !== 0);
        t.deepEqual(
          reported,
          wanted.filter((id) => id % 3 !== 2),
        );
        t.deepEqual(defined, isDefined ? [] : wanted);
        for (const id of wanted) {
          const isTrigger = id % 3 === 2;
          const expected = isTrigger ? sums.get(id)! : id < count / 2 ? sums.get(id)! - 1 : 0;
          t.is(lost.get(id) ?? 0, expected, `${id}`);
        }
      },
    ),
    { numRuns: 50 },
  );
});
