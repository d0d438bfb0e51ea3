// The settle order is that of a plain sort by dependency, in which every reader of an address comes after each of its
// writers; and it costs no more if thousands of rules read what thousands write.

import test from 'ava';
import fc from 'fast-check';
import { settleOrderOf } from '../../../../lib/flow/check/rules/known-rules.ts';
import { type ConnectionPlan, type RulePlan, sourcesOf } from '../../../../lib/flow/plan.ts';
import { sortByDependency } from '../../../../lib/model/dependency-order.ts';

type Rule = Pick<RulePlan, 'to' | 'isEnabled' | 'isShadow' | 'body'>;

function rule(from: readonly string[], to: readonly string[], isEnabled = true): Rule {
  return {
    to,
    isEnabled,
    isShadow: false,
    body: {
      from: { any: from },
      when: undefined,
      map: undefined,
      pipe: [],
      result: undefined,
      split: undefined,
      listensToWrites: false,
      runsAtStart: false,
      written: {},
    },
  };
}

const address = fc.constantFrom('a/1', 'a/2', 'a/3', 'core/in', 'core/out', 'b/1');
const rules = fc.array(
  fc
    .tuple(fc.array(address, { minLength: 1, maxLength: 3 }), fc.array(address, { maxLength: 2 }), fc.boolean())
    .map((parts) => rule(...parts)),
  { maxLength: 12 },
);
const connections = [
  { id: 'core', inputs: { x: 'a/1' } },
  { id: 'a', inputs: {} },
] as unknown as ConnectionPlan[];

/** The same, computed from all pairs of a writer and a reader. */
function plainOrderOf(all: readonly Rule[]): Map<number | string, number> {
  const { order } = sortByDependency<number | string>(all.keys(), (node) => {
    const sources = typeof node === 'string' ? ['a/1'] : sourcesOf(all[node]!);
    return sources.flatMap((source) => {
      const writers = all.flatMap(({ to, isEnabled }, index) =>
        isEnabled ? to.filter((one) => one === source).map(() => index) : [],
      );
      return source.startsWith('core/') ? [...writers, 'core'] : writers;
    });
  });
  return new Map(order.map((node, place) => [node, place]));
}

test('each rule comes after those whose results it reads, also in cycles', (t) => {
  fc.assert(
    fc.property(rules, (all) => {
      t.deepEqual(settleOrderOf(all, connections), plainOrderOf(all));
    }),
    { numRuns: 500 },
  );
});

test('20,000 rules that read what 20,000 others write are sorted without comparing each pair', (t) => {
  const writers = Array.from({ length: 20_000 }, (_, index) => rule([`a/${index}`], ['bus/x']));
  const readers = Array.from({ length: 20_000 }, (_, index) => rule(['bus/x'], [`b/${index}`]));
  const order = settleOrderOf([...readers, ...writers], []); // by pairs it would be 400,000,000 steps, of a minute
  t.is(order.get(0), 20_000);
  t.is(order.get(39_999), 19_999);
});
