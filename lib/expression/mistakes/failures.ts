// Explains in plain language why an expression failed at run time on a value whose type was not known when the file was loaded.

import { HubError } from '../../model/error.ts';
import { pointInTime, timeSpan } from '../functions/times.ts';
import { authorsName } from '../language.ts';

/** Returns an error from CEL in plain words. Errors from Patchbay's functions are already in plain words. */
export function explainFailure(error: unknown): unknown {
  const { code, summary } = (error ?? {}) as { readonly code?: unknown; readonly summary?: unknown };
  if (typeof code !== 'string' || typeof summary !== 'string') return error;
  return new Error(explain(code, summary));
}

function explain(code: string, summary: string): string {
  const types = (list: string) =>
    list
      .split(/, (?![^<]*>)/)
      .filter((type) => type !== '')
      .map(wordOf)
      .join(', ');
  const binary = /^no such overload: (\S+) (\S+) (\S+)$/.exec(summary);
  if (binary !== null) {
    const [, left, operator, right] = binary;
    return `expected values that ${operator} accepts, got ${wordOf(left!)} ${operator} ${wordOf(right!)}`;
  }
  const unary = /^no such overload: ([-!])(\S+)$/.exec(summary);
  if (unary !== null)
    return `expected ${unary[1] === '!' ? 'a condition' : 'a number'} after ${unary[1]}, got ${aWordOf(unary[2]!)}`;
  const call = /^found no matching overload for '(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(summary);
  if (call !== null) {
    const [, receiver, name, list] = call;
    const given = [receiver, list].filter((part) => part !== undefined && part !== '').join(', ');
    return `expected arguments that ${authorsName(name!)} accepts, got ${authorsName(name!)}(${types(given)})`;
  }
  const range = /^Expression of type '([^']+)' cannot be range/.exec(summary);
  if (range !== null) return `expected a list to iterate over, got ${aWordOf(range[1]!)}`;
  const type = /got '([^']+)'$/.exec(summary);
  if (type !== null && (code === 'invalid_logical_operand' || code === 'invalid_condition_type'))
    return `expected a condition, got ${aWordOf(type[1]!)}`;
  const key = /^No such key: (.*)$/.exec(summary);
  return key === null ? summary : `expected a key of the map, got ${JSON.stringify(key[1])}`;
}

// An error in an expression.

export class ExpressionMistake extends HubError {
  /** The offset of the error in the expression, in UTF-16 code units. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super('bad-flow', message);
    this.offset = offset;
  }

  /** Returns the same error for another offset in the expression. */
  movedTo(offset: number): ExpressionMistake {
    return offset === this.offset ? this : new ExpressionMistake(this.message, offset);
  }
}

// The types of CEL in plain words.

const words: Readonly<Record<string, string>> = {
  double: 'number',
  int: 'number',
  string: 'text',
  bool: 'true/false',
  dyn: 'value of unknown type',
  null: 'null',
  [pointInTime]: 'point in time',
  [timeSpan]: 'duration',
};

/** Translates the name of a CEL type into plain words: `double` → `number`, `list<string>` → `list of text`. */
export function wordOf(type: string): string {
  const [, wrapped] = /^dyn<(.*)>$/.exec(type) ?? [];
  if (wrapped !== undefined) return wordOf(wrapped);
  const known = words[type];
  if (known !== undefined) return known;
  const [, inner] = /^list<(.*)>$/.exec(type) ?? [];
  if (inner !== undefined)
    return { dyn: 'list', double: 'list of numbers', string: 'list of texts' }[inner] ?? `list of ${wordOf(inner)}`;
  if (type.startsWith('map')) return 'map';
  if (/^[A-Z]$/.test(type)) return 'value of unknown type'; // the type of the items in an empty list
  return type.startsWith('type') ? 'type' : type;
}

/** Returns the plain name of a CEL type with an article: `a number`. */
export function aWordOf(type: string): string {
  const word = wordOf(type);
  return ['true/false', 'null', 'text'].includes(word) ? word : `a ${word}`;
}
