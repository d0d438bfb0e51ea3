// Reads an expression in a widget. The language is the same as in rules, except that the only functions are those that look up a parameter.

import { compileExpression, ExpressionMistake, treeOfExpression } from '../expression/expression.ts';
import { isPart, type Part } from '../expression/syntax-tree.ts';
import { unknownName } from '../json5/nearest-name.ts';
import type { Value } from '../model/value.ts';
import { type Formula, type LookUp, lookUps, operators } from './formula.ts';
import { tones } from './tone.ts';

/** Reads a widget's expression, which is a condition or returns a tone. Errors: `ExpressionMistake`. */
export function readFormula(text: string, expects: 'condition' | 'tone'): Formula {
  compileExpression(text, {}, expects === 'tone' ? 'S' : 'B', () => undefined);
  const { tree, offsetOf } = treeOfExpression(text);
  try {
    if (expects === 'tone') expectTones(tree);
    return formulaOf(tree);
  } catch (error) {
    throw error instanceof ExpressionMistake ? error.movedTo(offsetOf(error.offset)) : error;
  }
}

function formulaOf(part: Part): Formula {
  const { op, args, start } = part;
  if (op === 'value') {
    const value = typeof args === 'bigint' ? Number(args) : args;
    if (['string', 'number', 'boolean'].includes(typeof value)) return { value: value as Value };
  }
  if (op === 'call') {
    const [name, [first]] = args as [string, Part[]];
    if ((lookUps as readonly string[]).includes(name) && first?.op === 'value')
      return { ask: name as LookUp, address: String(first.args) };
    throw new ExpressionMistake(
      `expected ${lookUps.join(', ')} or an operator, got the function ${name}(…), which widgets cannot use; compute it with a rule`,
      start,
    );
  }
  const of = (Array.isArray(args) ? args : [args]).filter(isPart);
  if (op === 'in' && of[1]?.op !== 'list')
    throw new ExpressionMistake(`expected a list after "in", such as ['a', 'b']`, of[1]?.start ?? start);
  if (op !== 'list' && !(operators as readonly string[]).includes(op))
    throw new ExpressionMistake(
      `expected constants, operators and ${lookUps.join(', ')}, got ${part.input.slice(start, part.end)}`,
      start,
    );
  return { operator: op, of: of.map(formulaOf) };
}

/** Checks that every constant that the expression may return is a tone. Errors: `ExpressionMistake`. */
function expectTones({ op, args, start }: Part): void {
  if (op === '?:') for (const branch of (args as Part[]).slice(1)) expectTones(branch);
  else if (op === 'value' && typeof args === 'string' && !(tones as readonly string[]).includes(args))
    throw new ExpressionMistake(unknownName('tone', args, tones), start);
}
