// An outbox holds every change in order, or which values are new and each fire; what it encodes is what a list of the changes says.
// A ticker flushes at most so many times a second, all that wait together, and nobody waits for longer than a period.

import test from 'ava';
import fc from 'fast-check';
import { VirtualTimeScheduler } from 'rxjs';
import { AllOutbox, LatestOutbox, Packer, Ticker } from '../../../../../lib/connections/rest-api/sockets/v1/outbox.ts';
import type { ReceivedMessage } from '../../../../../lib/wire/v1/hub-messages.ts';
import { Channels } from '../../../../support/sockets/v1-channels.ts';

const count = 9;
const changes = fc.array(fc.nat(count - 1), { maxLength: 80 });
/** Up to which of the changes a client has been told, by share. */
const share = fc.double({ min: 0, max: 1, noNaN: true });

type HubReport = readonly [id: number, value: number | 'fire'];

function read({ batches }: Packer): { reported: HubReport[]; revisions: number[] } {
  const messages = batches.flatMap(({ frames }) =>
    frames.map((frame): ReceivedMessage => JSON.parse(Buffer.from(frame).toString())),
  );
  return {
    reported: messages.flatMap(({ set = [], fired = [] }) => [
      ...set.map(([id, value]): HubReport => [id, value as number]),
      ...fired.map((id): HubReport => [id, 'fire']),
    ]),
    revisions: messages.flatMap(({ rev = [] }) => rev),
  };
}

for (const OutboxClass of [AllOutbox, LatestOutbox])
  test(`${OutboxClass.name}: the changes since a revision are encoded; a flush leaves nothing`, (t) => {
    fc.assert(
      fc.property(changes, share, fc.boolean(), (places, reported, onlyFires) => {
        let flushes = 0;
        const outbox = new OutboxClass(0, new Ticker(0), () => flushes++);
        const channels = new Channels(count, () => outbox);
        channels.revision = 100;
        const made = places.map((place, index) => channels.set(place, index));
        const from = 100 + Math.floor(reported * places.length);
        const isFire = (place: number) => place % 3 === 2;
        const newest = new Map(places.map((place, index) => [place, index]));
        const wanted = places.flatMap((place, index): HubReport[] => {
          if (made[index]!.revision <= from && !(OutboxClass === LatestOutbox && !isFire(place))) return [];
          return [[place, isFire(place) ? 'fire' : index]];
        });
        const expected =
          OutboxClass === AllOutbox
            ? wanted.filter(([, value]) => !onlyFires || value === 'fire')
            : [
                ...(onlyFires ? [] : [...new Set(places.filter((place) => !isFire(place)))])
                  .filter((place) => made[newest.get(place)!]!.revision > from)
                  .map((place): HubReport => [place, newest.get(place)!]),
                ...wanted.filter(([, value]) => value === 'fire'),
              ];
        const packer = new Packer();
        outbox.encode(packer, { before: 100, after: channels.revision }, from, onlyFires);
        const { reported: got, revisions } = read(packer);
        t.deepEqual(got, expected);
        t.deepEqual(
          revisions,
          [...revisions].sort((one, other) => one - other),
        );
        if (expected.length > 0) t.is(revisions.at(-1), channels.revision);
        const silent = new Packer();
        outbox.encode(silent, undefined, from, onlyFires);
        t.deepEqual(read(silent), { reported: expected, revisions: [] });
        t.is(outbox.oldest, made[0]?.revision);
        t.deepEqual(
          packer.batches.flatMap((batch) => batch.channels.map(({ channel }) => channel.id)),
          expected.map(([id]) => id),
          'each change has its channel',
        );
        outbox.clear();
        t.is(outbox.oldest, undefined);
        t.deepEqual([...outbox.waiting(-1)], []);
        t.false(channels.all.some(({ isPending }) => isPending));
        t.is(flushes, 0);
      }),
    );
  });

test('an outbox of too many changes flushes immediately', (t) => {
  let flushes = 0;
  const outbox: AllOutbox = new AllOutbox(1, new Ticker(1), () => {
    flushes++;
    outbox.clear();
  });
  const channels = new Channels(3, () => outbox);
  for (let change = 0; change < 65_535; change++) channels.set(0, change);
  t.is(flushes, 0);
  channels.set(0, -1);
  t.is(flushes, 1);
});

test('an outbox of too much text flushes immediately; short texts count as any other change', (t) => {
  let flushes = 0;
  const outbox: AllOutbox = new AllOutbox(1, new Ticker(1), () => {
    flushes++;
    outbox.clear();
  });
  const channels = new Channels(3, () => outbox);
  const text = 'x'.repeat(65_536);
  for (let round = 1; round <= 3; round++) {
    for (let change = 0; change < 63; change++) channels.set(0, text);
    t.is(flushes, round - 1, 'about 4 Mi characters may wait');
    channels.set(0, text);
    t.is(flushes, round);
  }
  for (let change = 0; change < 65_535; change++) channels.set(0, 'short');
  t.is(flushes, 3);
});

const rate = fc.constantFrom(1, 10, 60, 300, 1000);
const pausesMs = fc.array(fc.oneof(fc.nat(5), fc.nat(400), fc.nat(3000)), { minLength: 1, maxLength: 60 });

test('flushes keep to a grid of periods, all that wait are flushed, and none waits for longer than a period', (t) => {
  fc.assert(
    fc.property(rate, pausesMs, (perSecond, pauses) => {
      const scheduler = new VirtualTimeScheduler(undefined, Number.POSITIVE_INFINITY);
      const ticker = new Ticker(perSecond, {
        now: () => scheduler.now(),
        soon: (work) => scheduler.schedule(work, 0),
        after: (delayMs, work) => scheduler.schedule(work, delayMs),
      });
      const flushed: { requestedMs: number; atMs: number }[] = [];
      let requestedMs = 0;
      for (const pause of pauses) {
        requestedMs += pause;
        const atMs = requestedMs;
        scheduler.schedule(
          () => ticker.request({ flush: () => flushed.push({ requestedMs: atMs, atMs: scheduler.now() }) }),
          atMs,
        );
      }
      scheduler.flush();
      t.is(flushed.length, pauses.length);
      const periodMs = 1000 / perSecond;
      for (const one of flushed) t.true(one.atMs - one.requestedMs <= Math.ceil(periodMs), JSON.stringify(one));
      const times = [...new Set(flushed.map(({ atMs }) => atMs))];
      for (let from = 0; from < times.length; from++)
        for (let to = from + 1; to < times.length; to++)
          t.true(times[to]! - times[from]! > (to - from - 1) * periodMs - 2, `${times[from]}, ${times[to]}`); // timers are whole ms
    }),
  );
});

test('at rate 0 all that are requested in a round are flushed with it', (t) => {
  const soon: (() => void)[] = [];
  const fail = () => t.fail('it waits');
  const ticker = new Ticker(0, { now: () => 5, soon: (work) => soon.push(work), after: fail });
  const flushed: number[] = [];
  for (const one of [1, 2, 3]) ticker.request({ flush: () => flushed.push(one) });
  t.is(soon.length, 1);
  soon.pop()!();
  t.deepEqual(flushed, [1, 2, 3]);
});
