// The logic of a computed output: it evaluates an expression and converts the result to the type of the output.

import type { Expression } from '../../expression/expression.ts';
import { convert, type Value, type ValueType } from '../../model/value.ts';
import { type Logic, RisingEdge } from './blocks/logic.ts';

/**
 * Creates the logic of an expression; its arguments are the identifiers. An output of type T fires when the result becomes true.
 * `step` throws when the expression fails, or when its result is no value of the type (NaN, infinite). The output stays then.
 */
export function createComputation(expression: Expression, identifiers: readonly string[], type: ValueType): Logic {
  const outputs: Value[] = [false];
  const scope: Record<string, Value> = {};
  const edge = new RisingEdge();
  const memory: Pick<Logic, 'remember' | 'recall'> = {
    remember: () => ({ outputs: [], edges: [edge.wasFalse] }),
    recall: ({ edges }) => {
      edge.wasFalse = edges[0]!;
    },
  };
  return {
    outputs,
    wakeAt: Infinity,
    ...(type === 'T' ? memory : {}),
    step: (values) => {
      for (let index = 0; index < identifiers.length; index++) scope[identifiers[index]!] = values[index]!;
      const result = expression(scope);
      outputs[0] = type === 'T' ? edge.rises(result === true) : convert(type, result);
    },
  };
}
