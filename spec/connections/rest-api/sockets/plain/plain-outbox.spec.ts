// What waits in the outbox is published on every topic of its group, whole and in order, in runs (D-28).

import test from 'ava';
import fc from 'fast-check';
import { FairQueue } from '../../../../../lib/connections/rest-api/pacing/fair-queue.ts';
import { Round } from '../../../../../lib/connections/rest-api/pacing/round.ts';
import { encodeFrame, framePrefix, listBytes } from '../../../../../lib/connections/rest-api/sockets/plain/frame.ts';
import type { Audience, Listener, Topic } from '../../../../../lib/connections/rest-api/sockets/plain/late-frames.ts';
import { createOutbox } from '../../../../../lib/connections/rest-api/sockets/plain/plain-outbox.ts';
import type { Publisher } from '../../../../../lib/connections/rest-api/sockets/socket-protocol.ts';
import { Tally } from '../../../../../lib/connections/rest-api/sockets/tally.ts';

const createTopic = (text: string) => ({ name: new TextEncoder().encode(text).buffer, sent: new Tally() });

const audienceOf = (
  topics: Topic[],
  members: number,
  listeners: Listener[] = [],
  isList = false,
): Audience & { lastLiveFrom: number } => ({
  ...{ topics, members, listeners: new Set(listeners), lastLiveFrom: 0, fires: 0 },
  ...(isList && { list: { prefixes: [], values: [] } }),
});

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

test('every topic of a group publishes all frames of the group, in order and counted', (t) => {
  fc.assert(
    fc.property(
      fc.array(put, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 3 }),
      (puts, sizes) => {
        const groups = [0, 1, 2].map((group) => {
          const topics = Array.from({ length: sizes[group]! }, (_, topic) => createTopic(`${group}.${topic}`));
          return audienceOf(topics, sizes[group]!, [], group === 2);
        });
        const expected: string[][] = [[], [], []];
        const { published, ...outbox } = start();
        for (const { group, place, value, times } of puts)
          for (let time = 0; time < times; time++) {
            outbox.put(groups[group]!, prefixes[place]!, value, 1);
            expected[group]!.push(encodeFrame(addresses[place]!, value));
          }
        outbox.flush();
        groups.forEach(({ topics }, group) => {
          topics.forEach(({ sent }, index) => {
            const frames = published.filter(({ topic }) => topic === `${group}.${index}`).map(({ frame }) => frame);
            if (group < 2) t.deepEqual(frames, expected[group]!);
            else {
              t.deepEqual(
                frames.flatMap((list) => JSON.parse(list)),
                expected[group]!.map((frame) => JSON.parse(frame)),
              );
              t.true(frames.every((list) => Buffer.byteLength(list) <= listBytes));
            }
            t.deepEqual({ ...sent }, { frames: frames.length, bytes: Buffer.byteLength(frames.join('')) });
          });
        });
      },
    ),
    { numRuns: 300 },
  );
});

test('a topic gets a run of 32 frames, then the next topic gets the same', (t) => {
  const { published, ...outbox } = start();
  const audience = audienceOf([createTopic('a'), createTopic('b')], 2);
  for (let value = 0; value < 70; value++) outbox.put(audience, prefixes[0]!, value, 1);
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

test('waiting messages leave once at the end of the round of the event loop, for the topics that exist by then', async (t) => {
  const { published, ...outbox } = start();
  const topics = [createTopic('a')];
  outbox.put(audienceOf(topics, 1), prefixes[0]!, 1, 1);
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

for (const [members, most, why] of [
  [1000, 64, '0.2 µs for each socket, for 8 ms, and what fills a run of 32'],
  [2000, 32, '13 ms are no longer than a run takes'],
  [5000, 8, 'for 8 ms, since a run takes longer than 13'],
] as const)
  test(`no more than ${most} frames for ${members} sockets are taken in a round, until they are published`, (t) => {
    const { round, ...outbox } = start();
    const audience = audienceOf([createTopic('a')], members);
    let taken = 0;
    while (taken < 1000 && round.hasTime(0, Number.POSITIVE_INFINITY)) {
      outbox.put(audience, prefixes[0]!, taken, 1);
      taken++;
    }
    t.is(taken, most, why);
    outbox.flush();
    t.true(round.hasTime(0, Number.POSITIVE_INFINITY));
  });

/** A socket, what it was sent late, and how often it fell behind. Each frame takes it a millisecond. */
class SlowListener implements Listener {
  liveFrom = 0;
  readonly frames: string[] = [];
  missed = 0;

  sendLate(frame: Uint8Array): void {
    this.frames.push(Buffer.from(frame).toString());
    const endMs = performance.now() + 1;
    while (performance.now() < endMs);
  }

  missLate(): void {
    this.missed++;
  }
}

const longText = 'x'.repeat(60_000);
const frameOf = (value: string | number) => encodeFrame(addresses[0]!, value);

test('long text for very many sockets is sent over several rounds, in order, and other audiences do not wait', async (t) => {
  const { published, ...outbox } = start();
  const listeners = Array.from({ length: 40 }, () => new SlowListener());
  const many = audienceOf([createTopic('many')], 1000, listeners);
  const few = audienceOf([createTopic('few')], 1);
  outbox.put(many, prefixes[0]!, 1, 1);
  outbox.put(many, prefixes[0]!, longText, 2);
  outbox.put(many, prefixes[0]!, 3, 3);
  outbox.put(few, prefixes[0]!, longText, 2);
  await new Promise(setImmediate);
  t.deepEqual(published, [
    { topic: 'many', frame: frameOf(1) },
    { topic: 'few', frame: frameOf(longText) },
  ]);
  t.true(listeners.filter(({ frames }) => frames.length > 0).length < listeners.length / 2);
  while (!outbox.late.isEmpty) await new Promise(setImmediate);
  for (const { frames } of listeners) t.deepEqual(frames, [frameOf(longText)]);
  t.deepEqual(published.slice(2), [{ topic: 'many', frame: frameOf(3) }], 'a short one is published again');
});

test('D-43: for clients with lists, long text is late as a list of one, and so are later messages', async (t) => {
  const { published, ...outbox } = start();
  const listeners = Array.from({ length: 40 }, () => new SlowListener());
  const many = audienceOf([createTopic('many')], 1000, listeners, true);
  for (const [index, value] of [1, 2, longText, 3, 4].entries()) outbox.put(many, prefixes[0]!, value, index + 1);
  await new Promise(setImmediate);
  t.deepEqual(published, [{ topic: 'many', frame: `[${frameOf(1)},${frameOf(2)}]` }]);
  while (!outbox.late.isEmpty) await new Promise(setImmediate);
  for (const { frames } of listeners) t.deepEqual(frames, [`[${frameOf(longText)}]`]);
  t.deepEqual(
    published.slice(1).map(({ frame }) => frame),
    [`[${frameOf(3)}]`, `[${frameOf(4)}]`],
  );
});

test('a client that joins while a message is late only receives later messages', async (t) => {
  const { published, ...outbox } = start();
  const listeners = [new SlowListener(), new SlowListener()];
  const many = audienceOf([createTopic('many')], 1000, listeners);
  outbox.put(many, prefixes[0]!, longText, 1);
  outbox.put(many, prefixes[0]!, 2, 2);
  listeners[1]!.liveFrom = many.lastLiveFrom = outbox.late.next;
  outbox.put(many, prefixes[0]!, 3, 3);
  while (!outbox.late.isEmpty) await new Promise(setImmediate);
  t.deepEqual(listeners[0]!.frames, [frameOf(longText), frameOf(2)]);
  t.deepEqual(listeners[1]!.frames, []);
  t.deepEqual(published, [{ topic: 'many', frame: frameOf(3) }]);
});

test('when too much is late for an audience, its sockets fall behind, and the rest is not sent', async (t) => {
  const { published, ...outbox } = start();
  const listener = new SlowListener();
  const many = audienceOf([createTopic('many')], 1000, [listener]);
  for (let count = 0; count < 70; count++) outbox.put(many, prefixes[0]!, longText, count + 1);
  t.deepEqual([listener.missed, outbox.late.isEmpty], [1, true], '4 Mi characters are 69 texts');
  outbox.put(many, prefixes[0]!, 1, 71);
  await new Promise(setImmediate);
  t.deepEqual([listener.frames, published], [[], [{ topic: 'many', frame: frameOf(1) }]]);
});
