// What waits in the outbox is published on every topic of its group, whole and in order, in runs (D-28).

import test from 'ava';
import fc from 'fast-check';
import { FairQueue } from '../../../../../lib/connections/rest-api/pacing/fair-queue.ts';
import { Round } from '../../../../../lib/connections/rest-api/pacing/round.ts';
import { encodeFrame, framePrefix } from '../../../../../lib/connections/rest-api/sockets/plain/frame.ts';
import { createOutbox } from '../../../../../lib/connections/rest-api/sockets/plain/plain-outbox.ts';
import type { Publisher } from '../../../../../lib/connections/rest-api/sockets/socket-protocol.ts';
import { Tally } from '../../../../../lib/connections/rest-api/sockets/tally.ts';

const createTopic = (text: string) => ({ name: new TextEncoder().encode(text).buffer, sent: new Tally() });

/** An outbox, and what it has published. */
function start() {
  const published: { topic: string; frame: string }[] = [];
  const publisher: Publisher = {
    publish(topic, frame) {
      published.push({ topic: Buffer.from(topic).toString(), frame: Buffer.from(frame).toString() });
    },
  };
  const round = new Round();
  const outbox = createOutbox(publisher, round, new FairQueue(round), () => {});
  return { ...outbox, round, published };
}

const addresses = ['desk/lamp', 'desk/level', `desk/${'x'.repeat(1100)}`];
const prefixes = addresses.map(framePrefix);
const put = fc.record({
  group: fc.nat(2),
  place: fc.nat(addresses.length - 1),
  value: fc.oneof(fc.nat(3), fc.boolean(), fc.string({ maxLength: 4 })),
  times: fc.oneof(fc.constant(1), fc.nat(80)),
});

test('every topic of a group is published all that was put for the group, in order and counted', (t) => {
  fc.assert(
    fc.property(
      fc.array(put, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 3 }),
      (puts, sizes) => {
        const groups = [0, 1, 2].map((group) => ({
          topics: Array.from({ length: sizes[group]! }, (_, topic) => createTopic(`${group}.${topic}`)),
          members: sizes[group]!,
        }));
        const expected: string[][] = [[], [], []];
        const { published, ...outbox } = start();
        for (const { group, place, value, times } of puts)
          for (let time = 0; time < times; time++) {
            outbox.put(groups[group]!, prefixes[place]!, value);
            expected[group]!.push(encodeFrame(addresses[place]!, value));
          }
        outbox.flush();
        groups.forEach(({ topics }, group) => {
          topics.forEach(({ sent }, index) => {
            const frames = published.filter(({ topic }) => topic === `${group}.${index}`).map(({ frame }) => frame);
            t.deepEqual(frames, expected[group]!);
            t.deepEqual({ ...sent }, { frames: frames.length, bytes: Buffer.byteLength(frames.join('')) });
          });
        });
      },
    ),
    { numRuns: 300 },
  );
});

test('a topic is handed a run of 32 frames, then the next one is handed the same', (t) => {
  const { published, ...outbox } = start();
  const audience = { topics: [createTopic('a'), createTopic('b')], members: 2 };
  for (let value = 0; value < 70; value++) outbox.put(audience, prefixes[0]!, value);
  outbox.flush();
  const runs = published.reduce<[topic: string, frames: number][]>((all, { topic }) => {
    const last = all.at(-1);
    if (last?.[0] === topic) last[1]++;
    else all.push([topic, 1]);
    return all;
  }, []);
  t.deepEqual(runs, [
    ['a', 32],
    ['b', 32],
    ['a', 32],
    ['b', 32],
    ['a', 6],
    ['b', 6],
  ]);
});

test('what waits leaves at the end of the round of the event loop, once, for the topics that are there by then', async (t) => {
  const { published, ...outbox } = start();
  const topics = [createTopic('a')];
  outbox.put({ topics, members: 1 }, prefixes[0]!, 1);
  topics.push(createTopic('b'));
  t.deepEqual(published, []);
  await new Promise(setImmediate);
  const frame = encodeFrame(addresses[0]!, 1);
  t.deepEqual(published, [
    { topic: 'a', frame },
    { topic: 'b', frame },
  ]);
  outbox.flush();
  t.is(published.length, 2);
});

test('no more is taken in a round whose frames take long to be published, until they have been', (t) => {
  const { round, ...outbox } = start();
  const audience = { topics: [createTopic('a')], members: 1000 };
  let taken = 0;
  while (taken < 1000 && round.hasTime(0, Number.POSITIVE_INFINITY)) {
    outbox.put(audience, prefixes[0]!, taken);
    taken++;
  }
  t.is(taken, 40, 'of 0.2 µs for each socket, for 8 ms');
  outbox.flush();
  t.true(round.hasTime(0, Number.POSITIVE_INFINITY));
});
