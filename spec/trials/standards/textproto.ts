// A parser of the protocol buffers text format, limited to what the published tests of CEL need: fields by name, each a list of all its
// occurrences.

export type Message = { readonly [name: string]: readonly Field[] };
export type Field = Message | string | number | boolean;

const token =
  /#[^\n]*|\s+|(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?<word>-?[\w.+]+(?:[+-]\d+)?)|\[(?<type>[\w./-]+)\]|(?<sign>[{}<>:,;[\]-])/gsy;

interface Token {
  readonly kind: 'text' | 'word' | 'type' | 'sign';
  readonly text: string;
}

/** Reads a message. Errors: what is none, with its place. */
export function readTextproto(text: string): Message {
  const tokens = tokensOf(text);
  let at = 0;
  const isSign = (sign: string) => tokens[at]?.kind === 'sign' && tokens[at]!.text === sign;
  const skip = (sign: string) => isSign(sign) && at++ >= 0;

  const message = (end: string | undefined): Message => {
    const fields: Record<string, Field[]> = Object.create(null);
    while (at < tokens.length && (end === undefined || !isSign(end))) {
      const { text: name } = tokens[at++]!;
      skip(':');
      const all = fields[name] ?? [];
      fields[name] = all;
      if (isSign('[')) {
        for (at++; !skip(']'); skip(',')) all.push(field());
      } else all.push(field());
      if (!skip(',')) skip(';');
    }
    if (end !== undefined) at++;
    return fields;
  };

  const field = (): Field => {
    if (skip('{')) return message('}');
    if (skip('<')) return message('>');
    if (tokens[at]?.kind === 'text') {
      let joined = '';
      while (tokens[at]?.kind === 'text') joined += unquote(tokens[at++]!.text);
      return joined;
    }
    const { text: word } = tokens[at++]!;
    if (word === 'true' || word === 'false') return word === 'true';
    if (/^-?inf(inity)?$/i.test(word))
      return word.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    if (/^nan$/i.test(word)) return Number.NaN;
    return Number.isNaN(Number(word)) ? word : Number(word);
  };

  return message(undefined);
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const from = token.lastIndex;
    const found = token.exec(text);
    if (found === null)
      throw new Error(`expected text of protocol buffers, got ${JSON.stringify(text.slice(from, from + 40))}`);
    for (const kind of ['text', 'word', 'type', 'sign'] as const)
      if (found.groups![kind] !== undefined) tokens.push({ kind, text: found.groups![kind]! });
  }
  return tokens;
}

const letters: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };

/** What stands in quotes: bytes of UTF-8. */
function unquote(quoted: string): string {
  const bytes: number[] = [];
  const part = /\\(?:[xX]([\da-fA-F]{1,2})|([0-7]{1,3})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))|[^\\]+/gs;
  for (const [all, hex, octal, unit, code, letter] of quoted.slice(1, -1).matchAll(part)) {
    if (hex !== undefined) bytes.push(Number.parseInt(hex, 16));
    else if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (unit ?? code) bytes.push(...Buffer.from(String.fromCodePoint(Number.parseInt((unit ?? code)!, 16))));
    else if (letter !== undefined)
      bytes.push(...(letters[letter] === undefined ? Buffer.from(letter) : [letters[letter]!]));
    else bytes.push(...Buffer.from(all));
  }
  return Buffer.from(bytes).toString();
}
