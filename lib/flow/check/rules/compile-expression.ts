// Compiles the expressions of rules. They read `value`, or the names of `from`, and also `previous`, `now` (ms since 1970)
// and `param('desk/level')`: the value of another parameter at that moment, a change of which does not start the rule.

import { compileExpression, type TypeOf } from '../../../expression/expression.ts';
import type { ValueType } from '../../../model/value.ts';
import type { RuleExpression } from '../../rule-expression.ts';

/** Knows the types that one expression of a rule may read. */
export interface ExpressionTypes {
  readonly variables: Readonly<Record<string, ValueType | undefined>>;
  /** The type of another parameter; undefined after it has added the mistake. */
  readonly typeOf: TypeOf;
}

/** Compiles an expression of a rule. Errors: as `compileExpression`. */
export function compileRuleExpression(
  text: string,
  { variables, typeOf }: ExpressionTypes,
  expects?: 'B',
): RuleExpression {
  const { names, ...compiled } = compileExpression(text, { ...variables, now: 'F' }, expects, typeOf);
  return { ...compiled, readsNow: names.includes('now'), readsPrevious: names.includes('previous') };
}
