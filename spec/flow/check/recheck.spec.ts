// Flow files that are checked again after a save give the same result as files checked for the first time, errors included.

import test from 'ava';
import fc from 'fast-check';
import { checkFlowFiles, FlowCheck } from '../../../lib/flow/check/check.ts';
import type { FlowFile } from '../../../lib/flow/files/flow-file.ts';
import type { Plan } from '../../../lib/flow/plan.ts';
import { formatMistake, MistakeList } from '../../../lib/json5/mistake.ts';
import { readJson5 } from '../../../lib/json5/read-json5.ts';
import { withSameParts } from '../../../lib/json5/reread.ts';
import { connectionTypes } from '../../support/connection-types.ts';

const lines = fc.constantFrom('a,F', 'a,F,1', 'a,S');
const rule = fc.constantFrom<object>(
  ...[
    { from: 'desk/a', to: 'desk/b' },
    { from: 'desk/a', map: 'value + 1', to: 'desk/b' },
    { from: 'desk/b', when: "param('desk/a') > 1", map: 'value', to: 'desk/c' },
    { from: { x: 'desk/b', y: 'desk/c' }, map: 'x + y', to: 'desk/a' },
    { from: 'hub/started', map: '1', to: 'desk/c' },
    { name: 'core', from: 'core/out', map: 'value', to: 'desk/b' },
  ],
);
const mistake = fc.constantFrom<object>(
  { from: 'desk/unknown', to: 'desk/c' },
  { from: 'desk/a', map: 'valu', to: 'desk/c', enabled: false },
);
const folder = fc.record({
  folder: fc.constantFrom('one', 'two'),
  enabled: fc.boolean(),
  rules: fc.array(rule, { maxLength: 3 }),
});
const file = fc.record({
  connections: fc.record({
    desk: fc.record({
      type: fc.constant('dummy'),
      parameters: fc.tuple(lines, fc.constant('b,F'), fc.constant('c,F')),
    }),
    core: fc.record({
      type: fc.constant('virtual-core'),
      inputs: fc.constantFrom({ x: 'desk/a' }, { x: 'desk/b' }),
      outputs: fc.constant({ out: { type: 'F', expression: 'double(x)' } }),
    }),
  }),
  rules: fc.array(
    fc.oneof({ weight: 12, arbitrary: rule }, { weight: 4, arbitrary: folder }, { weight: 1, arbitrary: mistake }),
    { maxLength: 4 },
  ),
  shadow: fc.boolean(),
});

const fileOf = (name: string, before: FlowFile | undefined, data: object): FlowFile => {
  const { data: read, positionOf } = readJson5(JSON.stringify(data, null, 1));
  return { name, folder: '/flows', version: JSON.stringify(data), data: withSameParts(before?.data, read), positionOf };
};

const shown = ({ rules, connections, files }: Plan, mistakes: MistakeList) => ({
  mistakes: mistakes.items.map(formatMistake),
  rules: rules.map(({ body, ...rest }) => [rest, 'from' in body ? body.from : undefined]),
  connections: connections.map(({ id, key, settleOrder, inputs }) => ({ id, key, settleOrder, inputs })),
  files,
});

test('a check after any sequence of saves gives the same result as a first check', (t) => {
  const property = fc.property(fc.array(file, { minLength: 2, maxLength: 5 }), (saves) => {
    const again = new FlowCheck(connectionTypes);
    let before: FlowFile | undefined;
    for (const data of saves) {
      const last = fileOf('a.json5', before, data);
      const [warm, cold] = [new MistakeList(), new MistakeList()];
      t.deepEqual(
        shown(again.check([last], warm), warm),
        shown(checkFlowFiles([fileOf('a.json5', undefined, data)], connectionTypes, cold), cold),
      );
      before = last;
    }
  });
  t.notThrows(() => fc.assert(property, { numRuns: 50 }));
});

test('unchanged rules keep their plans as long as declarations and the settle order stay', (t) => {
  const rules = [1, 2, 3].map((factor) => ({ from: 'desk/a', map: `value * ${factor}`, to: 'desk/b' }));
  const data = { connections: { desk: { type: 'dummy', parameters: ['a,F', 'b,F', 'c,F'] } }, rules };
  const check = new FlowCheck(connectionTypes);
  const first = fileOf('a.json5', undefined, data);
  const plans = check.check([first], new MistakeList()).rules;
  const after = (changed: object) => check.check([fileOf('a.json5', first, changed)], new MistakeList()).rules;
  const isSame = (changed: object) => after(changed).map((plan, index) => plan === plans[index]);
  t.deepEqual(isSame({ ...data, rules: rules.with(1, { ...rules[1]!, map: 'value * 7' }) }), [true, false, true]);
  t.deepEqual(isSame({ ...data, rules: rules.with(1, { ...rules[1]!, to: 'desk/c' }) }), [true, false, true]);
  const otherType = { desk: { type: 'dummy', parameters: ['a,I', 'b,F', 'c,F'] } };
  t.deepEqual(isSame({ ...data, connections: otherType }), [false, false, false]);
});

test('rules that are no longer shadow rules get their positions among the others', (t) => {
  const rules = [
    { from: 'desk/b', map: 'value', to: 'desk/c' },
    { from: 'desk/a', map: 'value', to: 'desk/b' },
  ];
  const connections = { desk: { type: 'dummy', parameters: ['a,F', 'b,F', 'c,F'] } };
  const check = new FlowCheck(connectionTypes);
  const placesOf = (shadow: boolean) => {
    const plan = check.check([fileOf('a.json5', undefined, { connections, rules, shadow })], new MistakeList());
    return plan.rules.map(({ settleOrder }) => settleOrder);
  };
  t.deepEqual([true, false, true].map(placesOf), [
    [0, 1],
    [1, 0],
    [0, 1],
  ]);
});
