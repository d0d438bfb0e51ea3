// Points in time as clients ask for them.

import test from 'ava';
import { readMoment } from '../../../../lib/connections/rest-api/http/request-url.ts';

const now = Date.parse('2026-11-22T12:00:00Z');
const rows: [string, number][] = [
  ['-1h', now - 3_600_000],
  ['-1y', now - 365 * 86_400_000],
  ['-0s', now],
  ['2026-11-22T03:00Z', Date.parse('2026-11-22T03:00:00Z')],
  ['2026-11-22T03:00:01.5+01:00', Date.parse('2026-11-22T02:00:01.500Z')],
  ['2026-11-22T03:00', new Date(2026, 10, 22, 3).getTime()],
  ['2026-11-22', new Date(2026, 10, 22).getTime()],
  ['2028-02-29T24:00Z', Date.parse('2028-03-01T00:00Z')],
  ['1795316400000', 1_795_316_400_000],
  ['0', 0],
  ['10000', 10_000],
];
for (const [text, expected] of rows) test(`${text} is a moment`, (t) => t.is(readMoment('from', text, now), expected));

const noTimes = ['', '2026', '1h', '-1', '-', 'yesterday', '99999999999999999', '2026-11-22 03:00'];
const noDays = ['2026-13-01', '2026-02-30', '2026-02-29T03:00Z', '2026-11-31T03:00', '2026-11-22T24:01Z'];
for (const text of [...noTimes, ...noDays])
  test(`"${text}" is not a moment`, (t) => {
    const error = t.throws(() => readMoment('from', text, now));
    t.like(error, { code: 'bad-request' });
    t.true(error!.message.startsWith('from: expected a time such as'));
  });
