// The recent frames of a connection: the last ones are there as they were, whatever their lengths, in bounded room.

import test from 'ava';
import fc from 'fast-check';
import { keptFrames, WireLog } from '../../lib/model/reports/wire-log.ts';

const keptBytes = 65_536;
const shownBytes = 4096;
const faultOf = (place: number) => (place % 7 === 0 ? `fault ${place}` : undefined);

test('the last frames are kept as they were, up to 1,000 of them and 64 KiB', (t) => {
  const lengths = fc.array(fc.oneof(fc.nat(60), fc.nat(6000)), { maxLength: 1500 });
  fc.assert(
    fc.property(lengths, (all) => {
      const log = new WireLog();
      const added = all.map((length, place) => Buffer.alloc(length, place));
      for (const [place, bytes] of added.entries()) log.add(place % 3 === 0 ? 'out' : 'in', bytes, faultOf(place));
      const kept = log.after(0);
      const last = added.slice(added.length - kept.length);
      for (const [place, frame] of kept.entries()) {
        const whole = last[place]!;
        t.is(frame.number, added.length - kept.length + place + 1);
        t.is(frame.length, whole.length);
        t.is(frame.fault, faultOf(frame.number - 1));
        t.is(frame.direction, (frame.number - 1) % 3 === 0 ? 'out' : 'in');
        if (!whole.subarray(0, shownBytes).equals(frame.bytes)) t.fail(`frame ${frame.number}`);
      }
      const bytes = kept.reduce((sum, frame) => sum + frame.bytes.length, 0);
      t.true(kept.length <= keptFrames && bytes <= keptBytes);
      t.true(kept.length === Math.min(added.length, keptFrames) || bytes > keptBytes / 2, `${kept.length}, ${bytes}`);
    }),
    { numRuns: 60 },
  );
});

test('a frame that is kept does not keep what it was read with', (t) => {
  const log = new WireLog();
  const read = Buffer.alloc(65_536, 'x');
  log.add('in', read.subarray(0, 5));
  read.fill('y');
  t.is(Buffer.from(log.after(0)[0]!.bytes).toString(), 'xxxxx');
  t.true(log.after(0)[0]!.bytes.buffer.byteLength < 100);
});

test('frames of one read are kept as they would be one by one', (t) => {
  const parts = fc.array(
    fc.record({
      before: fc.nat(2),
      length: fc.oneof(fc.integer({ min: 2, max: 60 }), fc.integer({ min: 2, max: 9000 })),
    }),
    {
      maxLength: 80,
    },
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 30 }), (reads) => {
      const [together, single] = [new WireLog(), new WireLog()];
      for (const [number, read] of reads.entries()) {
        const bytes = Buffer.alloc(
          read.reduce((sum, { before, length }) => sum + before + length, 0),
          number,
        );
        const ends = read.map((_, place) =>
          read.slice(0, place + 1).reduce((sum, one) => sum + one.before + one.length, 0),
        );
        const frames = read.map(({ length }, place) => ({ bytes, from: ends[place]! - length, end: ends[place]! }));
        for (const { from, end } of frames) bytes[from] = end;
        together.addReceived(frames, 0, frames.length);
        for (const { from, end } of frames) single.add('in', bytes.subarray(from, end));
      }
      const last = (log: WireLog, count: number) =>
        (count === 0 ? [] : log.after(0).slice(-count)).map(({ time, bytes, ...frame }) => ({
          ...frame,
          bytes: Buffer.from(bytes).toString('latin1'),
        }));
      const kept = Math.min(together.after(0).length, single.after(0).length);
      t.true(kept >= single.after(0).length / 2, 'the bytes between frames take room');
      t.deepEqual(last(together, kept), last(single, kept));
      t.deepEqual(together.totals, single.totals);
    }),
    { numRuns: 60 },
  );
});
