// The subset of BER (X.690) that Ember+ and SNMP use. The reader accepts definite and indefinite lengths. It limits the nesting depth and the
// number of items, because every message comes from outside. The writer fills its buffer from the end, so that the length of each item is
// known when its header is written.

/** The maximum nesting depth of the BER items in a message. */
export const maxDepth = 128;
/** The maximum number of BER items in a message, including nested items. */
export const maxItems = 131_072;

/** The BER tags of the universal types. */
export const universal = {
  boolean: 0x01,
  integer: 0x02,
  octets: 0x04,
  null: 0x05,
  oid: 0x06,
  real: 0x09,
  text: 0x0c,
  relativeOid: 0x0d,
  sequence: 0x30,
  set: 0x31,
} as const;

export function applicationTag(number: number): number {
  return 0x60 | number;
}

export function contextTag(number: number): number {
  return 0xa0 | number;
}

const isConstructed = 0x20;

/** A BER item. A primitive item has its content in `bytes`; a constructed item has its content in `items`. */
export interface Item {
  readonly tag: number;
  readonly bytes: Buffer;
  readonly items: readonly Item[];
}

const noBytes = Buffer.alloc(0);
const noItems: readonly Item[] = [];

/** Parses a message and returns its top-level BER items. Errors: `Error` with a readable message. */
export function readItems(bytes: Buffer): readonly Item[] {
  const reader = new Reader(bytes);
  return reader.itemsUntil(bytes.length, 0);
}

/** Reads the first item, and ignores what follows, such as the padding of an encrypted message. Errors: `Error` with a readable message. */
export function readFirst(bytes: Buffer): Item {
  return new Reader(bytes).item(bytes.length, 0);
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;
  #count = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  itemsUntil(end: number, depth: number): readonly Item[] {
    const items: Item[] = [];
    while (this.#at < end) items.push(this.item(end, depth));
    return items;
  }

  item(end: number, depth: number): Item {
    if (++this.#count > maxItems) throw new Error(`expected at most ${maxItems} items in a message`);
    if (depth > maxDepth) throw new Error(`expected items to be nested at most ${maxDepth} levels deep`);
    const tag = this.#byte(end);
    if ((tag & 0x1f) === 0x1f) throw new Error('expected tags up to 30');
    const length = this.#length(end);
    if (length === undefined) {
      if ((tag & isConstructed) === 0)
        throw new Error('expected a definite length, because the item contains no other items');
      return { tag, bytes: noBytes, items: this.#itemsUntilMark(end, depth + 1) };
    }
    const from = this.#at;
    if (length > end - from) throw new Error(`expected ${length} bytes, got ${end - from}`);
    if ((tag & isConstructed) !== 0)
      return { tag, bytes: noBytes, items: length === 0 ? noItems : this.itemsUntil(from + length, depth + 1) };
    this.#at = from + length;
    return { tag, bytes: this.#bytes.subarray(from, this.#at), items: noItems };
  }

  /** Reads items until the two zero bytes that end an item of indefinite length. */
  #itemsUntilMark(end: number, depth: number): readonly Item[] {
    const items: Item[] = [];
    for (;;) {
      if (end - this.#at < 2) throw new Error('expected the end of an item of indefinite length');
      if (this.#bytes[this.#at] === 0 && this.#bytes[this.#at + 1] === 0) {
        this.#at += 2;
        return items;
      }
      items.push(this.item(end, depth));
    }
  }

  #byte(end: number): number {
    if (this.#at >= end) throw new Error('expected another byte in an item');
    return this.#bytes[this.#at++]!;
  }

  #length(end: number): number | undefined {
    const first = this.#byte(end);
    if (first < 0x80) return first;
    if (first === 0x80) return undefined;
    if (first > 0x84) throw new Error('expected a length field of at most 4 bytes');
    let length = 0;
    for (let left = first & 0x7f; left > 0; left--) length = length * 256 + this.#byte(end);
    return length;
  }
}

/** Returns the value of an integer item. Errors: `Error` if the item is empty or longer than 8 bytes. */
export function readInteger({ bytes }: Item): number {
  if (bytes.length === 0 || bytes.length > 8) throw new Error('expected an integer of 1 to 8 bytes');
  if (bytes.length <= 6) return bytes.readIntBE(0, bytes.length);
  let value = BigInt(bytes.readInt8(0));
  for (const byte of bytes.subarray(1)) value = (value << 8n) | BigInt(byte);
  return Number(value);
}

/**
 * Returns the value of a real item. In Ember+, unlike in BER, the exponent belongs to the highest bit of the mantissa: 5 is 1.25 × 2².
 * Errors: `Error` if the item is not in binary form, or if it is too long.
 */
export function readReal({ bytes }: Item): number {
  if (bytes.length === 0) return 0;
  const head = bytes[0]!;
  if (head === 0x40) return Number.POSITIVE_INFINITY;
  if (head === 0x41) return Number.NEGATIVE_INFINITY;
  if (head === 0x42) return Number.NaN;
  if (head === 0x43) return 0;
  if ((head & 0x80) === 0) throw new Error('expected a binary-encoded real number');
  const exponentBytes = 1 + (head & 3);
  if (exponentBytes > 3 || bytes.length < 1 + exponentBytes) throw new Error('expected an exponent of up to 3 bytes');
  const exponent = bytes.readIntBE(1, exponentBytes);
  let mantissa = 0;
  for (const byte of bytes.subarray(1 + exponentBytes)) mantissa = mantissa * 256 + byte;
  if (!Number.isFinite(mantissa)) throw new Error('expected a shorter mantissa');
  if (mantissa === 0) return 0;
  const normal = mantissa / 2 ** Math.floor(Math.log2(mantissa));
  const value = (normal >= 2 ? normal / 2 : normal < 1 ? normal * 2 : normal) * 2 ** exponent;
  return (head & 0x40) === 0 ? value : -value;
}

/** Returns the numbers in a relative OID item. Errors: `Error` if a number exceeds 32 bits or there are more than `most` numbers. */
export function readRelativeOid({ bytes }: Item, most: number): number[] {
  const numbers: number[] = [];
  let number = 0;
  for (const [index, byte] of bytes.entries()) {
    number = number * 128 + (byte & 0x7f);
    if (number > 0xffff_ffff) throw new Error('expected numbers of up to 32 bits in a path');
    if ((byte & 0x80) === 0) {
      numbers.push(number);
      if (numbers.length > most) throw new Error(`expected at most ${most} numbers in a list`);
      number = 0;
    } else if (index === bytes.length - 1) throw new Error('expected the end of a number in a path');
  }
  return numbers;
}

/** Writes BER items from the last to the first: each method puts its item in front of the items written before. */
export class Writer {
  #bytes = Buffer.allocUnsafe(1024);
  #at = this.#bytes.length;

  /** The number of bytes written since the last `finish`. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  /** Returns the bytes written so far and resets the writer. */
  finish(): Buffer {
    const result = Buffer.from(this.#bytes.subarray(this.#at));
    this.#at = this.#bytes.length;
    return result;
  }

  /** Writes a constructed item; `content` writes the items inside. */
  constructed(tag: number, content: () => void): void {
    const end = this.length;
    content();
    this.#header(tag, this.length - end);
  }

  boolean(value: boolean): void {
    this.primitive(universal.boolean, Buffer.of(value ? 0xff : 0));
  }

  /** Writes an integer item with a value within ±(2^53−1). */
  integer(value: number): void {
    const end = this.length;
    let rest = value;
    do {
      const byte = ((rest % 256) + 256) % 256;
      this.#byte(byte);
      rest = (rest - byte) / 256;
    } while (!((rest === 0 && this.#bytes[this.#at]! < 0x80) || (rest === -1 && this.#bytes[this.#at]! >= 0x80)));
    this.#header(universal.integer, this.length - end);
  }

  /** Writes a real item with a finite value, in the form that `readReal` describes. */
  real(value: number): void {
    const end = this.length;
    if (value !== 0) {
      const magnitude = Math.abs(value);
      let exponent = Math.min(Math.floor(Math.log2(magnitude)), 1023);
      let mantissa = magnitude / 2 ** exponent;
      if (mantissa >= 2) [mantissa, exponent] = [mantissa / 2, exponent + 1];
      if (mantissa < 1) [mantissa, exponent] = [mantissa * 2, exponent - 1];
      while (mantissa % 1 !== 0) mantissa *= 2;
      for (; mantissa > 0; mantissa = Math.floor(mantissa / 256)) this.#byte(mantissa % 256);
      const isShort = exponent >= -128 && exponent < 128;
      this.#byte(exponent & 0xff);
      if (!isShort) this.#byte((exponent >> 8) & 0xff);
      this.#byte(0x80 | (value < 0 ? 0x40 : 0) | (isShort ? 0 : 1));
    }
    this.#header(universal.real, this.length - end);
  }

  text(value: string): void {
    this.primitive(universal.text, Buffer.from(value));
  }

  octets(value: Uint8Array): void {
    this.primitive(universal.octets, value);
  }

  null(): void {
    this.#header(universal.null, 0);
  }

  relativeOid(numbers: readonly number[]): void {
    const end = this.length;
    for (let index = numbers.length - 1; index >= 0; index--) {
      let rest = numbers[index]!;
      this.#byte(rest % 128);
      while (rest >= 128) {
        rest = Math.floor(rest / 128);
        this.#byte((rest % 128) | 0x80);
      }
    }
    this.#header(universal.relativeOid, this.length - end);
  }

  /** Writes a primitive item with this content. */
  primitive(tag: number, bytes: Uint8Array): void {
    this.encoded(bytes);
    this.#header(tag, bytes.length);
  }

  /** Writes items that are already encoded. */
  encoded(items: Uint8Array): void {
    this.#reserve(items.length);
    this.#at -= items.length;
    this.#bytes.set(items, this.#at);
  }

  #header(tag: number, length: number): void {
    if (length < 0x80) this.#byte(length);
    else {
      let count = 0;
      for (let rest = length; rest > 0; rest = Math.floor(rest / 256), count++) this.#byte(rest % 256);
      this.#byte(0x80 | count);
    }
    this.#byte(tag);
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#bytes[--this.#at] = value;
  }

  #reserve(count: number): void {
    if (this.#at >= count) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.length + count));
    grown.set(this.#bytes.subarray(this.#at), grown.length - this.length);
    this.#at += grown.length - this.#bytes.length;
    this.#bytes = grown;
  }
}
