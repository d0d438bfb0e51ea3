import test from 'ava';
import fc from 'fast-check';
import { ExpectedStream } from '../../../load/received/expected-stream.ts';

const parts = fc.array(fc.uint8Array({ minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 9 });

function bytesOfStream(cycle: readonly Uint8Array[], length: number): Buffer {
  const whole = Buffer.concat(cycle);
  return Buffer.concat(Array.from({ length: Math.ceil(length / whole.length) }, () => whole)).subarray(0, length);
}

test('the stream matches in pieces of any length', (t) => {
  fc.assert(
    fc.property(parts, fc.array(fc.nat(40)), (cycle, cuts) => {
      const stream = new ExpectedStream(cycle.map((part) => Buffer.from(part)));
      let position = 0;
      for (const length of cuts) {
        const chunk = bytesOfStream(cycle, position + length).subarray(position);
        if (!stream.matches(Buffer.concat([chunk, Buffer.from('rest of a reused buffer')]), length, position))
          return false;
        position += length;
      }
      return true;
    }),
  );
  t.pass();
});

test('a single different byte anywhere does not match', (t) => {
  fc.assert(
    fc.property(parts, fc.nat(60), fc.integer({ min: 1, max: 60 }), fc.nat(), (cycle, position, length, place) => {
      const stream = new ExpectedStream(cycle.map((part) => Buffer.from(part)));
      const chunk = Buffer.from(bytesOfStream(cycle, position + length).subarray(position));
      chunk[place % length]! ^= 1;
      return !stream.matches(chunk, length, position);
    }),
  );
  t.pass();
});

test('an omitted, doubled or swapped frame does not match', (t) => {
  const frames = ['one', 'two', 'three', 'four'].map((text) => Buffer.from(text));
  const stream = new ExpectedStream(frames);
  const matches = (...texts: string[]) => stream.matches(Buffer.from(texts.join('')), texts.join('').length, 0);
  t.true(matches('one', 'two', 'three', 'four', 'one', 'two'));
  t.false(matches('one', 'three', 'four'));
  t.false(matches('one', 'one', 'two'));
  t.false(matches('two', 'one', 'three'));
});

test('the length of any number of frames', (t) => {
  fc.assert(
    fc.property(parts, fc.nat(40), (cycle, count) => {
      const stream = new ExpectedStream(cycle.map((part) => Buffer.from(part)));
      const lengths = Array.from({ length: count }, (_, index) => cycle[index % cycle.length]!.length);
      return stream.bytesOf(count) === lengths.reduce((sum, length) => sum + length, 0);
    }),
  );
  t.pass();
});

test('an empty stream is a mistake', (t) => {
  t.throws(() => new ExpectedStream([]), { instanceOf: RangeError });
});
