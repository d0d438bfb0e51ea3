// The JSON Schema for an expression: the words and operators that the expression may contain. Editors use the schema to mark the syntax of
// other languages; types, names and brackets are checked only when the file is loaded. The patterns work in every engine, including RE2,
// Java and Python, because they use no look-around. For this reason, separate patterns describe strings that an expression must not match.
import { functionTypes, macroNames } from './functions/functions.ts';

const any = String.raw`(?:[^\n]|\n)`;
const text = String.raw`(?:"(?:[^"\\]|\\${any})*"|'(?:[^'\\]|\\${any})*')`;
const comment = String.raw`//[^\n]*(?:\n|$)`;
const space = `(?:[ \\t\\r\\n]|${comment})`;
const functions = [...functionTypes.keys(), ...macroNames, 'in'].join('|');
const call = `(?:${functions})${space}*\\(`;
/** Matches a call that reads a parameter whose address is a string literal. */
const read = `(?:param|known)${space}*\\(${space}*${text}`;
const number = String.raw`(?:0x[0-9A-Fa-f]+|(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)`;
const word = '[A-Za-z_][A-Za-z0-9_]*';
/** Matches the characters before or after a value; `(` may follow only the name of a function. */
const sign = String.raw`(?:[=!<>]=|&&|\|\||[-!<>+*/%?:.,)\[\]{}])`;
const value = `(?:[bBrR]{0,2}${text}+|${number}|${word})`;

/** Matches any sequence outside strings. Whole strings are skipped, so that a quote within a string does not start another string. */
const outside = `(?:${text}|${comment}|[^"'/]|/(?:[^"'/]|${text}))*`;
const atWord = `^(?:${outside}[^A-Za-z0-9_"'/])?`;
const wordsOf = (words: readonly string[]) => words.join('|');
/** Keywords from other languages, which are not valid here. */
const foreign = ['and', 'or', 'not', 'xor', 'if', 'then', 'else'].flatMap((one) => [
  one,
  one.toUpperCase(),
  one[0]!.toUpperCase() + one.slice(1),
]);

/** Patterns that a valid expression never matches. For example, an expression must not begin or end with a binary operator. */
const mistakes = [
  `${atWord}(?:${wordsOf([...foreign, 'Math'])})(?:[^A-Za-z0-9_]|$)`,
  `^${space}*(?:[*%+?:,)]|/(?:[^/]|$)|\\.(?:[^0-9]|$)|&&|\\|\\|)`,
  String.raw`(?:[-+*/%?:.,!<>=(]|&&|\|\|)[ \t\r\n]*$`,
  `^${outside}<>`,
  `${atWord}[0-9]+(?:\\.[0-9]+)?\\.[0-9]+\\.[0-9]`,
];

/** The JSON Schema keywords that describe an expression, besides its type. */
export const expressionSchema = {
  pattern: `^(?:${space}|${sign}|\\(|${call}|${read}|${value}(?:${space}|${sign}|$))*$`,
  allOf: [{ pattern: '[^ \\t\\r\\n]' }, ...mistakes.map((pattern) => ({ not: { pattern } }))],
};
