// Compiles the expressions of rules. They read `value`, or the names of `from`, and also `previous`, `now` (ms since 1970)
// and `param('desk/level')`: the value of another parameter at that moment, a change of which does not start the rule.

import { type CompiledExpression, compileExpression, type TypeOf } from '../../../expression/expression.ts';
import type { ValueType } from '../../../model/value.ts';
import type { RuleExpression } from '../../rule-expression.ts';

/** Knows the types that one expression of a rule may read. */
export interface ExpressionTypes {
  readonly variables: Readonly<Record<string, ValueType | undefined>>;
  /** The type of another parameter; undefined after it has added the mistake. */
  readonly typeOf: TypeOf;
}

/** The same expression is one object for all rules that have it: among thousands it stays in the caches of the processor. */
const known = new WeakMap<CompiledExpression, RuleExpression>();

/** Compiles an expression of a rule. Errors: as `compileExpression`. */
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
  };
  known.set(compiled, made);
  return made;
}
