// Regular expressions of expressions (RE2), searched in time that grows with the text alone: text and pattern may both come from a
// client, and no text may stop the hub. RE2 has no look-around and no back-references.

import { RE2JS } from 're2js';
import { estimateSteps } from '../../model/regex-steps.ts';

/** How long a pattern is, in characters, and its program, in steps. */
const maxPatternLength = 1024;
const maxSteps = 1000;
/** Compiling takes time as well, so a pattern is estimated first. The estimate is seldom too high by more than this. */
const maxEstimate = 4 * maxSteps;
/** How many characters are looked at, each by all steps of the program: some 40 ms at the most. */
const maxWork = 4 * 1024 * 1024;
/**
 * How many patterns are kept compiled; what was not used for longest goes first. Each takes some KiB, and, after texts of every kind, up to
 * 8 MiB of the states that it was in.
 */
const maxKnown = 100;

interface Regex {
  readonly compiled: RE2JS;
  readonly maxTextLength: number;
}

const known = new Map<string, Regex>();

/** Whether a pattern is found in a text. Errors: when it is no pattern, or too long or the text too long for it. */
export function isFound(text: string, pattern: string): boolean {
  const { compiled, maxTextLength } = regexOf(pattern);
  if (text.length > maxTextLength)
    throw new Error(
      `matches: expected a text of at most ${maxTextLength} characters for this regular expression, got ${text.length}`,
    );
  return compiled.test(text);
}

/** Whether it can be searched for. */
export function isRegex(pattern: string): boolean {
  try {
    compile(pattern);
    return true;
  } catch {
    return false;
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
  if (pattern.length > maxPatternLength)
    throw new Error(
      `matches: expected a regular expression of at most ${maxPatternLength} characters, got ${pattern.length}`,
    );
  const estimate = estimateSteps(pattern);
  if (estimate > maxEstimate) throw tooManySteps(estimate);
  // JavaScript writes some characters otherwise, `\u00e9` for one. A back-reference by name would become a text.
  const compiled = RE2JS.compile(/\\k</.test(pattern) ? pattern : RE2JS.translateRegExp(pattern));
  const steps = compiled.programSize();
  if (steps > maxSteps) throw tooManySteps(steps);
  return { compiled, maxTextLength: Math.floor(maxWork / steps) };
}

function tooManySteps(steps: number): Error {
  const expected = `matches: expected a regular expression of at most ${maxSteps} steps`;
  return new Error(`${expected}, where what may come n times counts n times, got about ${Math.ceil(steps)}`);
}
