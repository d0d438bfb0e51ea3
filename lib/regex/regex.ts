// Compiles all regular expressions in the hub with RE2, whose search time is linear in the length of the text. Clients may send both
// patterns and texts, and neither may block the hub. RE2 has no look-around and no back-references. `\u00e9` is accepted for `\x{e9}`.
import { RE2JS } from 're2js';

/**
 * The tolerance of the size estimate, as a factor. The size is estimated first because compiling takes time as well, and the estimate is
 * rarely too high by more than this factor.
 */
const estimateShare = 4;

/** The maximum number of steps in the program of a pattern written by an operator. */
export const ownPatternSteps = 10_000;

export interface Regex {
  /** The size of the pattern's program, in steps, which is the cost of a search per character. */
  readonly steps: number;
  /** Returns whether a string contains a match. */
  test(text: string): boolean;
}

/**
 * Thrown if a pattern is refused; the message is the reason. `steps` is the size of the pattern's program if it is too large. `isLacking`
 * states whether the pattern uses a feature that RE2 lacks.
 */
export class RegexMistake extends Error {
  readonly steps: number | undefined;
  readonly isLacking: boolean;

  constructor(message: string, { steps, isLacking = false }: { steps?: number; isLacking?: boolean }) {
    super(message);
    this.name = 'RegexMistake';
    this.steps = steps;
    this.isLacking = isLacking;
  }
}

/** Compiles a pattern whose program has at most `maxSteps` steps. Errors: `RegexMistake`. */
export function compileRegex(pattern: string, maxSteps: number): Regex {
  const estimate = estimateSteps(pattern);
  if (estimate > estimateShare * maxSteps) throw tooManySteps(maxSteps, estimate);
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern.replace(characterCode, codeOf));
  } catch (error) {
    throw explain((error as Error).message);
  }
  const steps = compiled.programSize();
  if (steps > maxSteps) throw tooManySteps(maxSteps, steps);
  return { steps, test: (text) => compiled.test(text) };
}

/**
 * Compiles a pattern that an operator wrote. Do not pass patterns from clients. JavaScript's engine runs patterns with look-around or
 * back-references, which RE2 lacks. Errors: `RegexMistake`.
 */
export function compileOwnRegex(pattern: string): Regex {
  try {
    return compileRegex(pattern, ownPatternSteps);
  } catch (error) {
    const script = (error as RegexMistake).isLacking ? scriptRegex(pattern) : undefined;
    if (script === undefined) throw error;
    return { steps: 0.1, test: (text) => script.test(text) };
  }
}

function scriptRegex(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

/**
 * Matches `\u00e9`, `\u{e9}` or a surrogate pair such as `\ud83d\ude00`. The other alternatives skip text that only looks like an escape.
 */
const characterCode = /\\Q.*?(?:\\E|$)|\\u(?:(d[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|[\da-f]{4})|\{([\da-f]+)\})|\\./gis;

function codeOf(all: string, code?: string, bracedCode?: string): string {
  const halves = code?.split(/\\u/i).map((half) => Number.parseInt(half, 16));
  const hexadecimal =
    halves === undefined
      ? bracedCode
      : String.fromCharCode(...halves)
          .codePointAt(0)!
          .toString(16);
  return hexadecimal === undefined ? all : `\\x{${hexadecimal}}`;
}

function tooManySteps(maxSteps: number, steps: number): RegexMistake {
  const expected = `expected a regular expression of at most ${maxSteps} steps`;
  const message = `${expected} (a part that is repeated n times counts n times), got about ${Math.ceil(steps)}`;
  return new RegexMistake(message, { steps });
}

/** Features that RE2 lacks, followed by the syntax of other engines with its RE2 equivalents. */
const lacking: readonly Hint[] = [
  [/`\(\?<?[=!]/, 'look-around is not supported'],
  [/`\\[1-9k]/, 'back-references are not supported'],
];
const hints: readonly Hint[] = [
  [/`\\Z`/, 'write \\z for the end of the text'],
  [/`\\h`/, 'write [ \\t] for spaces'],
  [/`\\R`/, 'write \\r?\\n for a line break'],
  [/`\\p/i, 'use the short Unicode class names, such as \\p{Lu} and \\p{Greek}'],
  [/`\\x/, 'write a character as \\x{20ac}, at most 10ffff'],
  [/`\\[a-zA-Z]/, 'a backslash may escape punctuation only'],
  [/`\(\?#/, 'comments are not supported'],
  [/invalid nested repetition/, 'write (?:…) around a part that is repeated twice'],
  [/invalid repeat count/, 'a count is at most 1000, and the smaller count comes first'],
];

type Hint = readonly [found: RegExp, hint: string];

/** Translates an RE2 error, such as `error parsing regexp: invalid escape sequence: \Z`, into plain words. */
function explain(message: string): RegexMistake {
  const said = message.replace(/^error parsing regexp: /, '');
  const found = [...lacking, ...hints].find(([pattern]) => pattern.test(said));
  const isLacking = found !== undefined && lacking.includes(found);
  return new RegexMistake(found === undefined ? said : `${said}, ${found[1]}`, { isLacking });
}

// The size of a program is estimated before it is compiled: `(a{9}){9}` is short, but its program is long.

/** The number of steps that count for a range of non-ASCII letters in a case-insensitive pattern, which is slow to compile. */
const foldedRangeSteps = 800;
/** The number of steps that count for a Unicode class in a case-insensitive pattern. */
const foldedClassSteps = 20;

const token = new RegExp(
  [
    String.raw`(?<quoted>\\Q.*?(?:\\E|$))`,
    String.raw`(?<flags>\(\?[A-Za-z-]*\))`,
    String.raw`(?<open>\((?:\?(?:P?<\w*>|[A-Za-z-]*:))?)`,
    String.raw`(?<close>\))`,
    String.raw`\{(?<least>\d+)(?<comma>,(?<most>\d*))?\}`,
    String.raw`(?<class>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\\[pP](?:\{[^}]*\}|.))`,
    '(?<repeat>[*+?])',
    String.raw`\\x\{[^}]*\}|\\.|.`,
  ].join('|'),
  'gsy',
);

/** Estimates the number of steps in a pattern's program. The estimate is too high rather than too low. */
export function estimateSteps(pattern: string): number {
  const isFolded = /\(\?[A-Za-z]*i/.test(pattern);
  /** The number of steps that precede each open group. */
  const before: number[] = [];
  let steps = 2;
  /** The number of steps that count once even if they are repeated. */
  let once = 0;
  let last = 0;
  const add = (count: number) => {
    last = count;
    steps += count;
  };
  for (const { 0: text, groups = {} } of pattern.matchAll(token)) {
    if (groups.open !== undefined) {
      before.push(steps);
      steps = 2;
    } else if (groups.close !== undefined) {
      const group = steps;
      steps = before.pop() ?? 0;
      add(group);
    } else if (groups.least !== undefined) {
      const times = groups.comma === undefined ? Number(groups.least) : Number(groups.most || groups.least) + 1;
      const repeated = (last + 1) * times;
      steps += repeated - last;
      last = repeated;
    } else if (groups.repeat !== undefined) {
      steps++;
      last++;
    } else if (groups.quoted !== undefined) add(text.length);
    else if (groups.flags === undefined) add(1);
    if (isFolded && groups.class !== undefined) once += stepsOfFolded(text);
  }
  return before.reduce((sum, count) => sum + count, steps + once);
}

function stepsOfFolded(text: string): number {
  if (/-(?:[^ -~]|\\x)/.test(text)) return foldedRangeSteps;
  return /\\[pP]/.test(text) ? foldedClassSteps : 0;
}
