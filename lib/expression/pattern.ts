// What the JSON Schema can say of an expression: the words and signs that it may hold. An editor marks by it what other languages
// write; types, names and brackets are for the check.

import { functionTypes, macroNames } from './functions/functions.ts';

const text = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;
const functions = [...functionTypes.keys(), ...macroNames, 'param', 'known'].join('|');
/** The words of other languages are none. No text fits in two ways, so that a pattern is read in one go. */
const foreign = ['and', 'or', 'not', 'xor', 'if', 'then', 'else'].flatMap((word) => [
  word,
  word.toUpperCase(),
  word[0]!.toUpperCase() + word.slice(1),
]);
const word = String.raw`(?!(?:${[...foreign, 'Math'].join('|')})\b)[A-Za-z_]\w*(?!\w)(?!\s*\()`;
const call = String.raw`(?:param|known)\s*\((?=\s*["'])|(?!(?:param|known)\b)(?:${functions})\s*\(`;
const number = String.raw`(?:0x[\dA-Fa-f]+|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)(?!\w|\.\d)`;
const sign = String.raw`==|!=|<=|>=|&&|\|\||<(?!>)|/(?!/)|[-!>+*%?:.,()[\]{}\s]`;
const comment = String.raw`//[^\n]*(?=\n|$)`;

/** A regular expression for the whole text of an expression. It neither begins nor ends with an operator between two values. */
export const expressionPattern = String.raw`^(?!\s*(?:[*/%+?:,)]|\.(?!\d)|&&|\|\|))(?![^]*(?:[-+*/%?:.,!<>=(]|&&|\|\|)\s*$)(?=[^]*\S)(?:${comment}|${text}|${call}|${word}|${number}|${sign})*$`;
