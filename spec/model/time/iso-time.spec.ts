import test from 'ava';
import { readIsoTime, readTimestamp } from '../../../lib/model/time/iso-time.ts';

const whole: [text: string, utc: string][] = [
  ['2026-11-22T03:00:00Z', '2026-11-22T03:00:00.000Z'],
  ['2026-11-22T03:00:00.5+01:00', '2026-11-22T02:00:00.500Z'],
  ['2026-11-22t03:00:00.123456789z', '2026-11-22T03:00:00.123Z'],
  ['2028-02-29T23:59:59-23:59', '2028-03-01T23:58:59.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
];
for (const [text, utc] of whole)
  test(`RFC 3339: ${text} is ${utc}`, (t) => t.is(new Date(readTimestamp(text)!).toISOString(), utc));

const parts = ['2026-11-22', '2026-11-22T03:00', '2026-11-22T03:00Z', '2026-11-22T03:00:00', '2026-11-22T24:00:00Z'];
const none = [
  '',
  'Studio 7',
  '2026',
  '1',
  '2026-02-30T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-11-22T25:00:00Z',
  '2026-11-22T03:60:00Z',
  '2026-11-22T03:00:60Z',
  '2026-11-22T03:00:00.Z',
  '2026-11-22T03:00:00+24:00',
  '2026-11-22T03:00:00+01:60',
  '2026-11-22T03:00:00+0100',
  '2026-11-22 03:00:00Z',
  ' 2026-11-22T03:00:00Z',
  '2026-11-22T03:00:00Z\n',
  '+002026-11-22T03:00:00Z',
  '22 Nov 2026 03:00:00 GMT',
];
for (const text of none)
  test(`${JSON.stringify(text)} is no point in time`, (t) => {
    t.is(readTimestamp(text), undefined);
    t.is(readIsoTime(text), undefined);
  });

for (const text of parts)
  test(`RFC 3339: ${text} is a time, but no whole point in time`, (t) => {
    t.is(readTimestamp(text), undefined);
    t.is(readIsoTime(text), Date.parse(text.length === 10 ? `${text}T00:00` : text));
  });
