// Expressions of rules: over `value`, or the names of `from`, and also over `previous`, `now` (ms since 1970) and
// `param('desk/level')`, the value of another parameter at that moment, without listening to it.

import { compileExpression, type Expression, freeNames } from '../expression/expression.ts';
import type { Value, ValueType } from '../model/value.ts';

export interface RuleExpression {
  readonly evaluate: Expression;
  readonly type: ValueType | undefined;
  /** What it reads beside its own variables, looked up when it is evaluated: variable → address. */
  readonly params: readonly { readonly name: string; readonly address: string }[];
  readonly readsNow: boolean;
  readonly readsPrevious: boolean;
}

/** Knows the types that expressions of one rule may read. */
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

/** What expressions look up while a rule runs. */
export interface ExpressionRuntime {
  now(): number;
  valueOf(address: string): Value | undefined;
  reportFault(error: unknown): void;
  /** An expression has no result as long as this parameter is unknown. */
  reportUnknown(address: string): void;
}

/** Evaluates over a scope; undefined when what it reads is not known yet, or when it failed, which has been reported. */
export type BoundExpression = (scope: Record<string, Value>) => Value | undefined;

/** Binds an expression to what it looks up. */
export function bindExpression(expression: RuleExpression, runtime: ExpressionRuntime): BoundExpression {
  const { evaluate, params, readsNow, readsPrevious } = expression;
  return (scope) => {
    if (readsPrevious && scope.previous === undefined) return undefined;
    if (readsNow) scope.now = runtime.now();
    for (const { name, address } of params) {
      const value = runtime.valueOf(address);
      if (value === undefined) {
        runtime.reportUnknown(address);
        return undefined;
      }
      scope[name] = value;
    }
    try {
      return evaluate(scope);
    } catch (error) {
      runtime.reportFault(error);
      return undefined;
    }
  };
}
