// Messages as trees of JSON and XML, and the index by which patterns are found.

import test from 'ava';
import fc from 'fast-check';
import { MatcherIndex, Message, parseMatcher, partAt } from '../../lib/device/message.ts';
import type { Value } from '../../lib/model/value.ts';

const compile = () => () => 'computed';
const matcher = (written: unknown) => parseMatcher(written, false, compile);
const values = (pairs: Record<string, Value>) => new Map(Object.entries(pairs));

test('a pattern of a tree reads every message that contains its parts, and keeps the types of values', (t) => {
  const pattern = matcher({ op: 5, d: { type: 'Muted', data: [{ name: '{name}' }, '{value}'], at: 'n{n:int}' } });
  const read = (data: unknown) => {
    const found = pattern.match(new Message(JSON.stringify(data)));
    return found && Object.fromEntries(found);
  };
  const d = { type: 'Muted', data: [{ name: 'Mic {1}', more: 1 }, false], at: 'n7', more: null };
  t.deepEqual(read({ op: 5, d, more: 1 }), { name: 'Mic {1}', value: false, n: 7 });
  for (const other of [
    { op: 6, d },
    { op: 5 },
    { op: 5, d: { ...d, at: 'm7' } },
    { op: 5, d: { ...d, data: {} } },
    [],
    7,
    null,
  ])
    t.is(read(other), undefined);
  t.is(pattern.match(new Message('{"op":5')), undefined, 'it is no JSON');
});

test('a tree is written with unchanged values', (t) => {
  const pattern = matcher({
    a: '{value}',
    b: 'x{value:int}',
    c: '{= 1}',
    d: [true, null, 2],
    e: '{value:on(Start,Stop)}',
  });
  t.deepEqual(JSON.parse(pattern.format(values({ value: true }))), {
    a: true,
    b: 'x1',
    c: 'computed',
    d: [true, null, 2],
    e: 'Start',
  });
});

test('XML is a tree: elements of one name are a list, one of text alone is that text', (t) => {
  const text =
    '<vmix><version>26.0</version><inputs><input number="1" title="A&amp;B">x</input><input number="2"/></inputs></vmix>';
  const { tree } = new Message(text, 'xml');
  t.deepEqual(partAt(tree, ['vmix', 'version']), '26.0');
  t.deepEqual(partAt(tree, ['vmix', 'inputs', 'input']), [
    { '@number': '1', '@title': 'A&B', '#text': 'x' },
    { '@number': '2' },
  ]);
  t.is(partAt(tree, ['vmix', 'nothing', 'more']), undefined);
  t.is(new Message('<a>', 'xml').tree, undefined);
  t.is(new Message(`${'<a>'.repeat(100)}${'</a>'.repeat(100)}`, 'xml').tree, undefined, 'it is nested too deeply');
  t.is(({} as { polluted?: string }).polluted, undefined);
});

test('an index finds the patterns that may read a message, in their order', (t) => {
  const written = [
    '{value}',
    'Out{n:int} In{value:int}',
    'Out{n:int} Vol{value:int}',
    'Vmt{n:int}',
    { op: 5, t: 'a' },
    { op: 5, t: 'b' },
  ];
  const index = new MatcherIndex(written.map((one) => ({ matcher: matcher(one) })));
  const found = (text: string) =>
    index.candidates(new Message(text)).map((one) => written.indexOf(nameOf(one.matcher.text)));
  const nameOf = (text: string) =>
    written.find((one) => text === (typeof one === 'string' ? one : JSON.stringify(one)))!;
  t.deepEqual(found('Out1 In2'), [0, 1, 2]);
  t.deepEqual(found('Vmt1'), [0, 3]);
  t.deepEqual(found('{"op":5,"t":"b"}'), [0, 5]);
  t.deepEqual(found(''), [0]);
});

test('an index leaves out no pattern that reads a message, also where hundreds begin with the same value', (t) => {
  const written = [
    ...['a{value}', 'ab{n:int}c{value}', 'ab{n:int}d{value}', 'ab{n:int}e{value}', 'ab{n:int}f{value}', 'ab{n:int}c'],
    ...[
      '{n:int}c{value}',
      '{n:int}c',
      '{n:int}d',
      '{n:int}x{value:int}',
      '{n:int}y',
      '{value}',
      'é{value}',
      '漢{n:int}',
    ],
  ];
  const items = written.map((one, place) => ({ place, matcher: matcher(one) }));
  const index = new MatcherIndex(items);
  const letters = fc.array(fc.constantFrom(...'ab1c2dexé漢-'), { maxLength: 7 }).map((all) => all.join(''));
  fc.assert(
    fc.property(letters, (text) => {
      const found = index.candidates(new Message(text)).map(({ place }) => place);
      t.deepEqual(
        found,
        [...found].sort((a, b) => a - b),
        text,
      );
      const read = items.filter((one) => one.matcher.match(new Message(text)) !== undefined);
      for (const { place } of read) t.true(found.includes(place), `${text}: ${written[place]}`);
    }),
    { numRuns: 2000 },
  );
  const many = new MatcherIndex(
    Array.from({ length: 300 }, (_, n) => ({ matcher: matcher(`{unit:int}:L${n} {value:int}`) })),
  );
  t.deepEqual(
    many.candidates(new Message('7:L57 3')).map((one) => one.matcher.text),
    ['{unit:int}:L57 {value:int}'],
  );
});

test('among 200 patterns a frame takes microseconds', (t) => {
  const items = Array.from({ length: 200 }, (_, n) => ({
    matcher: matcher(`CMD${n % 10}-${n} {n:int} LEVEL={value:int}`),
  }));
  const index = new MatcherIndex(items);
  const frames = Array.from({ length: 200 }, (_, n) => `CMD${n % 10}-${n} 7 LEVEL=-12`);
  let read = 0;
  const run = (count: number) => {
    for (let at = 0; at < count; at++) {
      const message = new Message(frames[at % frames.length]!);
      for (const one of index.candidates(message)) if (one.matcher.match(message) !== undefined) read++;
    }
  };
  run(20_000);
  const start = process.cpuUsage();
  run(50_000);
  const { user } = process.cpuUsage(start);
  t.log(`${(user / 50_000).toFixed(2)} µs a frame`);
  t.is(read, 70_000);
  t.true(user / 50_000 < 10, `${user / 50_000} µs`); // 2 on a machine that does nothing else
});

test('random messages are read or not, and nothing throws', (t) => {
  const pattern = matcher({ a: '{value:int}', b: ['{x}', { c: '{y:quoted}' }] });
  fc.assert(fc.property(fc.json(), (text) => void pattern.match(new Message(text))));
  fc.assert(fc.property(fc.string(), (text) => void pattern.match(new Message(text, 'xml'))));
  t.pass();
});
