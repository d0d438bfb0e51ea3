// The types of the language in the words of people.

import { pointInTime, timeSpan } from '../functions/times.ts';

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

/** `double` → `number`, `list<string>` → `list of text`. */
export function wordOf(type: string): string {
  const [, wrapped] = /^dyn<(.*)>$/.exec(type) ?? [];
  if (wrapped !== undefined) return wordOf(wrapped);
  const known = words[type];
  if (known !== undefined) return known;
  const [, inner] = /^list<(.*)>$/.exec(type) ?? [];
  if (inner !== undefined)
    return { dyn: 'list', double: 'list of numbers', string: 'list of texts' }[inner] ?? `list of ${wordOf(inner)}`;
  if (type.startsWith('map')) return 'map';
  return type.startsWith('type') ? 'type' : type;
}

/** The same with an article: `a number`. */
export function aWordOf(type: string): string {
  const word = wordOf(type);
  return word === 'true/false' || word === 'null' ? word : `a ${word}`;
}
