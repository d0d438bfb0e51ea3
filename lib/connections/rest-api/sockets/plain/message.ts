// Reads the messages of plain clients, `{"p":"desk/lamp","v":true}` (S-10). Nearly every message consists of an address and either a string
// without escapes or a number, and is read directly from its bytes. The JSON parser reads all other messages, and lists of messages (D-43).

import { describe, HubError } from '../../../../model/error.ts';
import { expectJsonObject, readJsonObject } from '../../../../model/json-object.ts';
import { maxListItems, maxMessageBytes } from '../../../../wire/limits.ts';
import { LimitError } from '../../limits/limit-hits.ts';
import { hasLeadingZero, readDecimal } from './decimal.ts';

/**
 * The number of addresses that the reader caches by their bytes, one per slot of a table, and the maximum length of a cached address in
 * bytes.
 */
const rememberedAddresses = 1024;
const maxRememberedBytes = 256;

const expected = { json: 'JSON {"p":…,"v":…}', object: 'an object {"p":…,"v":…}' };
const opening = Buffer.from('{"p":');
const middle = Buffer.from(',"v":');
const space = 0x20;
const quote = 0x22;
const backslash = 0x5c;
const closing = 0x7d;
const listOpening = 0x5b;

interface KnownAddress {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/**
 * Reads messages one at a time. `value` is called after the address has been read, because the expected kind of value depends on the
 * address.
 */
export class PlainReader {
  readonly #known: (KnownAddress | undefined)[] = Array.from({ length: rememberedAddresses });
  #bytes = new Uint8Array(0);
  /** The range of the value in `#bytes`, without quotes. `#from` is 0 if the value is in `#value` instead. */
  #from = 0;
  #to = 0;
  #value: unknown = undefined;

  /** Returns the address in a message. The reader keeps the message until the next call, for `value`. Errors: `bad-request`. */
  read(message: ArrayBuffer): string {
    this.#bytes = bytesOf(message);
    return this.#readPlain(this.#bytes) ?? this.#parse();
  }

  /**
   * Returns the items of a list, which are passed to `readItem` one by one; undefined if the message is not a list. Errors: `bad-request`.
   */
  readList(message: ArrayBuffer): readonly unknown[] | undefined {
    const bytes = bytesOf(message);
    let at = 0;
    while (isJsonSpace(bytes[at])) at++;
    if (bytes[at] !== listOpening) return undefined;
    let items: readonly unknown[];
    try {
      items = JSON.parse(textOf(bytes, 0, bytes.length)) as readonly unknown[];
    } catch (error) {
      throw new HubError(
        'bad-request',
        `expected JSON [{"p":…,"v":…}, …], but it cannot be parsed: ${(error as Error).message}`,
      );
    }
    if (items.length <= maxListItems) return items;
    const mistake = `expected at most ${maxListItems} items, got ${items.length}`;
    throw new LimitError('listItems', 'bad-request', mistake);
  }

  /** Returns the address in an item of a list. Errors: `bad-request`. */
  readItem(item: unknown): string {
    return this.#take(expectJsonObject(item, expected));
  }

  /**
   * Returns the value in the last message or item as JSON. With `asNumber`, a string that contains a decimal number may become a number.
   * Errors: `bad-request` if there is no value.
   */
  value(asNumber: boolean): unknown {
    if (this.#from > 0) {
      const number = asNumber ? readDecimal(this.#bytes, this.#from, this.#to) : undefined;
      return number ?? textOf(this.#bytes, this.#from, this.#to);
    }
    if (this.#value === undefined) throw new HubError('bad-request', 'v: expected a value, got nothing');
    return this.#value;
  }

  /** Returns the address, and notes the value; returns undefined if the message needs the JSON parser. */
  #readPlain(bytes: Uint8Array): string | undefined {
    let at = skip(bytes, 0, opening);
    if (at === 0 || bytes[at] !== quote) return undefined;
    const start = ++at;
    let hash = 0;
    for (let byte = bytes[at]!; byte !== quote; byte = bytes[++at]!) {
      if (!(byte >= space) || byte === backslash) return undefined; // `byte` is undefined beyond the end
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    const end = at;
    at = skip(bytes, end + 1, middle);
    if (at === 0) return undefined;
    const last = bytes.length - 1;
    if (bytes[last] !== closing) return undefined;
    if (bytes[at] === quote) {
      if (last - 1 === at || !isPlainText(bytes, at + 1, last - 1)) return undefined;
      this.#from = at + 1;
      this.#to = last - 1;
    } else {
      const number = hasLeadingZero(bytes, at) ? undefined : readDecimal(bytes, at, last);
      if (number === undefined) return undefined;
      this.#from = 0;
      this.#value = number;
    }
    return this.#addressOf(bytes, start, end, hash);
  }

  /** Returns the address in a range of bytes as a string, from the cache if possible. */
  #addressOf(bytes: Uint8Array, from: number, to: number, hash: number): string {
    const place = hash & (rememberedAddresses - 1);
    const known = this.#known[place];
    if (known !== undefined && isAt(bytes, from, to, known.bytes)) return known.text;
    const text = textOf(bytes, from, to);
    if (to - from <= maxRememberedBytes) this.#known[place] = { bytes: bytes.slice(from, to), text };
    return text;
  }

  #parse(): string {
    return this.#take(readJsonObject(textOf(this.#bytes, 0, this.#bytes.length), expected));
  }

  #take({ p, v }: Readonly<Record<string, unknown>>): string {
    if (typeof p !== 'string') throw new HubError('bad-request', `p: expected an address, got ${describe(p)}`);
    this.#from = 0;
    this.#value = v;
    return p;
  }
}

/** Returns the bytes of a message. Errors: `bad-request` if the message is too long. */
function bytesOf(message: ArrayBuffer): Uint8Array<ArrayBuffer> {
  const { byteLength } = message;
  if (byteLength <= maxMessageBytes) return new Uint8Array(message);
  throw new LimitError('messageBytes', 'bad-request', `expected at most ${maxMessageBytes} bytes, got ${byteLength}`);
}

function isJsonSpace(byte: number | undefined): boolean {
  return byte === space || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Skips the bytes `expected` and an optional space. Returns the offset after them, or 0 if there are other bytes. */
function skip(bytes: Uint8Array, from: number, expected: Uint8Array): number {
  const to = from + expected.length;
  if (!isAt(bytes, from, to, expected)) return 0;
  return bytes[to] === space ? to + 1 : to;
}

function isAt(bytes: Uint8Array, from: number, to: number, expected: Uint8Array): boolean {
  if (to - from !== expected.length) return false;
  for (let index = 0; index < expected.length; index++) if (bytes[from + index] !== expected[index]) return false;
  return true;
}

/** Returns whether a range of bytes is the content of a JSON string without escapes, followed by the closing quote. */
function isPlainText(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte < space || byte === quote || byte === backslash) return false;
  }
  return bytes[to] === quote;
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString();
}
