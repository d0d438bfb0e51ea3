// Tells why a text is no JSON5 to people who write it by hand: which comma, quote or bracket is missing, and what to write. The
// parser has refused the text before, so the grammar here is only as strict as mistakes of people need.

import { type Token, tokensOf } from './positions.ts';

/** What is wrong, and the offset where it is. */
export interface Explained {
  readonly message: string;
  readonly offset: number;
}

const numberPattern = /^[+-]?(?:0x[\da-f]+|(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|infinity|nan)$/i;
const keyPattern = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
const curlyQuote = /^[“”„‟‘’‚‛«»]/;
const closing: Readonly<Record<string, string>> = { '{': '}', '[': ']' };
/** Words of other languages, by their small letters. */
const values: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['false', 'false'],
  ['null', 'null'],
  ['none', 'null'],
  ['undefined', 'null'],
]);

/** Explains a text; undefined: it has none of the mistakes that are known here. */
export function explainJson5(text: string): Explained | undefined {
  try {
    new Explanation(text).run();
    return undefined;
  } catch (error) {
    return error instanceof Found ? error.explained : undefined; // else it is nested too deep
  }
}

class Found extends Error {
  readonly explained: Explained;

  constructor(message: string, offset: number) {
    super(message);
    this.explained = { message, offset };
  }
}

/** Reads tokens until one is wrong. Errors of every method: `Found`. */
class Explanation {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #at = 0;
  /** A bracket whose end is further left than its line: the one that closes it belongs to another. */
  #suspect: Token | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = [...tokensOf(text)];
  }

  run(): void {
    const comment = this.#tokens.find(({ part }) => part.startsWith('#'));
    if (comment !== undefined) throw new Found('expected // before a comment, got #', comment.offset);
    const unclosed = unclosedComment(this.#text, this.#tokens.at(-1));
    if (unclosed !== undefined) throw new Found('expected */ that ends a comment, got the end of the file', unclosed);
    if (this.#tokens.length === 0) throw new Found('expected { … }, got an empty file', 0);
    this.#value('at the beginning');
    const next = this.#tokens[this.#at];
    if (next !== undefined) throw new Found(`expected the end of the file, got ${shown(next)}`, next.offset);
  }

  #value(where: string): void {
    const token = this.#next();
    if (token === undefined)
      throw new Found(`expected a value ${where}, got the end of the file`, this.#text.trimEnd().length);
    const { part, offset } = token;
    if (part === '{' || part === '[') this.#items(token);
    else if (isText(part)) this.#checkText(token);
    else if (curlyQuote.test(part)) throw new Found(`expected the quotes ' or ", got ${part[0]}`, offset);
    else if (/^[,:}\]]/.test(part)) throw new Found(`expected a value ${where}, got ${part}`, offset);
    else if (!['true', 'false', 'null'].includes(part) && !numberPattern.test(part)) throw this.#badWord(token);
  }

  #items(open: Token): void {
    const end = closing[open.part]!;
    for (;;) {
      const token = this.#next();
      if (token === undefined) throw this.#unclosed(open);
      if (token.part === end) {
        if (this.#indentOf(token) < this.#indentOf(open)) this.#suspect ??= open;
        return;
      }
      if (token.part === ',') throw new Found('expected one comma, got two', token.offset);
      if (open.part === '{') this.#entry(token);
      else {
        if (token.part === '}') throw new Found(`expected ] to close [, got }`, token.offset);
        this.#at--;
        this.#value('in the list');
      }
      const after = this.#tokens[this.#at];
      if (after?.part === ',') this.#at++;
      else if (after !== undefined && after.part !== end) throw this.#noComma(after, open);
    }
  }

  #entry(key: Token): void {
    const { part, offset } = key;
    if (part === ']') throw new Found('expected } to close {, got ]', offset);
    if (curlyQuote.test(part)) throw new Found(`expected the quotes ' or ", got ${part[0]}`, offset);
    if (isText(part)) this.#checkText(key);
    else if (!keyPattern.test(part) || this.#text[offset + part.length] === '/') throw this.#badKey(key);
    const colon = this.#next();
    if (colon?.part !== ':')
      throw new Found(
        `expected : between a key and its value, got ${colon === undefined ? 'the end of the file' : shown(colon)}`,
        colon?.offset ?? offset,
      );
    this.#value(`after ${unquoted(part)}:`);
  }

  #next(): Token | undefined {
    return this.#tokens[this.#at++];
  }

  #checkText({ part, offset }: Token): void {
    const hasEnd = part.length > 1 && part.at(-1) === part[0];
    if (hasEnd && !/(?<!\\)\n/.test(part)) return;
    throw new Found(`expected a text that ends with ${part[0]} as it begins, got the end of the line`, offset);
  }

  #badWord({ part, offset }: Token): Found {
    const word = values.get(part.toLowerCase());
    if (word !== undefined) return new Found(`expected a value, got ${part}: did you mean ${word}?`, offset);
    const [line = part] = /^[^,}\]\n]*/.exec(this.#text.slice(offset)) ?? [];
    const written = line.trim();
    return new Found(`expected a value, got ${written}: a text needs quotes: '${written}'`, offset);
  }

  #badKey({ part, offset }: Token): Found {
    const [written = part] = /^[^:,{}[\]\s]*/.exec(this.#text.slice(offset)) ?? [];
    const [sign = ''] = /[^\p{L}\p{N}_$]/u.exec(written) ?? [];
    if (/^[:={[]/.test(part)) return new Found(`expected a key, got ${part}`, offset);
    if (sign === '') return new Found(`expected quotes around a key that begins with a digit: '${written}'`, offset);
    return new Found(`expected quotes around a key with ${sign}: '${written}'`, offset);
  }

  #noComma(after: Token, open: Token): Found {
    if (after.part === '}' || after.part === ']')
      return new Found(`expected ${closing[open.part]} to close ${open.part}, got ${after.part}`, after.offset);
    if (after.part === ':') return new Found('expected a comma, got :', after.offset);
    return new Found(`expected a comma before ${shown(after)}`, after.offset);
  }

  #unclosed(open: Token): Found {
    const { part, offset } = this.#suspect ?? open;
    return new Found(`expected ${closing[part]} that closes ${part}, got the end of the file`, offset);
  }

  /** How far in the line of a token begins. */
  #indentOf({ offset }: Token): number {
    const start = this.#text.lastIndexOf('\n', offset - 1) + 1;
    return /^[ \t]*/.exec(this.#text.slice(start, offset))![0].length;
  }
}

/** Where a comment begins that has no end: it is behind the last token. */
function unclosedComment(text: string, last: Token | undefined): number | undefined {
  const starts = /\/\/[^\n]*|\/\*/g;
  starts.lastIndex = last === undefined ? 0 : last.offset + last.part.length;
  for (let start = starts.exec(text); start !== null; start = starts.exec(text)) {
    if (start[0] !== '/*') continue;
    const end = text.indexOf('*/', starts.lastIndex);
    if (end < 0) return start.index;
    starts.lastIndex = end + 2;
  }
  return undefined;
}

function isText(part: string): boolean {
  return part[0] === '"' || part[0] === "'";
}

function unquoted(part: string): string {
  return isText(part) ? part.slice(1, -1) : part;
}

function shown({ part }: Token): string {
  const line = part.split(/[\n\r\u2028\u2029]/, 1)[0]!;
  return line.length > 40 || line !== part ? `${line.slice(0, 39)}…` : part;
}
