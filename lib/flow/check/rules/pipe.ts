// Checks the steps of `pipe`: each against the type of what the step before gives out.

import { unknownName } from '../../../json5/mistake.ts';
import { isJsonObject } from '../../../model/json-object.ts';
import type { ValueType } from '../../../model/value.ts';
import type { PreparedStep } from '../../steps/step.ts';
import { stepTypes } from '../../steps/steps.ts';
import type { Spot } from '../spot.ts';
import { compileRuleExpression, type ExpressionTypes } from './compile-expression.ts';

type TypesAt = (spot: Spot) => ExpressionTypes;
type Item = Readonly<Record<string, unknown>>;

/** `type` is that of what goes in, undefined where it is not known. */
export function checkPipe(
  spot: Spot,
  items: readonly Item[],
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

function checkStep(spot: Spot, item: Item, type: ValueType | undefined, typesAt: TypesAt): PreparedStep | undefined {
  const names = Object.keys(item);
  const [name = ''] = names;
  if (names.length !== 1) {
    spot.add(`expected one step, such as { debounceTime: 50 }, got ${names.length}`);
    return undefined;
  }
  const stepSpot = spot.at(name);
  const stepType = stepTypes.get(name);
  if (stepType === undefined) {
    stepSpot.add(unknownName('step', name, [...stepTypes.keys()]));
    return undefined;
  }
  const setting = stepSpot.parse(stepType.setting, item[name]);
  if (setting === undefined) return undefined;
  const expressionSpot = isJsonObject(item[name]) ? stepSpot.at('expression') : stepSpot;
  return expressionSpot.attempt(() =>
    stepType.prepare(setting, {
      type,
      compile: (text, more, expects) =>
        compileRuleExpression(text, { ...typesAt(expressionSpot), variables: { value: type, ...more } }, expects),
    }),
  );
}
