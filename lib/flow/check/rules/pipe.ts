// Checks the steps of `pipe`: each against the type of what the step before gives out.

import { nearestName, unknownName } from '../../../json5/nearest-name.ts';
import { describe } from '../../../model/error.ts';
import { isJsonObject } from '../../../model/json-object.ts';
import type { ValueType } from '../../../model/value.ts';
import type { PreparedStep } from '../../steps/step.ts';
import { stepTypes } from '../../steps/steps.ts';
import { warnOfSmallStep } from '../small-durations.ts';
import type { Spot } from '../spot.ts';
import { compileRuleExpression, type ExpressionTypes } from './compile-expression.ts';
import { stepMeantBy } from './misplaced-settings.ts';

type TypesAt = (spot: Spot) => ExpressionTypes;

/** `type` is that of what goes in, undefined where it is not known. */
export function checkPipe(
  spot: Spot,
  items: readonly unknown[],
  type: ValueType | undefined,
  typesAt: TypesAt,
): PreparedStep[] {
  let current = type;
  return items.flatMap((item, index) => {
    const step = checkStep(spot.at(index), item, current, typesAt);
    current = step?.type;
    return step === undefined ? [] : [step];
  });
}

function checkStep(spot: Spot, item: unknown, type: ValueType | undefined, typesAt: TypesAt): PreparedStep | undefined {
  if (!isJsonObject(item)) {
    spot.add(`expected a step such as { debounceTime: 50 }, got ${describe(item)}${hintOf(item)}`);
    return undefined;
  }
  const names = Object.keys(item);
  const [name = ''] = names;
  if (names.length !== 1) {
    const single = names.map((one) => `{ ${one}: ${JSON.stringify(item[one])} }`).join(', ');
    spot.add(
      names.length === 0
        ? 'expected a step such as { debounceTime: 50 }, got {}'
        : `expected one step in each { }: ${single}`,
    );
    return undefined;
  }
  const stepSpot = spot.at(name);
  const stepType = stepTypes.get(name);
  if (stepType === undefined) {
    const meant = stepMeantBy(name);
    stepSpot.add(
      meant === undefined
        ? unknownName('step', name, [...stepTypes.keys()])
        : `unknown step "${name}", did you mean "${meant}"?`,
    );
    return undefined;
  }
  const setting = stepSpot.parse(stepType.setting, item[name]);
  if (setting === undefined) return undefined;
  warnOfSmallStep(stepSpot, name, item[name]);
  const expressionSpot = isJsonObject(item[name]) ? stepSpot.at('expression') : stepSpot;
  return expressionSpot.attempt(() =>
    stepType.prepare(setting, {
      type,
      compile: (text, more, expects) =>
        compileRuleExpression(text, { ...typesAt(expressionSpot), variables: { value: type, ...more } }, expects),
      prepare: (inner) => checkPipe(stepSpot, inner, type, typesAt),
    }),
  );
}

/** Settings, of which each step can have one: what is written as a text alone is shown with it. */
const examples = [
  true,
  50,
  '2s',
  'value > 0',
  [0, 100],
  { from: [0, 1], to: [0, 100] },
  { seed: 0, expression: 'sum + value' },
];

function hintOf(item: unknown): string {
  const name =
    typeof item === 'string'
      ? [item, nearestName(item, [...stepTypes.keys()])].find((one) => stepTypes.has(one ?? ''))
      : undefined;
  if (name === undefined) return '';
  const example = examples.find((setting) => stepTypes.get(name)!.setting.safeParse(setting).success) ?? {};
  const written = JSON.stringify(example)
    .replace(/"(\w+)":/g, '$1: ')
    .replaceAll(',', ', ');
  return `, did you mean { ${name}: ${written} }?`;
}
