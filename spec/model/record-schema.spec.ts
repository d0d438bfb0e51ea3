// Records whose keys are texts of people: any text is one more key.

import test from 'ava';
import { z } from 'zod';
import { record } from '../../lib/model/record-schema.ts';

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', '', '😀', '\ud800'];
const objectOf = (value: unknown) =>
  JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`) as object;

test('every key is kept with its value, and none replaces another', (t) => {
  const read = record(z.string(), z.number()).parse(objectOf(1));
  t.deepEqual(Object.keys(read).sort(), [...names].sort());
  for (const name of names) t.is(Object.hasOwn(read, name) && read[name], 1, name);
  t.is(Object.getPrototypeOf(read), Object.prototype);
  t.false(Object.hasOwn(record(z.string(), z.number()).parse({}), '__proto__'));
});

test('a mistake in a key or a value is reported with its path, as in z.record', (t) => {
  const key = z.string().regex(/^[a-z]+$/, { error: 'small letters' });
  const schema = z.strictObject({
    own: record(key, z.number(), { error: 'numbers by name' }).refine((all) => Object.keys(all).length < 3, {
      error: 'too many',
    }),
  });
  const issuesOf = (text: string) =>
    schema.safeParse(JSON.parse(text)).error?.issues.map(({ code, path, message }) => [code, path.join('.'), message]);
  t.deepEqual(issuesOf('{"own":{"__proto__":1,"a":2}}'), [['invalid_key', 'own.__proto__', 'numbers by name']]);
  t.deepEqual(issuesOf('{"own":{"a":"x"}}')?.[0]?.slice(0, 2), ['invalid_type', 'own.a']);
  t.deepEqual(issuesOf('{"own":7}'), [['invalid_type', 'own', 'numbers by name']]);
  t.deepEqual(issuesOf('{"own":{"a":1,"b":2,"c":3}}'), [['custom', 'own', 'too many']]);
  const any = z.strictObject({ own: record(z.string(), z.number()) });
  const { error } = any.safeParse(JSON.parse('{"own":{"__proto__":"x"}}'));
  t.deepEqual(error?.issues[0]?.path, ['own', '__proto__']);
});

test('its JSON Schema is that of a record', (t) => {
  const options = { io: 'input', unrepresentable: 'any' } as const;
  const own = record(z.string().regex(/^a/), z.number()).default({}).describe('Numbers');
  const usual = z.record(z.string().regex(/^a/), z.number()).default({}).describe('Numbers');
  t.deepEqual(z.toJSONSchema(own, options), z.toJSONSchema(usual, options));
});
