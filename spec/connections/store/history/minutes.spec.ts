// Minutes and hours: what is written of each, and that a restart in the middle changes nothing.

import test from 'ava';
import { type SpanRow, Spans } from '../../../../lib/connections/store/history/database/spans.ts';
import { makeHistory } from '../../../support/store/history.ts';

const hour = 3_600_000;
const minute = 60_000;
const start = 500_000 * hour;
const minutes = 'SELECT time, min, mean, max, last, count FROM minute ORDER BY parameter, time';

test('a value counts for as long as it held, and a minute without a change has no row', async (t) => {
  const history = await makeHistory(t);
  history.open(start);
  history.write([['a', 'F', start + 15_000, 10]], start + 20_000);
  history.write([['a', 'F', start + 45_000, 30]], start + 50_000);
  t.deepEqual(history.read(minutes), [], 'the minute is not over');
  history.write([], start + minute);
  const first = { time: start, min: 10, mean: (30 * 10 + 15 * 30) / 45, max: 30, last: 30, count: 2 };
  t.like(history.read(minutes), [first]);
  history.write([['a', 'F', start + 3 * minute + 30_000, 0]], start + 4 * minute);
  t.like(history.read(minutes), [first, { time: start + 3 * minute, min: 0, mean: 15, max: 30, last: 0, count: 1 }]);
  history.write([], start + hour);
  const mean = (30 * 10 + 165 * 30) / (45 + 150 + 56.5 * 60);
  t.like(history.read('SELECT time, min, max, last, count FROM hour'), [
    { time: start, min: 0, max: 30, last: 0, count: 3 },
  ]);
  t.true(Math.abs((history.read('SELECT mean FROM hour')[0]!.mean as number) - mean) < 1e-9);
});

test('for texts and triggers changes are counted, and the mean of booleans is the share of true', async (t) => {
  const history = await makeHistory(t);
  history.open(start);
  const changes = [
    ['on', 'B', start, 1],
    ['on', 'B', start + 15_000, 0],
    ['text', 'S', start, 'a'],
    ['go', 'T', start, 1],
    ['go', 'T', start + 1000, 1],
  ] as const;
  history.write(changes, start + minute);
  t.deepEqual(
    history
      .read('SELECT address, min, mean, max, last, count FROM minute JOIN parameter ON id = parameter ORDER BY address')
      .map((row) => ({ ...row })),
    [
      { address: 'go', min: null, mean: null, max: null, last: null, count: 2 },
      { address: 'on', min: 0, mean: 0.25, max: 1, last: 0, count: 2 },
      { address: 'text', min: null, mean: null, max: null, last: null, count: 1 },
    ],
  );
});

test('a kill in the middle of a minute changes none of its figures, nor those of the hour', async (t) => {
  const [whole, killed] = [await makeHistory(t), await makeHistory(t)];
  for (const history of [whole, killed]) {
    history.open(start);
    history.write(
      [
        ['a', 'F', start, 8],
        ['b', 'I', start, 1],
      ],
      start + 20_000,
    );
    history.write([['a', 'F', start + minute, 4]], start + minute + 1000);
    history.write([['a', 'F', start + minute + 20_000, 2]], start + minute + 30_000);
  }
  killed.kill();
  t.is(killed.open(start + minute + 30_000).seen, start + minute + 30_000);
  for (const history of [whole, killed]) {
    history.write(
      [
        ['a', 'F', start + minute + 30_000, 2],
        ['b', 'I', start + minute + 30_000, 1],
      ],
      start + 2 * minute,
    );
    history.write([], start + hour);
  }
  for (const table of ['minute', 'hour']) {
    const rows = `SELECT address, ${table}.* FROM ${table} JOIN parameter ON id = parameter WHERE address = 'a' ORDER BY time`;
    t.deepEqual(killed.read(rows), whole.read(rows), table);
  }
});

test('a period without recording is a gap, which counts for no mean', async (t) => {
  const history = await makeHistory(t);
  history.open(start);
  history.write([['a', 'F', start, 10]], start + 10_000);
  history.kill();
  history.open(start + 30_000, start + 29_000);
  history.write([['a', 'F', start + 40_000, 40]], start + minute);
  t.like(history.read('SELECT * FROM gap'), [
    { start: start + 10_000, end: start + 29_000, lost: 0, reason: 'the hub was down' },
  ]);
  t.like(history.read(minutes), [{ mean: (10 * 10 + 20 * 40) / 30, count: 2 }]);
});

test('a clock that is set back restarts the minutes', async (t) => {
  const history = await makeHistory(t);
  history.open(start + hour);
  history.write([['a', 'F', start + hour, 10]], start + hour + minute);
  history.write([['a', 'F', start + 1000, 20]], start + 2000);
  history.write([], start + minute);
  t.like(history.read(minutes), [
    { time: start, mean: 20, count: 1 },
    { time: start + hour, mean: 10, count: 1 },
  ]);
});

test('a minute that ended before the hub went down is known to its end', (t) => {
  const rows: SpanRow[] = [];
  const spans = new Spans(minute, (row) => rows.push(row));
  spans.add(1, start + 30_000, 5);
  spans.interrupt(start + 10 * minute, start + 12 * minute, true);
  t.deepEqual(rows, [{ parameter: 1, time: start, min: 5, mean: 5, max: 5, last: 5, count: 1 }]);
});
