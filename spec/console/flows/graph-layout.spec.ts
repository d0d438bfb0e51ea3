// The layout of the graph of rules: any graph is drawn, boxes keep apart, and lines lead to the right.

import test from 'ava';
import fc from 'fast-check';
import type { Graph, GraphNode } from '../../../lib/console/flows/flow-graph.ts';
import { type Box, layOut } from '../../../lib/console/flows/graph-layout.ts';

const nodeOf = (id: string): GraphNode => ({ kind: 'rule', id, rule: id, work: '' });
const graphOf = (count: number, joins: readonly (readonly [number, number])[]): Graph => ({
  nodes: Array.from({ length: count }, (_, index) => nodeOf(String(index))),
  edges: [
    ...new Map(
      joins.map(([from, to]) => [`${from} ${to}`, { from: `${from}`, to: `${to}`, address: undefined }]),
    ).values(),
  ],
});
const chain = (count: number) => Array.from({ length: count - 1 }, (_, index) => [index, index + 1] as const);

const graphs = fc
  .integer({ min: 1, max: 40 })
  .chain((count) => {
    const place = fc.integer({ min: 0, max: count - 1 });
    return fc.tuple(fc.constant(count), fc.array(fc.tuple(place, place), { maxLength: 80 }));
  })
  .map(([count, joins]) => graphOf(count, joins));

const isApart = (one: Box, other: Box) =>
  Math.abs(one.x - other.x) >= (one.width + other.width) / 2 ||
  Math.abs(one.y - other.y) >= (one.height + other.height) / 2 - 0.001;

test('no two boxes overlap, and all of them are within the drawing, also if rules lead in circles', (t) => {
  fc.assert(
    fc.property(graphs, (graph) => {
      const { boxes, lines, width, height } = layOut(graph);
      for (const [index, box] of boxes.entries()) {
        if (boxes.slice(0, index).some((other) => !isApart(box, other))) return false;
        if (box.x < box.width / 2 || box.x + box.width / 2 > width) return false;
        if (box.y < box.height / 2 || box.y + box.height / 2 > height) return false;
      }
      return lines.length === graph.edges.length && lines.every(({ path }) => !path.includes('NaN'));
    }),
  );
  t.pass();
});

test('a line leads to the right, unless it leads back', (t) => {
  const forward = graphs.map(({ nodes, edges }) => ({ nodes, edges: edges.filter(({ from, to }) => +from < +to) }));
  fc.assert(
    fc.property(forward, (graph) => {
      const at = new Map(layOut(graph).boxes.map(({ node, x }) => [node.id, x]));
      return graph.edges.every(({ from, to }) => at.get(from)! < at.get(to)!);
    }),
  );
  t.pass();
});

test('what is joined without a branch is in one row, and sources are next to what they lead to', (t) => {
  const { boxes } = layOut(graphOf(5, [...chain(4), [4, 3]]));
  const [first, second, third, last, source] = boxes;
  t.is(first!.y, second!.y);
  t.is(second!.y, third!.y);
  t.is(source!.x, third!.x);
  t.true(last!.x > source!.x);
});

test('lines do not cross without need', (t) => {
  const { boxes } = layOut(
    graphOf(6, [
      [0, 5],
      [1, 4],
      [2, 3],
    ]),
  );
  t.deepEqual(
    boxes.slice(0, 3).map(({ y }) => y),
    boxes
      .slice(3)
      .map(({ y }) => y)
      .reverse(),
  );
});

test('a box stays free of the lines that pass its column', (t) => {
  const { boxes, lines } = layOut(
    graphOf(3, [
      [0, 1],
      [1, 2],
      [0, 2],
    ]),
  );
  const [, middle] = boxes;
  const bend = / (?<x>[\d.]+) (?<y>[\d.]+)C/.exec(lines[2]!.path)!.groups!;
  t.is(Number(bend.x), middle!.x);
  t.true(Math.abs(Number(bend.y) - middle!.y) > middle!.height / 2);
});

test('an empty graph has the size of its margins', (t) => {
  t.deepEqual(layOut({ nodes: [], edges: [] }), { boxes: [], lines: [], width: 48, height: 48 });
});

test('the largest drawing is laid out within 200 ms', (t) => {
  const joins = Array.from(
    { length: 400 },
    (_, index) => [(index * index * 7) % 160, (index * 131 + 5) % 160] as const,
  );
  layOut(graphOf(160, joins));
  const start = performance.now();
  layOut(graphOf(160, joins));
  const took = performance.now() - start;
  t.log(`${Math.round(took)} ms`);
  t.true(took < 200, `${took} ms`);
});
