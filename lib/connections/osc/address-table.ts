// Finds the targets for the address in a received message. A plain address is looked up in a table; a pattern (`? * [] {} //`) is compared
// with all addresses. The number of steps in a comparison is at most the product of both lengths, and a budget limits the number of
// comparisons per second.

import { KeptResults } from '../../model/kept-results.ts';

/** The maximum number of patterns whose targets are cached. */
const keptPatterns = 100;
/** The maximum number of addresses per second that are compared with patterns that are not in the cache. */
export const maxComparisonsPerSecond = 500_000;
/** The maximum number of alternatives in a pattern's braces. */
export const maxAlternatives = 64;

const patternCharacters = /[?*[\]{}]|\/\//;

/** Returns whether the address in a message is a pattern. */
export function isPattern(address: string): boolean {
  return patternCharacters.test(address);
}

/** The targets that a pattern matches, or a sentence that states why the pattern is invalid. */
export type Matches<Target> = readonly Target[] | string;

/** A table of OSC addresses and their targets that can be searched by address or by pattern. */
export class AddressTable<Target> {
  readonly #targets = new Map<string, Target[]>();
  readonly #budget = new Budget(maxComparisonsPerSecond);
  readonly #kept = new KeptResults<Matches<Target>>(keptPatterns);

  add(address: string, target: Target): void {
    const known = this.#targets.get(address);
    if (known === undefined) this.#targets.set(address, [target]);
    else known.push(target);
  }

  /**
   * Returns the targets for an address or a pattern, or undefined if there are none. If the pattern is invalid, returns the reason as a
   * sentence.
   */
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

/** A budget that limits the number of steps per second. */
export class Budget {
  readonly #mostPerSecond: number;
  #sinceMs = Number.NEGATIVE_INFINITY;
  #taken = 0;

  constructor(mostPerSecond: number) {
    this.#mostPerSecond = mostPerSecond;
  }

  /**
   * Takes `steps` from the current second's budget. Returns false if too few steps are left. The first request in a second may exceed the
   * budget.
   */
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
  /** The number of alternatives that the pattern's braces expand to, each of which is compared with an address. */
  readonly alternatives: number;
  matches(address: string): boolean;
}

/** Compiles an OSC address pattern. If the pattern is invalid, returns the reason as a sentence. */
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

/** Expands the braces in a pattern: `/a/{b,c}` becomes `/a/b` and `/a/c`. If the braces are invalid, returns the reason as a sentence. */
function alternativesOf(pattern: string): string[] | string {
  let texts = [''];
  for (const part of pattern.split(/(\{[^{}]*\})/)) {
    const isChoice = part.startsWith('{') && part.endsWith('}');
    if (!isChoice && /[{}]/.test(part)) return 'expected matching braces around alternatives';
    const choices = isChoice ? part.slice(1, -1).split(',') : [part];
    if (texts.length * choices.length > maxAlternatives)
      return `expected at most ${maxAlternatives} alternatives in a pattern`;
    texts = texts.flatMap((text) => choices.map((choice) => text + choice));
  }
  return texts;
}

/** A segment of an address pattern. `anyDepth` is `//`, which matches any number of segments. */
type Segment = 'anyDepth' | readonly Character[];
/** The pattern for one or more characters in a segment: a single character, a set of characters, `any` for `?`, or `many` for `*`. */
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

/** All characters that an address may contain. */
const printable = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index));

/** Returns the characters that a set such as `a-z` contains. If the set begins with `!`, returns all other characters. */
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

/**
 * Returns whether a pattern's segments match an address's segments. Backtracking to the last `//` is sufficient, because an earlier `//`
 * never needs to match more segments.
 */
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

/**
 * Returns whether a pattern matches the text of a segment. Backtracking to the last `*` is sufficient, because an earlier `*` never needs
 * to match more characters.
 */
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
