// Parses a typed number with an optional sign, a decimal point or comma, and an exponent. Explains the errors in other strings, and rejects
// ambiguous numbers instead of guessing.

import { decimalMark, localNumber, t } from '../../language/language.ts';

export type TypedNumber = { readonly value: number } | { readonly mistake: string };

const plain = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const withComma = /^([+-]?\d*),(\d+)((?:e[+-]?\d+)?)$/i;
/**
 * Patterns for numbers whose only comma or point may be a thousands separator, keyed by the decimal mark of the language: `1,000` in
 * English and `1.000` in German, but not `0.125`.
 */
const perhapsThousands = { '.': /^[+-]?[1-9]\d{0,2},\d{3}$/, ',': /^[+-]?[1-9]\d{0,2}\.\d{3}$/ };
const withSeparators = /^[+-]?\d{1,3}(?:[,.' \u00a0\u2009\u202f]\d{3})+(?:[,.]\d+)?$/;
const shownLength = 40;

/** Parses a number such as `-12.5`, `-12,5`, `.5`, `1e3` or `−3`. An integer may also be written as `1e3` or `12.0`. */
export function readTypedNumber(typed: string, isInteger: boolean): TypedNumber {
  const text = typed.trim().replace(/^[\u2212\u2013]/, '-'); // some keyboards type a minus sign (U+2212) or a dash
  if (text === '') return { mistake: t('Expected a number, got nothing.') };
  if (perhapsThousands[decimalMark].test(text)) {
    const [whole, decimals] = text.split(/[,.]/);
    return {
      mistake: t(
        '{1} may mean {2} or {3}: type one of these instead.',
        quote(text),
        `${whole}${decimals}`,
        `${whole}${decimalMark}${decimals}`,
      ),
    };
  }
  const decimal = text.replace(withComma, '$1.$2$3');
  if (!plain.test(decimal)) {
    if (withSeparators.test(text))
      return { mistake: t('{1}: write the number without thousands separators.', quote(text)) };
    return { mistake: t('Expected a number such as {1}, got {2}.', localNumber('-12.5'), quote(text)) };
  }
  return check(Number(decimal), decimal, isInteger);
}

function check(value: number, decimal: string, isInteger: boolean): TypedNumber {
  if (!Number.isFinite(value)) return { mistake: `Expected a number from -1.8e308 to 1.8e308, got ${quote(decimal)}.` };
  if (value === 0 && /[1-9]/.test(decimal.replace(/e.*/i, '')))
    return { mistake: `Expected 0 or a number of at least ±5e-324, got ${quote(decimal)}.` };
  if (isInteger && !Number.isInteger(value)) return { mistake: t('Expected a whole number, got {1}.', quote(decimal)) };
  if (isInteger && !Number.isSafeInteger(value))
    return { mistake: `Expected a whole number from -9007199254740991 to 9007199254740991, got ${quote(decimal)}.` };
  return { value: value + 0 }; // -0 becomes 0
}

function quote(text: string): string {
  return `"${text.length > shownLength ? `${text.slice(0, shownLength)}…` : text}"`;
}
