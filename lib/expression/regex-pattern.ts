// What the JSON Schema can say of an expression: the words and signs that it may hold. An editor marks by it what other languages
// write; types, names and brackets are for the check. Its patterns are such as every engine reads, RE2, Java and Python as well: they
// look neither ahead nor behind. So what an expression is not stands beside what it is.
import { functionTypes, macroNames } from './functions/functions.ts';

const any = String.raw`(?:[^\n]|\n)`;
const text = String.raw`(?:"(?:[^"\\]|\\${any})*"|'(?:[^'\\]|\\${any})*')`;
const comment = String.raw`//[^\n]*(?:\n|$)`;
const space = `(?:[ \\t\\r\\n]|${comment})`;
const functions = [...functionTypes.keys(), ...macroNames, 'in'].join('|');
const call = `(?:${functions})${space}*\\(`;
/** Of a parameter that stands there as text. */
const read = `(?:param|known)${space}*\\(${space}*${text}`;
const number = String.raw`(?:0x[0-9A-Fa-f]+|(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)`;
const word = '[A-Za-z_][A-Za-z0-9_]*';
/** What stands before or behind a value; `(` stands behind the name of a function alone. */
const sign = String.raw`(?:[=!<>]=|&&|\|\||[-!<>+*/%?:.,)\[\]{}])`;
const value = `(?:[bBrR]{0,2}${text}+|${number}|${word})`;

/** What is no text, a character at a time; no quote in a text is the beginning of another one. */
const outside = `(?:${text}|${comment}|[^"'/]|/(?:[^"'/]|${text}))*`;
const atWord = `^(?:${outside}[^A-Za-z0-9_"'/])?`;
const wordsOf = (words: readonly string[]) => words.join('|');
/** The words of other languages are none. */
const foreign = ['and', 'or', 'not', 'xor', 'if', 'then', 'else'].flatMap((one) => [
  one,
  one.toUpperCase(),
  one[0]!.toUpperCase() + one.slice(1),
]);

/** Patterns of which no expression has one. It neither begins nor ends with an operator between two values. */
const mistakes = [
  `${atWord}(?:${wordsOf([...foreign, 'Math'])})(?:[^A-Za-z0-9_]|$)`,
  `^${space}*(?:[*%+?:,)]|/(?:[^/]|$)|\\.(?:[^0-9]|$)|&&|\\|\\|)`,
  String.raw`(?:[-+*/%?:.,!<>=(]|&&|\|\|)[ \t\r\n]*$`,
  `^${outside}<>`,
  `${atWord}[0-9]+(?:\\.[0-9]+)?\\.[0-9]+\\.[0-9]`,
];

/** What the JSON Schema of an expression has beside its type. */
export const expressionSchema = {
  pattern: `^(?:${space}|${sign}|\\(|${call}|${read}|${value}(?:${space}|${sign}|$))*$`,
  allOf: [{ pattern: '[^ \\t\\r\\n]' }, ...mistakes.map((pattern) => ({ not: { pattern } }))],
};
