// Finds what an address of a received message means: the address itself in a table, or a pattern (`? * [] {} //`) that is matched against
// all addresses. Matching takes at most the product of both lengths, and a budget a second bounds how many addresses are compared.

import { KeptResults } from '../../model/kept-results.ts';

/** How many patterns are remembered with what they match. */
const keptPatterns = 100;
/** How many addresses new patterns are compared with in a second. */
export const maxComparisonsPerSecond = 500_000;
/** How many alternatives the braces of a pattern may have. */
export const maxAlternatives = 64;

const patternCharacters = /[?*[\]{}]|\/\//;

/** Whether an address of a message is a pattern. */
export function isPattern(address: string): boolean {
  return patternCharacters.test(address);
}

/** What a pattern matches, or a sentence about what is wrong with it. */
export type Matches<Target> = readonly Target[] | string;

/** Addresses and what belongs to each of them. */
export class AddressTable<Target> {
  readonly #targets = new Map<string, Target[]>();
  readonly #budget = new Budget(maxComparisonsPerSecond);
  readonly #kept = new KeptResults<Matches<Target>>(keptPatterns);

  add(address: string, target: Target): void {
    const known = this.#targets.get(address);
    if (known === undefined) this.#targets.set(address, [target]);
    else known.push(target);
  }

  /** Returns what belongs to an address or a pattern; undefined: nothing. Patterns with errors have a sentence. */
  find(address: string, nowMs: number): Matches<Target> | undefined {
    const exact = this.#targets.get(address);
    if (exact !== undefined || !isPattern(address)) return exact;
    const kept = this.#kept.get(address);
    if (kept !== undefined) return kept.length === 0 ? undefined : kept;
    const matcher = compilePattern(address);
    if (typeof matcher === 'string') return matcher;
    if (!this.#budget.take(this.#targets.size * matcher.alternatives, nowMs)) return tooManyPatterns;
    const found = [...this.#targets].flatMap(([one, targets]) => (matcher.matches(one) ? targets : []));
    this.#kept.keep(address, found);
    return found.length === 0 ? undefined : found;
  }
}

export const tooManyPatterns = 'expected fewer new patterns per second';

/** A number of steps that may be taken in each second. */
export class Budget {
  readonly #mostPerSecond: number;
  #sinceMs = Number.NEGATIVE_INFINITY;
  #taken = 0;

  constructor(mostPerSecond: number) {
    this.#mostPerSecond = mostPerSecond;
  }

  /** Takes steps of this second; false: there are not so many. A single request may exceed the budget, if it is the first. */
  take(steps: number, nowMs: number): boolean {
    if (nowMs - this.#sinceMs >= 1000) {
      this.#sinceMs = nowMs;
      this.#taken = 0;
    }
    if (this.#taken > 0 && this.#taken + steps > this.#mostPerSecond) return false;
    this.#taken += steps;
    return true;
  }
}

export interface AddressMatcher {
  /** How many comparisons one address takes. */
  readonly alternatives: number;
  matches(address: string): boolean;
}

/** Compiles a pattern; returns a sentence about what is wrong with it. */
export function compilePattern(pattern: string): AddressMatcher | string {
  const texts = alternativesOf(pattern);
  if (typeof texts === 'string') return texts;
  const all: (readonly Segment[])[] = [];
  for (const text of texts) {
    const segments = segmentsOf(text);
    if (typeof segments === 'string') return segments;
    all.push(segments);
  }
  const matches = (address: string) => {
    const parts = address.slice(1).split('/');
    return all.some((segments) => matchesParts(segments, parts));
  };
  return { alternatives: all.length, matches };
}

/** Writes out braces: `/a/{b,c}` is `/a/b` and `/a/c`. */
function alternativesOf(pattern: string): string[] | string {
  let texts = [''];
  for (const part of pattern.split(/(\{[^{}]*\})/)) {
    const isChoice = part.startsWith('{') && part.endsWith('}');
    if (!isChoice && /[{}]/.test(part)) return 'expected a { and a } around alternatives';
    const choices = isChoice ? part.slice(1, -1).split(',') : [part];
    if (texts.length * choices.length > maxAlternatives)
      return `expected at most ${maxAlternatives} alternatives in a pattern`;
    texts = texts.flatMap((text) => choices.map((choice) => text + choice));
  }
  return texts;
}

/** `anyDepth` is `//`: any number of segments. */
type Segment = 'anyDepth' | readonly Character[];
/** A character, a set of them, or `any` and `many` for `?` and `*`. */
type Character = string | ReadonlySet<string> | AnyCharacter;
interface AnyCharacter {
  readonly isMany: boolean;
}

const one: AnyCharacter = { isMany: false };
const many: AnyCharacter = { isMany: true };

function segmentsOf(text: string): readonly Segment[] | string {
  const segments: Segment[] = [];
  const parts = text.slice(1).split('/');
  for (const [index, part] of parts.entries()) {
    if (part === '' && (index > 0 || parts.length > 1)) {
      if (index === parts.length - 1) return 'expected no / at the end of a pattern';
      if (segments.at(-1) !== 'anyDepth') segments.push('anyDepth');
      continue;
    }
    const characters = charactersOf(part);
    if (typeof characters === 'string') return characters;
    segments.push(characters);
  }
  return segments;
}

function charactersOf(part: string): readonly Character[] | string {
  const characters: Character[] = [];
  for (let at = 0; at < part.length; at++) {
    const character = part[at]!;
    if (character === '?') characters.push(one);
    else if (character === '*') {
      if (characters.at(-1) !== many) characters.push(many);
    } else if (character === '[') {
      const end = part.indexOf(']', at + 1);
      if (end < 0) return 'expected a ] after a [';
      characters.push(setOf(part.slice(at + 1, end)));
      at = end;
    } else if (character === ']') return 'expected a [ before a ]';
    else characters.push(character);
  }
  return characters;
}

/** Every character that an address may have. */
const printable = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index));

/** The characters of `a-z`, or with a `!` before them all others. */
function setOf(text: string): ReadonlySet<string> {
  const isNegated = text.startsWith('!');
  const listed = isNegated ? text.slice(1) : text;
  const characters = new Set<string>();
  for (let at = 0; at < listed.length; at++) {
    const from = listed.charCodeAt(at);
    const isRange = listed[at + 1] === '-' && at + 2 < listed.length;
    const to = isRange ? listed.charCodeAt(at + 2) : from;
    for (let code = Math.min(from, to); code <= Math.max(from, to) && characters.size < 256; code++)
      characters.add(String.fromCharCode(code));
    if (isRange) at += 2;
  }
  return isNegated ? new Set(printable.filter((character) => !characters.has(character))) : characters;
}

/** Only the last `//` is taken back: an earlier one need not match more. */
function matchesParts(segments: readonly Segment[], parts: readonly string[]): boolean {
  let segment = 0;
  let part = 0;
  let lastDepth = -1;
  let retryPart = 0;
  for (;;) {
    if (segments[segment] === 'anyDepth') {
      lastDepth = ++segment;
      retryPart = part;
      continue;
    }
    if (part === parts.length && segment === segments.length) return true;
    if (
      part < parts.length &&
      segment < segments.length &&
      matchesText(segments[segment] as Character[], parts[part]!)
    ) {
      segment++;
      part++;
      continue;
    }
    if (lastDepth < 0 || ++retryPart >= parts.length) return false;
    segment = lastDepth;
    part = retryPart;
  }
}

/** Only the last `*` is taken back. */
function matchesText(characters: readonly Character[], text: string): boolean {
  let character = 0;
  let at = 0;
  let lastMany = -1;
  let retryAt = 0;
  for (;;) {
    const expected = characters[character];
    if (expected === many) {
      lastMany = ++character;
      retryAt = at;
      continue;
    }
    if (at === text.length && character === characters.length) return true;
    if (at < text.length && expected !== undefined && fits(expected, text[at]!)) {
      character++;
      at++;
      continue;
    }
    if (lastMany < 0 || ++retryAt > text.length) return false;
    character = lastMany;
    at = retryAt;
  }
}

function fits(expected: Character, character: string): boolean {
  if (typeof expected === 'string') return expected === character;
  return 'has' in expected ? expected.has(character) : true;
}
