// The limits of sockets and the close codes: the code, the AsyncAPI document and the protocol's README say the same.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import test from 'ava';
import { leastRate, maxPatternLength, maxRate, mostPatterns } from '../../lib/wire/limits.ts';
import { closeCodes, mayReturn } from '../../lib/wire/protocol.ts';
import { asyncApi } from '../support/sockets/asyncapi.ts';

const readme = await readFile(resolve(import.meta.dirname, '../../docs/protocol.md'), 'utf8');

test('asyncapi.json has the limits of patterns and rates', (t) => {
  const { pattern, patterns, rate } = asyncApi.components.schemas;
  t.is(patterns.maxItems, mostPatterns);
  t.deepEqual(
    pattern.oneOf.map(
      (one: { maxLength?: number; properties: { regex: { maxLength: number } } }) =>
        one.maxLength ?? one.properties.regex.maxLength,
    ),
    [maxPatternLength, maxPatternLength],
  );
  t.deepEqual(rate.anyOf, [{ const: 0 }, { minimum: leastRate, maximum: maxRate }]);
});

test('docs/protocol.md has a row for each close code, and says whether it makes sense to connect again', (t) => {
  const rows = [...readme.matchAll(/^\| ([\d, ]+) \|.*\| (yes|no|) \|$/gm)].map(([, codes, retry]) => ({
    codes: codes!.split(', ').map(Number),
    retry,
  }));
  const reported = rows.flatMap(({ codes }) => codes);
  for (const code of Object.values(closeCodes)) t.true(reported.includes(code), `${code}`);
  for (const { codes, retry } of rows.filter(({ retry }) => retry !== ''))
    for (const code of codes) t.is(mayReturn(code), retry === 'yes', `${code}`);
});
