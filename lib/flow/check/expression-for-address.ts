// Tells what to write where somebody has put an expression in the place of an address.

import type { SettingPath } from '../../json5/mistake.ts';
import { describe } from '../../model/error.ts';

/** What addresses seldom have, and expressions mostly. */
const operator = /\|\||&&|[=!<>]=|[<>]|^\s*!|\s[-+*/%]\s|\bparam\s*\(|^\s*\(|\?.*:|\s(?:and|or)\s|=/;
/** An address within an expression. */
const address = /[a-z0-9-]+(?:\/[^\s/|&=!<>+*%?:,()'"]+)+/g;
const name = /[A-Za-z_]\w*/g;
const otherWords: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in', 'and', 'or', 'not', 'value']);
const letters = [...'abcdefgh'];

/** Says what to write; undefined: the text looks like a misspelt address. `isKnown`: whether there is a parameter of an address. */
export function explainExpression(
  text: string,
  path: SettingPath,
  isKnown: (address: string) => boolean,
): string | undefined {
  if (!operator.test(text)) return undefined;
  const expected = `expected an address <Connection ID>/<Parameter ID>, got the expression ${describe(text).replace(/ \(string\)$/, '')}`;
  const at = (setting: string) => path.at(-1) === setting || path.at(-2) === setting;
  if (at('from'))
    return `${expected}: from says what starts the rule, and map has the expression: ${asRule(text, isKnown)}`;
  if (at('to'))
    return `${expected}: to says what is written; an expression stands in map, or behind the address: to: { 'desk/a': 'value * 2' }`;
  if (at('inputs'))
    return `${expected}: inputs have addresses alone, and the expression of an output computes with their names`;
  if (path.at(-1) === 'when')
    return `${expected}: when names a parameter that is true or false. Have a virtual-core compute it, outputs: { low: { type: 'B', expression: '…' } }, and name that: when: 'core/low'`;
  return expected;
}

/** `from: { a: 'desk/mic1', b: 'desk/mic2' }, map: 'a || b'` */
function asRule(text: string, isKnown: (address: string) => boolean): string {
  const bare = text.replace(/\bparam\s*\(\s*(['"])(.*?)\1\s*\)/g, '$2').trim();
  const found = [...new Set(bare.match(address) ?? [])].filter(isKnown);
  const quote = (expression: string) => (expression.includes("'") ? `"${expression}"` : `'${expression}'`);
  if (found.length === 1) return `from: '${found[0]}', map: ${quote(bare.replaceAll(found[0]!, 'value'))}`;
  if (found.length > 1 && found.length <= letters.length) {
    const names = found.map((one, index) => `${letters[index]}: '${one}'`).join(', ');
    const longestFirst = found
      .map((one, index) => [one, letters[index]!] as const)
      .sort(([a], [b]) => b.length - a.length);
    const map = longestFirst.reduce((expression, [one, letter]) => expression.replaceAll(one, letter), bare);
    return `from: { ${names} }, map: ${quote(map)}`;
  }
  const words = [...new Set(bare.match(name) ?? [])].filter((word) => !otherWords.has(word) && !bare.includes('/'));
  const names = words.length === 0 ? ['a', 'b'] : words;
  return `from: { ${names.map((word) => `${word}: 'desk/${word}'`).join(', ')} }, map: ${quote(words.length === 0 ? '…' : bare)}`;
}
