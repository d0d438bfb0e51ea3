// Conditions as rows: what rows write reads as the same rows, and expressions that rows cannot show stay expressions.

import test from 'ava';
import fc from 'fast-check';
import { comparisons, type Row, readRows, renameIn, writeRows } from '../../../lib/console/editor/conditions.ts';
import { readJson5 } from '../../../lib/console/editor/json5-text.ts';

const literal = fc.oneof(
  fc.integer(),
  fc.boolean(),
  fc.constantFrom('', 'a', 'on air', 'a && b', 'x || (y)', '3', "it's"),
);
const row: fc.Arbitrary<Row> = fc
  .record({
    operand: fc.constantFrom('value', 'mic1', 'a_b', 'desk/mic 1/open'),
    comparison: fc.constantFrom(...comparisons),
    values: fc.tuple(literal, literal),
  })
  .map(({ operand, comparison, values }) => ({
    operand,
    comparison,
    values:
      comparison === 'true' || comparison === 'false' ? [] : comparison === 'between' ? values : values.slice(0, 1),
  }));

test('rows that are written read as the same rows', (t) => {
  const rows = fc.record({ join: fc.constantFrom('all', 'any'), rows: fc.array(row, { minLength: 2, maxLength: 5 }) });
  fc.assert(
    fc.property(rows, (meant) => {
      const isAmbiguous = meant.rows.some(
        (one, index) => one.comparison === '>=' && meant.join === 'all' && meant.rows[index + 1]?.comparison === '<=',
      );
      const hasMark = meant.rows.some(({ values }) => values.includes("it's"));
      if (!isAmbiguous && !hasMark) t.deepEqual(readRows(writeRows(meant)), meant);
    }),
  );
});

test('what rows cannot show stays an expression', (t) => {
  for (const text of [
    'a && b || c',
    'value * 2 > 3',
    'hour() > 8',
    'a > b',
    "matches(value, 'x')",
    '!(a && b)',
    'a ? b : c',
    "'",
    '(a',
  ])
    t.is(readRows(text), undefined, text);
  t.is(renameIn("value > 1 && value == 'value' && param('a/value') && x.value", 'value', 'mic'), "mic > 1 && mic == 'value' && param('a/value') && x.value"); // biome-ignore format: a row
});

test('typed JSON5 is read as JSON5 reads it, and other text is not', (t) => {
  t.deepEqual(readJson5(`{ // a\n a: 'x\\'y', "b": [1, -.5, 0x1F, +2,], /* c */ c: { d: null, e: true }, }`), {
    ...{ a: "x'y", b: [1, -0.5, 31, 2] },
    c: { d: null, e: true },
  });
  for (const text of ['', '{', '{ a }', '[1 2]', "'x", '{ a: 1 } 2', '{ a: b }', '[,]'])
    t.is(readJson5(text), undefined, text);
});
