// What is read of `Forwarded`, `X-Forwarded-For` and `X-Forwarded-Proto`: from the right, and nothing further than nonsense.

import test from 'ava';
import fc from 'fast-check';
import { hopsOfForwarded, hopsOfOlder } from '../../../../lib/connections/rest-api/proxies/trusted-proxies.ts';

/** `192.0.2.7 https` for each hop, the nearest one first; `?` for what is not said. */
const shown = (hops: ReturnType<typeof hopsOfForwarded>) =>
  hops.map(({ address, scheme }) => `${address ?? '?'} ${scheme ?? '?'}`).join(', ');

const one = '2001:0db8:0000:0000:0000:0000:0000:0001';
const forwarded: [header: string, hops: string][] = [
  ['for=192.0.2.7', '192.0.2.7 ?'],
  ['For="192.0.2.7:4711"', '192.0.2.7 ?'],
  ['FOR="[2001:db8::1]"', `${one} ?`],
  ['for="[2001:db8::1]:4711"', `${one} ?`],
  ['for=[2001:db8::1]', `${one} ?`],
  ['for="[::ffff:192.0.2.7]:_port"', '192.0.2.7 ?'],
  ['for=192.0.2.7;proto=https;by=203.0.113.43', '192.0.2.7 https'],
  ['proto="HTTPS" ; for=192.0.2.7', '192.0.2.7 https'],
  ['for=192.0.2.7;proto=http;host="a,b;c"', '192.0.2.7 http'],
  ['for=192.0.2.7;proto=gopher', '192.0.2.7 ?'],
  ['for=192.0.2.7, for=198.51.100.9;proto=https', '198.51.100.9 https, 192.0.2.7 ?'],
  ['for="\\1\\9\\2.0.2.7"', '192.0.2.7 ?'],
  ['for=unknown', '? ?'],
  ['for=_hidden;proto=https', '? https'],
  ['proto=https', '? https'],
  ['for=192.0.2.7;for=198.51.100.9', '? ?'],
  ['192.0.2.7', '? ?'],
  ['for = 192.0.2.7', '? ?'],
  ['for="192.0.2.7', '? ?'],
  ['for=192.0.2.7, , ,', '192.0.2.7 ?'],
  ['for="192.0.2.7, for=198.51.100.9', '198.51.100.9 ?, ? ?'],
  ['for="\\", for="198.51.100.9"', '198.51.100.9 ?, ? ?'],
  ['', ''],
];
for (const [header, hops] of forwarded)
  test(`RFC 7239: Forwarded: ${header}`, (t) => t.is(shown(hopsOfForwarded(header)), hops));

const older: [xForwardedFor: string, xForwardedProto: string, hops: string][] = [
  ['192.0.2.7', '', '192.0.2.7 ?'],
  ['192.0.2.7, 198.51.100.9', 'https', '198.51.100.9 https, 192.0.2.7 https'],
  ['192.0.2.7, 198.51.100.9', 'https, http', '198.51.100.9 http, 192.0.2.7 https'],
  ['192.0.2.7', 'http, https', '192.0.2.7 https'],
  ['', 'https', '? https'],
  ['192.0.2.7:4711', 'HTTPS', '192.0.2.7 https'],
  ['[2001:db8::1]:4711', '', `${one} ?`],
  ['2001:db8::1', '', `${one} ?`],
  ['"2001:db8::1"', 'wss', `${one} https`],
  ['::ffff:192.0.2.7', 'nonsense', '192.0.2.7 ?'],
  ['192.0.2.7,', '', '192.0.2.7 ?'],
  ['192.0.2.7, unknown', '', '? ?, 192.0.2.7 ?'],
  ['nonsense, 192.0.2.7', '', '192.0.2.7 ?, ? ?'],
  ['192.0.2.7 198.51.100.9', '', '? ?'],
];
for (const [xForwardedFor, xForwardedProto, hops] of older)
  test(`X-Forwarded-For: ${xForwardedFor} with X-Forwarded-Proto: ${xForwardedProto}`, (t) =>
    t.is(shown(hopsOfOlder(xForwardedFor, xForwardedProto)), hops));

test('the entry of the proxy is read correctly, after any text of a client', (t) => {
  const text = fc.string({ unit: fc.constantFrom(...'"\\,;= for1.:[]x\t') });
  fc.assert(
    fc.property(text, fc.boolean(), (written, isQuoted) => {
      const added = isQuoted ? 'for="198.51.100.9:80";proto=https' : 'for=198.51.100.9;proto=https';
      t.deepEqual(hopsOfForwarded(`${written}, ${added}`)[0], { address: '198.51.100.9', scheme: 'https' });
      t.is(hopsOfOlder(`${written}, 198.51.100.9`, '')[0]!.address, '198.51.100.9');
    }),
  );
});

test('of an endless list, only as many hops are read as there can be proxies', (t) => {
  t.is(hopsOfForwarded('for=10.0.0.1, '.repeat(1000)).length, 32);
  t.is(hopsOfOlder('10.0.0.1, '.repeat(1000), '').length, 32);
});
