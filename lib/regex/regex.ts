// The one reader of regular expressions, those of RE2: searched in time that grows with the text alone, since patterns and texts may both
// come from clients, and none may stop the hub. RE2 has no look-around and no back-references. `\u00e9` is taken as well, for `\x{e9}`.
import { RE2JS } from 're2js';

/** Compiling takes time as well, so a pattern is estimated first. The estimate is seldom too high by more than this. */
const estimateShare = 4;

/** How many steps a pattern may have that an operator has written, and no client. */
export const ownPatternSteps = 10_000;

export interface Regex {
  /** How large its program is: how long a search takes for each character. */
  readonly steps: number;
  /** Whether it is found in a text. */
  test(text: string): boolean;
}

/** Why a text is no pattern; `steps`: it is one, and has about so many, which are too many; `isLacking`: RE2 does not have what it is made of. */
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

/** Reads a pattern of at most so many steps. Errors: `RegexMistake`. */
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
 * Reads a pattern that an operator has written, and no client. Look-around and back-references, which RE2 does not have, are read as
 * JavaScript reads them. Errors: `RegexMistake`.
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

/** `\u00e9`, `\u{e9}`, or both halves of one, `\ud83d\ude00`; or what must not be taken for one. */
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
  const message = `${expected}, where what may come n times counts n times, got about ${Math.ceil(steps)}`;
  return new RegexMistake(message, { steps });
}

/** What RE2 does not have, and what others write, with how the same is written here. */
const lacking: readonly Hint[] = [
  [/`\(\?<?[=!]/, 'there is no look-around'],
  [/`\\[1-9k]/, 'there are no back-references'],
];
const hints: readonly Hint[] = [
  [/`\\Z`/, 'write \\z for the end of the text'],
  [/`\\h`/, 'write [ \\t] for spaces'],
  [/`\\R`/, 'write \\r?\\n for a line break'],
  [/`\\p/i, 'classes have the short names of Unicode, such as \\p{Lu} and \\p{Greek}'],
  [/`\\x/, 'write a character as \\x{20ac}, 10ffff at most'],
  [/`\\[a-zA-Z]/, 'a backslash stands before signs alone'],
  [/`\(\?#/, 'there are no comments'],
  [/invalid nested repetition/, 'write (?:…) around what is repeated twice'],
  [/invalid repeat count/, 'a count is 1000 at most, the smaller one first'],
];

type Hint = readonly [found: RegExp, hint: string];

/** From `error parsing regexp: invalid escape sequence: \Z`. */
function explain(message: string): RegexMistake {
  const said = message.replace(/^error parsing regexp: /, '');
  const found = [...lacking, ...hints].find(([pattern]) => pattern.test(said));
  const isLacking = found !== undefined && lacking.includes(found);
  return new RegexMistake(found === undefined ? said : `${said}, ${found[1]}`, { isLacking });
}

// Estimates how large the program of a regular expression will be, before it is compiled: `(a{9}){9}` is short, and its program is long.

/** Where capitals and small letters are the same, these take long to compile: a range of letters that are not English, and a class. */
const foldedRangeSteps = 800;
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

/** Returns about how many steps the program will have, rather too many than too few. */
export function estimateSteps(pattern: string): number {
  const isFolded = /\(\?[A-Za-z]*i/.test(pattern);
  /** How many steps came before each group that is open. */
  const before: number[] = [];
  let steps = 2;
  /** Steps that count once, however often they are repeated. */
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
