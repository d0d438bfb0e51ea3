// Parses typed JSON5 so that the form follows the text. The hub checks the same text and reports errors with their location; while the text
// has an error, the form does not follow it.

/** Parses JSON5 that a user has typed. Returns undefined if the text is not valid JSON5. */
export function readJson5(text: string): unknown {
  try {
    const reader = new Reader(text);
    const data = reader.value();
    return reader.isAtEnd() ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Writes data as JSON5 on one line, in the style of flow files: `{ clamp: [0, 1] }`. */
export function writeJson5(data: unknown): string {
  if (typeof data === 'string')
    return data.includes("'") ? JSON.stringify(data) : `'${JSON.stringify(data).slice(1, -1).replaceAll('\\"', '"')}'`;
  if (Array.isArray(data)) return `[${data.map(writeJson5).join(', ')}]`;
  if (typeof data !== 'object' || data === null) return String(data);
  const entries = Object.entries(data).map(
    ([key, value]) => `${/^[A-Za-z_$]\w*$/.test(key) ? key : writeJson5(key)}: ${writeJson5(value)}`,
  );
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

const space = /(?:\s|\uFEFF|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)*/y;
const name = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const number = /[+-]?(?:0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN)/y;
const words: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v', 0: '\0' };

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    this.#take(space);
    return this.#at === this.#text.length;
  }

  value(): unknown {
    this.#take(space);
    const first = this.#text[this.#at];
    if (first === '{') return this.#object();
    if (first === '[') return this.#list();
    if (first === '"' || first === "'") return this.#string(first);
    const digits = this.#take(number);
    if (digits !== '') return Number(digits.replace(/^\+/, ''));
    const word = this.#take(name);
    if (Object.hasOwn(words, word)) return words[word];
    throw new Error('no value');
  }

  #object(): object {
    const data: Record<string, unknown> = {};
    this.#items('}', () => {
      const first = this.#text[this.#at]!;
      const key = first === '"' || first === "'" ? this.#string(first) : this.#take(name);
      this.#take(space);
      if (key === '' || this.#text[this.#at++] !== ':') throw new Error('no key');
      // `__proto__` is a name like any other
      Object.defineProperty(data, key, { value: this.value(), configurable: true, enumerable: true, writable: true });
    });
    return data;
  }

  #list(): unknown[] {
    const data: unknown[] = [];
    this.#items(']', () => data.push(this.value()));
    return data;
  }

  #items(close: string, read: () => unknown): void {
    this.#at++;
    for (let needsComma = false; ; needsComma = true) {
      this.#take(space);
      if (needsComma && this.#text[this.#at] === ',') {
        this.#at++;
        this.#take(space);
        needsComma = false;
      }
      if (this.#text[this.#at] === close) break;
      if (needsComma) throw new Error('no comma');
      read();
    }
    this.#at++;
  }

  #string(mark: string): string {
    let data = '';
    for (this.#at++; ; this.#at++) {
      const one = this.#text[this.#at];
      if (one === undefined || one === '\n') throw new Error('no end');
      if (one === mark) break;
      data += one === '\\' ? this.#escape() : one;
    }
    this.#at++;
    return data;
  }

  #escape(): string {
    const one = this.#text[++this.#at]!;
    const digits = one === 'u' ? 4 : one === 'x' ? 2 : 0;
    if (digits === 0) return one === '\n' ? '' : (escapes[one] ?? one);
    const hex = this.#text.slice(this.#at + 1, this.#at + 1 + digits);
    this.#at += digits;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }

  /** Consumes and returns the text that a pattern matches at the current position, or an empty string if the pattern does not match. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }
}
