// What a plot of a dashboard shows of the time before it was opened.

import test from 'ava';
import { pastOf } from '../../../../lib/console/dashboard/readings/samples.ts';
import type { History } from '../../../../lib/wire/http/past-shapes.ts';

const history = (parts: Partial<History>): History => ({
  address: 'desk/level',
  type: 'F',
  from: 6000,
  to: 10_000,
  kind: 'raw',
  times: [],
  gaps: [],
  ...parts,
});

test('it has the samples that it would have taken, by the clock of the page', (t) => {
  const gaps = [{ from: 8500, to: 9500, lost: 0, reason: 'the hub was down' }];
  const known = history({ times: [2000, 7000, 8000, 9600], values: [1, 2, 3, 4], gaps });
  const { times, rows } = pastOf([known, undefined, history({ kind: 'texts' })], 4, 4, 50_000);
  t.deepEqual(times, [46, 47, 48, 49]);
  t.deepEqual(rows, [
    [1, 2, 3, null],
    [null, null, null, null],
    [null, null, null, null],
  ]);
});
