// An expression in a widget, in a form that a page can evaluate without the expression language: constants, parameters and operators. The
// results are the same as those of expressions in rules.

import type { Value } from '../model/value.ts';

/** The functions that an expression can use to look up a parameter: `param`, `known`, `fresh` and `wanted`. */
export const lookUps = ['param', 'known', 'fresh', 'wanted'] as const;
export type LookUp = (typeof lookUps)[number];

export const operators = [
  ...['?:', '&&', '||', '!_', '==', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '-_', 'in', 'list'],
] as const;

export type Formula =
  | { readonly value: Value }
  | { readonly ask: LookUp; readonly address: string }
  | { readonly operator: string; readonly of: readonly Formula[] };

/** Looks up a parameter for a formula. Returns undefined if the result is unknown. */
export type Answer = (ask: LookUp, address: string) => Value | undefined;

/** Returns the addresses of the parameters that a formula reads. */
export function addressesOfFormula(formula: Formula | undefined): string[] {
  if (formula === undefined || 'value' in formula) return [];
  return 'ask' in formula ? [formula.address] : formula.of.flatMap(addressesOfFormula);
}

/** Returns the value of a formula. Throws if a parameter is unknown, or if an operator does not accept an operand. */
export function evaluate(formula: Formula, answer: Answer): Value {
  if ('value' in formula) return formula.value;
  if ('ask' in formula) {
    const value = answer(formula.ask, formula.address);
    if (value === undefined) throw new Error(`${formula.address} is unknown`);
    return value;
  }
  const { operator, of } = formula;
  const operand = (index: number) => evaluate(of[index]!, answer);
  switch (operator) {
    case '?:':
      return conditionOf(operand(0), '?') ? operand(1) : operand(2);
    case '&&':
      return decided(operand, '&&', false);
    case '||':
      return decided(operand, '||', true);
    case '!_':
      return !conditionOf(operand(0), '!');
    case '-_':
      return -numberOf(operand(0), '-');
    case '==':
      return operand(0) === operand(1);
    case '!=':
      return operand(0) !== operand(1);
    case 'in': {
      const wanted = operand(0);
      return (of[1] as { readonly of: readonly Formula[] }).of.some((one) => evaluate(one, answer) === wanted);
    }
    default:
      return compute(operator, operand(0), operand(1));
  }
}

/**
 * Returns the result of `&&` or `||`, evaluating operands until one of them decides the result. One deciding operand is enough, even if the
 * other operand fails.
 */
function decided(operand: (index: number) => Value, operator: string, decisive: boolean): boolean {
  let failure: unknown;
  for (const index of [0, 1])
    try {
      if (conditionOf(operand(index), operator) === decisive) return decisive;
    } catch (error) {
      failure ??= error;
    }
  if (failure !== undefined) throw failure;
  return !decisive;
}

function compute(operator: string, left: Value, right: Value): Value {
  if (typeof left !== typeof right || typeof left === 'boolean')
    throw new Error(`expected values that ${operator} accepts, got ${left} ${operator} ${right}`.slice(0, 200));
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
    case '+':
      return typeof left === 'string' ? left + right : left + (right as number);
  }
  const [one, other] = [numberOf(left, operator), numberOf(right, operator)];
  switch (operator) {
    case '-':
      return one - other;
    case '*':
      return one * other;
    case '/':
      return one / other;
    case '%':
      return one % other;
    default:
      throw new Error(`unknown operator ${operator}`);
  }
}

function conditionOf(value: Value, operator: string): boolean {
  if (typeof value !== 'boolean')
    throw new Error(`expected a condition as an operand of ${operator}, got ${value}`.slice(0, 200));
  return value;
}

function numberOf(value: Value, operator: string): number {
  if (typeof value !== 'number')
    throw new Error(`expected a number as an operand of ${operator}, got ${value}`.slice(0, 200));
  return value;
}
