import test from 'ava';
import fc from 'fast-check';
import { isJsonObject, readJsonObject } from '../../lib/model/json-object.ts';

test('an object is read', (t) => {
  t.deepEqual(readJsonObject('{"p":"desk/lamp","v":[true]}'), { p: 'desk/lamp', v: [true] });
  t.deepEqual(readJsonObject(' {} '), {});
});

const others = [
  ['[]', '[] (array)'],
  ['null', 'null'],
  ['5', '5 (number)'],
  ['"{}"', '"{}" (string)'],
] as const;

for (const [text, got] of others)
  test(`${text} is no object`, (t) => {
    t.throws(() => readJsonObject(text), { code: 'bad-request', message: `expected an object, got ${got}` });
  });

test('a mistake names the text and the expected type', (t) => {
  const expected = { where: 'body', object: 'an object with p, v' };
  t.throws(() => readJsonObject('5', expected), { message: 'body: expected an object with p, v, got 5 (number)' });
  t.throws(() => readJsonObject('{', expected), {
    code: 'bad-request',
    message: /^body: expected JSON, but it cannot be parsed: .*JSON/,
  });
  t.throws(() => readJsonObject('{', { json: 'JSON {"p":…}' }), {
    message: /^expected JSON \{"p":…\}, but it cannot be parsed: .*JSON/,
  });
});

test('of any text in JSON that is an object, its object is read; of any other, none', (t) => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const data: unknown = JSON.parse(text);
      if (isJsonObject(data)) t.deepEqual(readJsonObject(text), data);
      else t.throws(() => readJsonObject(text), { code: 'bad-request' });
    }),
  );
});
