// Reads a text from left to right, token by token (XML 1.0, fifth edition; numbers in brackets are those of its productions).

import { describe } from '../../../model/error.ts';

/** Why a text is not XML, and at which place of it. */
export class Mistake extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** A place as saxes tells it, `3:14`: lines count from 1, and the column includes the character at the place. */
export function lineAndColumn(text: string, at: number): string {
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return `${lines.length}:${[...lines.at(-1)!].length + 1}`;
}

const nameStart =
  'A-Z_a-z\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}-\\u{200D}\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const nameRest = `${nameStart}\\-.0-9\\xB7\\u{300}-\\u{36F}\\u{203F}-\\u{2040}`;
/** NCName of Namespaces in XML [4], as the source of a regular expression. */
export const simpleName = `[${nameStart}][${nameRest}]*`;

/** The tokens, each with the words for what was expected. A name of Namespaces in XML has no colon, or one between two names. */
export const tokens = {
  /** [3] */
  space: token('white space', '[ \\t\\r\\n]+'),
  /** The name of an entity, a notation, or what a processing instruction is for. */
  simpleName: token('a name without a colon', `${simpleName}(?![:${nameRest}])`),
  /** QName of Namespaces in XML [7]: the name of an element or attribute. */
  name: token('a name', `${simpleName}(?::${simpleName})?(?![:${nameRest}])`),
  /** [7] */
  nameToken: token('a name token', `[:${nameRest}]+`),
  /** [11] */
  systemLiteral: token('a system identifier in quotes', '"[^"]*"|\'[^\']*\''),
  /** [12], [13] */
  publicLiteral: token(
    'a public identifier in quotes',
    "\"[ \\r\\na-zA-Z0-9\\-'()+,./:=?;!*#@$_%]*\"|'[ \\r\\na-zA-Z0-9\\-()+,./:=?;!*#@$_%]*'",
  ),
  /** [9], [10]: any text in quotes; what it may hold is read from it. */
  literal: token('a text in quotes', '"[^"]*"|\'[^\']*\''),
} as const;

export interface Token {
  readonly what: string;
  readonly pattern: RegExp;
}

const shownCharacters = 12;

export class Scanner {
  readonly text: string;
  at: number;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Takes this text if it comes next; tells whether it did. */
  skip(literal: string): boolean {
    if (!this.text.startsWith(literal, this.at)) return false;
    this.at += literal.length;
    return true;
  }

  /** Takes the one of these texts that comes next, if any does. If one begins with another, the longer one has to stand first. */
  skipOne<Literal extends string>(literals: readonly Literal[]): Literal | undefined {
    return literals.find((literal) => this.skip(literal));
  }

  /** Takes white space, if there is any. */
  space(): boolean {
    return this.take(tokens.space) !== undefined;
  }

  /** Goes on to the next place of this text. Errors: `Mistake`, when there is none. */
  skipTo(literal: string): void {
    const found = this.text.indexOf(literal, this.at);
    if (found < 0) throw new Mistake(this.at, `expected "${literal}" somewhere behind this`);
    this.at = found;
  }

  take({ pattern }: Token): string | undefined {
    pattern.lastIndex = this.at;
    const taken = pattern.exec(this.text)?.[0];
    if (taken !== undefined) this.at += taken.length;
    return taken;
  }

  /** Errors: `Mistake`, when something else comes next. */
  expect(wanted: Token | string): string {
    if (typeof wanted === 'string') return this.skip(wanted) ? wanted : this.fail(`"${wanted}"`);
    return this.take(wanted) ?? this.fail(wanted.what);
  }

  /** Errors: `Mistake`, always: `expected a name, got ">"`. */
  fail(expected: string): never {
    const next = this.text.slice(this.at, this.at + shownCharacters).split(/[\r\n]/)[0];
    throw new Mistake(this.at, `expected ${expected}, got ${this.isAtEnd ? 'the end' : describe(next)}`);
  }
}

function token(what: string, source: string): Token {
  return { what, pattern: new RegExp(source, 'uy') };
}
