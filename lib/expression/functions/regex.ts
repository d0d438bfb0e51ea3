// Regular expressions of expressions: those that are used again and again are kept compiled, and texts are bounded by what they cost.

import { compileRegex, type Regex } from '../../regex/regex.ts';

/** How long a pattern is, in characters, and its program, in steps. */
const maxPatternLength = 1024;
const maxSteps = 1000;
/** How many characters are looked at, each by all steps of the program: some 40 ms at the most. */
const maxWork = 4 * 1024 * 1024;
/**
 * How many patterns are kept compiled; what was not used for longest goes first. Each takes some KiB, and, after texts of every kind, up to
 * 8 MiB of the states that it was in.
 */
const maxKnown = 100;

const known = new Map<string, Regex>();

/** Whether a pattern is found in a text. Errors: when it is no pattern, or too long or the text too long for it. */
export function isFound(text: string, pattern: string): boolean {
  const regex = regexOf(pattern);
  const maxTextLength = Math.floor(maxWork / regex.steps);
  if (text.length > maxTextLength)
    throw new Error(
      `matches: expected a text of at most ${maxTextLength} characters for this regular expression, got ${text.length}`,
    );
  return regex.test(text);
}

/** Why a pattern cannot be searched for; undefined: it can. */
export function whyNoRegex(pattern: string): string | undefined {
  try {
    compile(pattern);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function regexOf(pattern: string): Regex {
  const regex = known.get(pattern) ?? compile(pattern);
  known.delete(pattern);
  known.set(pattern, regex);
  if (known.size > maxKnown) known.delete(known.keys().next().value!);
  return regex;
}

/** Errors: when it is no pattern, or too long. */
function compile(pattern: string): Regex {
  const { length } = pattern;
  if (length > maxPatternLength)
    throw new Error(`matches: expected a regular expression of at most ${maxPatternLength} characters, got ${length}`);
  try {
    return compileRegex(pattern, maxSteps);
  } catch (error) {
    throw new Error(`matches: ${(error as Error).message}`);
  }
}
