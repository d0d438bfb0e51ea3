// A computed output as a piece of logic: an expression over named values, its result converted to the output's type.

import type { Expression } from '../../expression/expression.ts';
import { convert, type Value, type ValueType } from '../../model/value.ts';
import { createRisingEdge, type Logic } from './logic.ts';

/**
 * Creates the logic of an expression whose arguments are its identifiers. A result of type T fires when it turns true.
 * `step` throws when the expression fails or its result is no value of the type (NaN, infinite); outputs stay then.
 */
export function createComputation(expression: Expression, identifiers: readonly string[], type: ValueType): Logic {
  const outputs: Value[] = [false];
  const scope: Record<string, Value> = {};
  const rises = createRisingEdge();
  return {
    outputs,
    wakeAt: Infinity,
    step: (values) => {
      for (let index = 0; index < identifiers.length; index++) scope[identifiers[index]!] = values[index]!;
      const result = expression(scope);
      outputs[0] = type === 'T' ? rises(result === true) : convert(type, result);
    },
  };
}
