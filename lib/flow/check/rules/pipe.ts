// Checks the steps of `pipe`: each against the output type of the previous step.

import { type CompiledExpression, compileExpression, type TypeOf } from '../../../expression/expression.ts';
import { nearestName, unknownName } from '../../../json5/nearest-name.ts';
import { describe } from '../../../model/error.ts';
import { isJsonObject } from '../../../model/json-object.ts';
import type { ValueType } from '../../../model/value.ts';
import type { RuleExpression } from '../../rule-expression.ts';
import type { PreparedStep } from '../../steps/step.ts';
import { stepTypes } from '../../steps/steps.ts';
import { warnOfSmallStep } from '../small-durations.ts';
import type { SourceLocation } from '../source-location.ts';
import { stepMeantBy } from './misplaced-settings.ts';

type TypesAt = (location: SourceLocation) => ExpressionTypes;

/** Checks the steps of a rule. `type` is the type of the value that enters the first step, or undefined if the type is not known. */
export function checkPipe(
  location: SourceLocation,
  items: readonly unknown[],
  type: ValueType | undefined,
  typesAt: TypesAt,
): PreparedStep[] {
  let current = type;
  return items.flatMap((item, index) => {
    const step = checkStep(location.at(index), item, current, typesAt);
    current = step?.type;
    return step === undefined ? [] : [step];
  });
}

function checkStep(
  location: SourceLocation,
  item: unknown,
  type: ValueType | undefined,
  typesAt: TypesAt,
): PreparedStep | undefined {
  if (!isJsonObject(item)) {
    location.add(`expected a step such as { debounceTime: 50 }, got ${describe(item)}${hintOf(item)}`);
    return undefined;
  }
  const names = Object.keys(item);
  const [name = ''] = names;
  if (names.length !== 1) {
    const single = names.map((one) => `{ ${one}: ${JSON.stringify(item[one])} }`).join(', ');
    location.add(
      names.length === 0
        ? 'expected a step such as { debounceTime: 50 }, got {}'
        : `expected one step in each { }: ${single}`,
    );
    return undefined;
  }
  const stepLocation = location.at(name);
  const stepType = stepTypes.get(name);
  if (stepType === undefined) {
    const meant = stepMeantBy(name);
    stepLocation.add(
      meant === undefined
        ? unknownName('step', name, [...stepTypes.keys()])
        : `unknown step "${name}", did you mean "${meant}"?`,
    );
    return undefined;
  }
  const setting = stepLocation.parse(stepType.setting, item[name]);
  if (setting === undefined) return undefined;
  warnOfSmallStep(stepLocation, name, item[name]);
  const expressionLocation = isJsonObject(item[name]) ? stepLocation.at('expression') : stepLocation;
  const reads: RuleExpression[] = [];
  const prepared = expressionLocation.attempt(() =>
    stepType.prepare(setting, {
      type,
      compile(text, more, expects) {
        const types = { ...typesAt(expressionLocation), variables: { value: type, ...more } };
        const expression = compileRuleExpression(text, types, expects);
        reads.push(expression);
        return expression;
      },
      prepare: (inner) => checkPipe(stepLocation, inner, type, typesAt),
    }),
  );
  return prepared && { ...prepared, reads: timeless.has(name) ? reads : undefined };
}

/** The names of the steps that pass on or drop each value immediately. */
const timeless: ReadonlySet<string> = new Set(
  'filter map pairwise scan distinctUntilChanged startWith skip take skipWhile takeWhile deadband scale clamp lookup'.split(
    ' ',
  ),
);

/**
 * Example settings, at least one of which is valid for each step. The error for a step written as a plain string shows the first valid
 * example.
 */
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

// Compiles the expressions of rules. They read `value`, or the names of `from`, and also `previous`, `now` (ms since 1970)
// and `param('desk/level')`: the current value of another parameter, whose changes do not start the rule.

/** The types that an expression in a rule may read. */
export interface ExpressionTypes {
  readonly variables: Readonly<Record<string, ValueType | undefined>>;
  /** Returns the type of another parameter. If there is no such parameter, adds an error and returns undefined. */
  readonly typeOf: TypeOf;
}

/** Rules with the same expression share one object, so that the object stays in the CPU caches even with thousands of rules. */
const known = new WeakMap<CompiledExpression, RuleExpression>();

/** Compiles an expression in a rule. Errors: the same as for `compileExpression`. */
export function compileRuleExpression(
  text: string,
  { variables, typeOf }: ExpressionTypes,
  expects?: 'B',
): RuleExpression {
  const compiled = compileExpression(text, { ...variables, now: 'F' }, expects, typeOf);
  const { evaluate, type, lookedUp, names } = compiled;
  const isFire = variables.value === 'T' && text.trim() === 'value';
  const made = known.get(compiled) ?? {
    evaluate,
    type: isFire ? 'T' : type,
    lookedUp,
    readsNow: names.includes('now'),
    readsPrevious: names.includes('previous'),
    passes: names.find((name) => name === text.trim()),
  };
  known.set(compiled, made);
  return made;
}
