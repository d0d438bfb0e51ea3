// Long texts as values have limited room: held texts stay within it, each writer leaves as much for others, and no short text is refused.

import test from 'ava';
import fc from 'fast-check';
import { Graph } from '../../lib/graph/graph.ts';
import { mostTextCharacters } from '../../lib/graph/text-room.ts';
import type { Origin } from '../../lib/model/parameter.ts';

const mebibyte = 1024 * 1024;
const owner: Origin = { kind: 'connection', name: 'desk' };
const ann: Origin = { kind: 'client', name: 'api ann 10.0.0.1' };
const ben: Origin = { kind: 'client', name: 'api ben 10.0.0.2' };
const long = (length: number) => 'x'.repeat(length);

/** A graph with parameters `desk/0`, `desk/1` … and room for this many characters, each of which counts twice. */
function startGraph(most: number, parameters = 10) {
  const graph = new Graph(() => 1000);
  graph.texts.allow(2 * most);
  const declarations = Array.from({ length: parameters }, (_, index) => {
    return { id: `${index}`, type: 'S', access: 'read-write' } as const;
  });
  graph.declare(owner, declarations);
  return graph;
}

/** How many of a number of parameters take text. */
function taken(graph: Graph, text: string, by: Origin, from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index++)
    try {
      graph.write(`desk/${index}`, text, by);
      count++;
    } catch {}
  return count;
}

test('long texts together may take an eighth of the heap, and at least 128 Mi characters', (t) => {
  t.is(mostTextCharacters(4096 * mebibyte), 512 * mebibyte);
  t.is(mostTextCharacters(512 * mebibyte), 128 * mebibyte);
});

test('D-44: a writer may take half of the room, and another one half of the rest', (t) => {
  const graph = startGraph(100_000, 100);
  t.is(taken(graph, long(2000), ann, 0, 50), 25);
  t.is(taken(graph, long(2000), ben, 50, 100), 12);
  t.throws(() => graph.write('desk/99', long(60_000), ann), {
    code: 'conflict',
    message:
      'desk/99: expected at most 100,000 characters in all long texts together, of which each writer leaves half free, got 60,000 more',
  });
  t.is(graph.find('desk/99')!.value, undefined);
});

test('short texts are never refused, nor is text that replaces one of the same length', (t) => {
  const graph = startGraph(10_000, 100);
  t.is(taken(graph, long(2500), ann, 0, 100), 2);
  for (const end of ['z', 'x', 'y']) graph.write('desk/0', long(2499) + end, ann);
  t.is(taken(graph, long(1024), ann, 2, 100), 98);
});

test('the previous text counts as well, until the next change forgets it', (t) => {
  const graph = startGraph(1_000_000);
  graph.write('desk/0', long(2000), ann);
  t.is(graph.texts.characters, 4000, 'there is room for another one as long');
  graph.write('desk/0', 'short', ann);
  t.is(graph.texts.characters, 2000);
  graph.write('desk/0', 'shorter', ann);
  t.is(graph.texts.characters, 0);
});

test('a turn takes no more than the available room, whatever a rule makes of one text', (t) => {
  const graph = startGraph(100_000, 1000);
  const rule: Origin = { kind: 'rule', name: 'copies' };
  let copies = 0;
  graph.find('desk/0')!.subscribe((value) => {
    if (value !== undefined) copies = taken(graph, String(value), rule, 1, 1000);
  });
  graph.write('desk/0', long(2000), ann);
  t.true(copies > 10 && copies < 50, `${copies}`);
  t.true(graph.texts.characters <= 200_000);
  t.is(taken(graph, long(2000), ann, 999, 1000), 0, 'what a rule does because of somebody counts as theirs');
  t.is(taken(graph, long(2000), ben, 999, 1000), 1);
});

test('D-44: defaults, restored values and values of another hub are not refused', (t) => {
  const graph = startGraph(10_000);
  const declarations = Array.from({ length: 20 }, (_, index) => {
    return { id: `default/${index}`, type: 'S', access: 'read-write', defaultValue: long(2000) } as const;
  });
  graph.declare(owner, declarations);
  t.is(graph.texts.characters, 80_000);
  t.is(taken(graph, long(2000), ann, 0, 1), 0);
  graph.remove(declarations.map(({ id }) => graph.get(`desk/${id}`)));
  t.is(graph.texts.characters, 0);
  t.is(taken(graph, long(2000), ann, 0, 1), 1);
});

test('whatever is written, the count equals what is held, and is within the room', (t) => {
  const write = fc.record({
    parameter: fc.nat(9),
    length: fc.nat(3000),
    end: fc.constantFrom('a', 'b'),
    by: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(write, { maxLength: 100 }), (writes) => {
      const graph = startGraph(20_000);
      for (const { parameter, length, end, by } of writes) {
        try {
          graph.write(`desk/${parameter}`, long(length) + end, by ? ann : ben);
        } catch {}
        let held = 0;
        for (const { value, lastChange } of graph.parameters())
          for (const text of [value, lastChange?.previous])
            if (typeof text === 'string' && text.length > 1024) held += text.length;
        t.true(held <= graph.texts.characters && graph.texts.characters <= 40_000, `${held}`);
      }
      for (const { address } of graph.parameters()) for (const text of ['1', '2']) graph.write(address, text, ann);
      t.is(graph.texts.characters, 0);
    }),
  );
});
