// Addresses (D-01).

import test from 'ava';
import fc from 'fast-check';
import { connectionIdMistake, formatAddress, parameterIdMistake, parseAddress } from '../../lib/model/address.ts';

for (const id of ['a', 'desk-1', '0', '-', 'x'.repeat(64)])
  test(`D-01: "${id.slice(0, 10)}" is a Connection ID`, (t) => t.is(connectionIdMistake(id), undefined));

for (const id of ['', 'Desk', 'a b', 'a_b', 'ä', 'a/b', 'x'.repeat(65)])
  test(`D-01: "${id.slice(0, 10)}" is no Connection ID`, (t) =>
    t.regex(connectionIdMistake(id) ?? '', /^expected a Connection ID/));

const sixteen = Array(16).fill('s').join('/');
for (const id of ['a', 'a/b', 'Mic 1/Öffnen', '灯/1', 'a,b', ' ', sixteen, 'x'.repeat(255), '🎙'.repeat(255)])
  test(`D-01: "${id.slice(0, 12)}" is a Parameter ID`, (t) => t.is(parameterIdMistake(id), undefined));

for (const id of ['', '/a', 'a/', 'a//b', 'a\nb', 'a\u0000', 'a\u0085b', `${sixteen}/s`, 'x'.repeat(256), '\ud800'])
  test(`D-01: ${JSON.stringify(id.slice(0, 12))} is no Parameter ID`, (t) =>
    t.regex(parameterIdMistake(id) ?? '', /^expected a Parameter ID/));

test('S-01, D-01: an address is split where it was joined', (t) => {
  const connectionId = fc.stringMatching(/^[a-z0-9-]{1,64}$/);
  const segment = fc.string({ minLength: 1, maxLength: 15, unit: 'grapheme' }).filter((text) => !text.includes('/'));
  const parameterId = fc
    .array(segment, { minLength: 1, maxLength: 16 })
    .map((segments) => segments.join('/'))
    .filter((id) => parameterIdMistake(id) === undefined);
  fc.assert(
    fc.property(connectionId, parameterId, (connection, parameter) => {
      t.deepEqual(parseAddress(formatAddress(connection, parameter)), {
        connectionId: connection,
        parameterId: parameter,
      });
    }),
  );
});

for (const address of ['', 'desk', 'desk/', '/lamp', 'Desk/lamp', 'desk//lamp'])
  test(`D-01: "${address}" is no address`, (t) => {
    t.like(
      t.throws(() => parseAddress(address)),
      { code: 'bad-address' },
    );
  });
