// Order by dependency: it sorts every graph without cycles, and finds every cycle.

import test from 'ava';
import fc from 'fast-check';
import { formatCycle, sortByDependency } from '../../lib/model/dependency-order.ts';

const sort = (graph: Record<string, string[]>) => sortByDependency(Object.keys(graph), (key) => graph[key] ?? []);

test('each item follows its dependencies, all others keep their order', (t) => {
  t.deepEqual(sort({ a: ['c'], b: [], c: ['b'] }), { order: ['b', 'c', 'a'], cycles: [] });
});

test('cycles are found, also of a single member, and nothing is lost', (t) => {
  const { order, cycles } = sort({ a: ['a'], b: ['c'], c: ['d', 'e'], d: ['b'], e: [] });
  t.deepEqual(cycles, [['a'], ['b', 'c', 'd']]);
  t.deepEqual([...order].sort(), ['a', 'b', 'c', 'd', 'e']);
});

test('there is an order exactly when there is no cycle', (t) => {
  const size = 12;
  const edges = fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 20 });
  fc.assert(
    fc.property(edges, (pairs) => {
      const keys = Array.from({ length: size }, (_, key) => key);
      const dependenciesOf = (key: number) => pairs.filter(([from]) => from === key).map(([, to]) => to);
      const { order, cycles } = sortByDependency(keys, dependenciesOf);
      t.deepEqual(
        [...order].sort((a, b) => a - b),
        keys,
      );
      const isOrdered = pairs.every(([from, to]) => order.indexOf(to) < order.indexOf(from));
      t.is(isOrdered, cycles.length === 0);
      for (const cycle of cycles)
        cycle.forEach((key, index) => void t.true(dependenciesOf(key).includes(cycle[(index + 1) % cycle.length]!)));
    }),
  );
});

test('depth is not limited', (t) => {
  const depth = 100_000;
  const { order } = sortByDependency([0], (key) => (key < depth ? [key + 1] : []));
  t.is(order.length, depth + 1);
  t.is(order[0], depth);
});

test('a cycle as text, shortened when it is long', (t) => {
  t.is(formatCycle(['a']), 'a → a');
  t.is(formatCycle(['a', 'b']), 'a → b → a');
  const long = formatCycle(Array.from({ length: 25 }, (_, index) => `o${index}`));
  t.true(long.endsWith('→ o19 → … 5 more … → o0'));
});
