// Explains to authors why a JSON5 text does not parse: the missing comma, quote or bracket, and the correction. The parser has already
// rejected the text, so this grammar checks only for common errors. A message never shows a possible secret.
import { hidden, isSecretName } from '../model/secret.ts';
import { type Token, tokensOf } from './positions.ts';

/** An error in a JSON5 text, with its offset. */
interface Explained {
  readonly message: string;
  readonly offset: number;
}

const numberPattern = /^[+-]?(?:0x[\da-f]+|(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|infinity|nan)$/i;
const keyPattern = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
const lineBreak = /[\n\r\u2028\u2029]/;
const mostShown = 40;
/** The maximum number of characters at each end of a line in which names of secrets are searched for. */
const mostLine = 2000;
const curlyQuote = /^[“”„‟‘’‚‛«»]/;
const closing: Readonly<Record<string, string>> = { '{': '}', '[': ']' };
/** Literals from other languages, in lower case, with their JSON5 equivalents. */
const values: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['false', 'false'],
  ['null', 'null'],
  ['none', 'null'],
  ['undefined', 'null'],
]);

/** Returns the first error in the text, or undefined if the text contains no known error. */
export function explainJson5(text: string): Explained | undefined {
  const explanation = new Explanation(text);
  try {
    explanation.run();
    return undefined;
  } catch (error) {
    if (!(error instanceof Found)) return undefined; // the text is nested too deeply
    const { message, offset, withoutText } = error;
    return { message: explanation.isSecretAt(offset) ? withoutText : message, offset };
  }
}

/** Returns whether the line that contains an offset, or one of the two lines before it, names a secret. */
export function isSecretLine(text: string, offset: number): boolean {
  let start = offset;
  for (let line = 0; line < 3 && start > 0; line++) start = text.lastIndexOf('\n', start - 1);
  const end = text.indexOf('\n', offset);
  return hasSecretName(text.slice(Math.max(0, start), end < 0 ? text.length : end));
}

function hasSecretName(text: string): boolean {
  const shown = text.length > 2 * mostLine ? text.slice(0, mostLine) + text.slice(-mostLine) : text;
  return (shown.match(/[\p{L}\p{N}_$-]+/gu) ?? []).some(isSecretName);
}

/** Thrown for the first error, with an additional message that quotes nothing from the text. */
class Found extends Error {
  readonly offset: number;
  readonly withoutText: string;

  constructor(message: string, offset: number, withoutText = message) {
    super(message);
    this.offset = offset;
    this.withoutText = withoutText;
  }
}

/** Reads tokens until a token is wrong. Errors of every method: `Found`. */
class Explanation {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #at = 0;
  /** The keys that lead from the root to the current token. */
  readonly #keys: string[] = [];
  /** The key of the entry before the current entry. */
  #lastKey = '';
  /** An opening bracket whose closing bracket is on a less indented line, and thus probably belongs to another bracket. */
  #suspect: Token | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = [...tokensOf(text)];
  }

  run(): void {
    const comment = this.#tokens.find(({ part }) => part.startsWith('#'));
    if (comment !== undefined) throw new Found('expected // before a comment, got #', comment.offset);
    const unclosed = unclosedComment(this.#text, this.#tokens.at(-1));
    if (unclosed !== undefined) throw new Found('expected */ to close a comment, got the end of the file', unclosed);
    if (this.#tokens.length === 0) throw new Found('expected { … }, got an empty file', 0);
    this.#value('at the beginning');
    const next = this.#tokens[this.#at];
    if (next !== undefined)
      throw new Found(
        `expected the end of the file, got ${shown(next)}`,
        next.offset,
        `expected the end of the file, got ${hidden}`,
      );
  }

  /** Returns whether the text at the offset of an error may be a secret, judged by its keys and its lines. */
  isSecretAt(offset: number): boolean {
    const keys = [...this.#keys, this.#lastKey];
    return keys.some((key) => key === 'users' || isSecretName(key)) || isSecretLine(this.#text, offset);
  }

  #value(where: string): void {
    const token = this.#next();
    if (token === undefined)
      throw new Found(
        `expected a value ${where}, got the end of the file`,
        this.#text.trimEnd().length,
        'expected a value, got the end of the file',
      );
    const { part, offset } = token;
    if (part === '{' || part === '[') this.#items(token);
    else if (isText(part)) this.#checkText(token);
    else if (curlyQuote.test(part)) throw new Found(`expected the quotes ' or ", got ${part[0]}`, offset);
    else if (/^[,:}\]]/.test(part))
      throw new Found(`expected a value ${where}, got ${part}`, offset, `expected a value, got ${part}`);
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
    this.#keys.push(unquoted(part));
    if (isText(part)) this.#checkText(key);
    else if (!keyPattern.test(part) || this.#text[offset + part.length] === '/') throw this.#badKey(key);
    const colon = this.#next();
    const expected = 'expected : between a key and its value';
    if (colon === undefined) throw new Found(`${expected}, got the end of the file`, offset);
    if (colon.part !== ':')
      throw new Found(`${expected}, got ${shown(colon)}`, colon.offset, `${expected}, got ${hidden}`);
    this.#value(`after ${unquoted(part)}:`);
    this.#lastKey = this.#keys.pop()!;
  }

  #next(): Token | undefined {
    return this.#tokens[this.#at++];
  }

  #checkText({ part, offset }: Token): void {
    const hasEnd = part.length > 1 && part.at(-1) === part[0];
    if (hasEnd && !/(?<!\\)\n/.test(part)) return;
    throw new Found(`expected a closing ${part[0]} for this text, got the end of the line`, offset);
  }

  #badWord({ part, offset }: Token): Found {
    const word = values.get(part.toLowerCase());
    const withoutText = `expected a value, got ${hidden}: text needs quotes`;
    if (word !== undefined)
      return new Found(`expected a value, got ${part}: did you mean ${word}?`, offset, withoutText);
    const [line = part] = /^[^,}\]\n:'"]*/.exec(this.#text.slice(offset)) ?? [];
    const written = line.trim();
    return new Found(`expected a value, got ${written}: text needs quotes: '${written}'`, offset, withoutText);
  }

  #badKey({ part, offset }: Token): Found {
    const [written = part] = /^[^:,{}[\]\s]*/.exec(this.#text.slice(offset)) ?? [];
    const [sign = ''] = /[^\p{L}\p{N}_$]/u.exec(written) ?? [];
    if (sign === '=' && keyPattern.test(written.slice(0, written.indexOf('='))))
      return new Found('expected : between a key and its value, got =', offset + written.indexOf('='));
    if (/^[:={[]/.test(part)) return new Found(`expected a key, got ${part}`, offset, `expected a key, got ${part[0]}`);
    const isDigit = sign === '';
    const expected = `expected quotes around a key ${isDigit ? 'that begins with a digit' : `with ${sign}`}`;
    return new Found(`${expected}: '${written}'`, offset, expected);
  }

  #noComma(after: Token, open: Token): Found {
    const line = this.#lineOf(open);
    if (after.part === '}' || after.part === ']') {
      const opened = line === this.#lineOf(after) ? '' : `: the ${open.part} is in line ${line}`;
      return new Found(
        `expected ${closing[open.part]} to close ${open.part}, got ${after.part}${opened}`,
        after.offset,
      );
    }
    if (after.part === ':') return new Found('expected a comma, got :', after.offset);
    // No key begins with a bracket, so the object before it has no end.
    if (open.part === '{' && (after.part === '{' || after.part === '['))
      return new Found(`expected } before ${after.part}, to close the { in line ${line}`, after.offset);
    if (this.#isInBrokenText(after))
      return new Found(
        `expected a comma before ${shown(after)}: is a quote missing earlier in this line?`,
        after.offset,
        'expected a comma here: is a quote missing earlier in this line?',
      );
    const isItem = open.part === '[' && after.part.length <= mostShown && !lineBreak.test(after.part);
    const got = isItem ? after.part : shown(after);
    return new Found(`expected a comma before ${got}`, after.offset, 'expected a comma here');
  }

  /** Returns whether a word follows the closing quote of a text immediately, as in `'value > 0.5, to: 'desk/lamp'`. */
  #isInBrokenText({ part, offset }: Token): boolean {
    return keyPattern.test(part) && isText(this.#text[offset - 1] ?? '');
  }

  #unclosed(open: Token): Found {
    const { part, offset } = this.#suspect ?? open;
    return new Found(`expected ${closing[part]} to close ${part}, got the end of the file`, offset);
  }

  /** Returns the number of the line that contains a token, counted from 1. */
  #lineOf({ offset }: Token): number {
    return this.#text.slice(0, offset).split('\n').length;
  }

  /** Returns the indentation of the line that contains a token, as a number of characters. */
  #indentOf({ offset }: Token): number {
    const start = this.#text.lastIndexOf('\n', offset - 1) + 1;
    return /^[ \t]*/.exec(this.#text.slice(start, offset))![0].length;
  }
}

/** Returns the start of an unclosed comment after the last token, or undefined if there is no such comment. */
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

/**
 * Returns a token in a form suitable for display: a word or sign is unchanged; a quoted string is hidden, because it may be a secret whose
 * key is damaged.
 */
function shown({ part }: Token): string {
  if (isText(part)) return 'text in quotes';
  const line = part.split(lineBreak, 1)[0]!;
  return line.length > mostShown || line !== part ? `${line.slice(0, mostShown - 1)}…` : part;
}
