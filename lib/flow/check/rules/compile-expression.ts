// Compiles the expressions of rules. They read `value`, or the names of `from`, and also `previous`, `now` (ms since 1970)
// and `param('desk/level')`: the value of another parameter at that moment, a change of which does not start the rule.

import { compileExpression, freeNames } from '../../../expression/expression.ts';
import type { ValueType } from '../../../model/value.ts';
import type { RuleExpression } from '../../rule-expression.ts';

/** Knows the types that the expressions of one rule may read. */
export interface ExpressionTypes {
  readonly variables: Readonly<Record<string, ValueType | undefined>>;
  /** The type of another parameter. Errors: `bad-flow` when there is none of this address. */
  typeOf(address: string): ValueType | undefined;
}

/** A string, which is left alone, or a look at another parameter. */
const stringOrParam = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\bparam\(\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*\)/g;

/** Compiles an expression of a rule. Errors: as `compileExpression`, and those of `typeOf`. */
export function compileRuleExpression(text: string, types: ExpressionTypes, expects?: 'B'): RuleExpression {
  const params: { name: string; address: string }[] = [];
  const variables: Record<string, ValueType | undefined> = { ...types.variables, now: 'F' };
  const rewritten = text.replace(stringOrParam, (all, literal?: string, single?: string, double?: string) => {
    if (literal !== undefined) return all;
    const address = single ?? double ?? '';
    const name = `param_${params.length}`;
    params.push({ name, address });
    variables[name] = types.typeOf(address);
    return name;
  });
  const { evaluate, type } = compileExpression(rewritten, variables, expects);
  const names = params.length === 0 && !/\b(now|previous)\b/.test(text) ? [] : freeNames(rewritten);
  return { evaluate, type, params, readsNow: names.includes('now'), readsPrevious: names.includes('previous') };
}
