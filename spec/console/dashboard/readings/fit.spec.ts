// How large texts are in their tiles. Here each letter is six tenths of its size wide.

import test from 'ava';
import fc from 'fast-check';
import { fitInto } from '../../../../lib/console/dashboard/readings/fit.ts';

const widthOf = (text: string) => text.length * 0.6;
const tile = { width: 320, height: 180 };

test('text has the number of lines that makes it largest', (t) => {
  t.deepEqual(fitInto('ON AIR', tile, widthOf).lines, ['ON AIR']);
  t.deepEqual(fitInto('ON AIR', { width: 100, height: 180 }, widthOf).lines, ['ON', 'AIR']);
  t.deepEqual(fitInto('a much longer label here', tile, widthOf).lines, ['a much', 'longer', 'label here']);
});

test('a sign takes most of its tile, in any shape', (t) => {
  for (const [width, height] of [
    [320, 180],
    [180, 320],
    [300, 300],
    [600, 150],
    [1900, 1060],
  ] as const) {
    const { lines, size } = fitInto('ON AIR', { width, height }, widthOf);
    const share = Math.max(...lines.map((line) => (widthOf(line) * size) / width));
    t.true(share >= 0.4, `${share} of ${width} × ${height}`);
  }
});

test('no text exceeds its place, and no word is broken or lost', (t) => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 16 });
  fc.assert(
    fc.property(words, fc.integer({ min: 20, max: 2000 }), fc.integer({ min: 20, max: 2000 }), (all, width, height) => {
      const { lines, size } = fitInto(all.join(' '), { width, height }, widthOf);
      t.deepEqual(lines.join(' ').split(' '), all);
      t.true(lines.every((line) => widthOf(line) * size <= width));
      t.true(lines.length * size <= height);
    }),
  );
});

test('the browser wraps long text, at a size at which its area fits', (t) => {
  const { lines, size } = fitInto('word '.repeat(200), tile, widthOf);
  t.is(lines.length, 1);
  t.true(size > 5 && size < 12, String(size));
  t.deepEqual(fitInto('', tile, widthOf).lines, ['']);
});
