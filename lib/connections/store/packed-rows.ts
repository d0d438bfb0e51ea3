// Packs many rows into one. Rows for another thread become transferred buffers with all numbers and one string with all texts, because
// copying each row would block the hub's thread for longer. Rows for the database become JSON, which SQLite can read.

import { giveWay } from './thread/give-way.ts';

export type Cell = string | number | boolean | undefined;

/** Rows of equal length, packed cell by cell. */
export interface PackedRows {
  readonly rows: number;
  /** The kind of each cell, which is a value of `kind`. */
  readonly kinds: Uint8Array<ArrayBuffer>;
  /** The value of each number, or the length of each string. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** All strings, concatenated without separators. */
  readonly texts: string;
}

const kind = { nothing: 0, no: 1, yes: 2, number: 3, text: 4 } as const;

/** Packs rows of equal length into a few buffers and one string. */
export function packRows(rows: readonly (readonly Cell[])[]): PackedRows {
  const cells = rows.length * (rows[0]?.length ?? 0);
  const kinds = new Uint8Array(cells);
  const numbers = new Float64Array(cells);
  let texts = '';
  let place = 0;
  for (const row of rows)
    for (const cell of row) {
      if (typeof cell === 'string') {
        kinds[place] = kind.text;
        numbers[place] = cell.length;
        texts += cell;
      } else if (typeof cell === 'number') {
        kinds[place] = kind.number;
        numbers[place] = cell;
      } else if (cell !== undefined) kinds[place] = cell ? kind.yes : kind.no;
      place++;
    }
  return { rows: rows.length, kinds, numbers, texts };
}

/** Returns the buffers of packed rows, which are transferred between threads instead of being copied. */
export function buffersOf({ kinds, numbers }: PackedRows): ArrayBuffer[] {
  return [kinds.buffer, numbers.buffer];
}

/** Restores packed rows in the thread that writes them. */
export function unpackRows({ rows, kinds, numbers, texts }: PackedRows): Cell[][] {
  const width = kinds.length / rows;
  const unpacked: Cell[][] = [];
  let start = 0;
  for (let place = 0, row = 0; row < rows; row++) {
    giveWay();
    const cells: Cell[] = [];
    for (const end = place + width; place < end; place++) {
      const number = numbers[place]!;
      if (kinds[place] === kind.number) cells.push(number);
      else if (kinds[place] === kind.text) {
        cells.push(texts.slice(start, start + number));
        start += number;
      } else cells.push(kinds[place] === kind.nothing ? undefined : kinds[place] === kind.yes);
    }
    unpacked.push(cells);
  }
  return unpacked;
}

const code = { '-': 0x2d, '.': 0x2e, '0': 0x30 } as const;
/** The largest integer that is written quickly, digit by digit. Larger integers are rare. */
const mostQuick = 99_999_999;
/** The maximum number of bytes that a number takes up, and the maximum for a UTF-16 code unit. */
const numberBytes = 32;
const characterBytes = 3;

/** Collects JSON as bytes. Building a string would take several times as long and leave garbage. */
export class JsonBytes {
  #bytes: Buffer<ArrayBuffer>;
  length = 0;

  /** `bytes` is the initial size of the buffer, which grows if necessary. */
  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(bytes);
  }

  /** The bytes written so far. They remain valid until the next byte is written. */
  get written(): Buffer<ArrayBuffer> {
    return this.#bytes.subarray(0, this.length);
  }

  /** Makes room for this many numbers or single bytes. */
  reserve(numbers: number): void {
    if (this.length + numbers * numberBytes > this.#bytes.length) this.#grow(numbers * numberBytes);
  }

  /** Appends a byte. Call `reserve` first. */
  put(byte: number): void {
    this.#bytes[this.length++] = byte;
  }

  /** Appends an integer. Call `reserve` first. */
  putInteger(integer: number): void {
    if (integer < 0) this.put(code['-']);
    let rest = Math.abs(integer);
    if (rest > mostQuick) {
      this.length += this.#bytes.write(`${rest}`, this.length);
      return;
    }
    rest |= 0; // so that V8 uses integer division
    let place = this.length + 1;
    for (let power = 10; power <= rest; power *= 10) place++;
    this.length = place;
    do {
      const tenth = (rest / 10) | 0;
      this.#bytes[--place] = code['0'] + rest - tenth * 10;
      rest = tenth;
    } while (rest > 0);
  }

  /** Appends a finite number; with `isReal`, SQLite reads the number as a float. Call `reserve` first. */
  putNumber(number: number, isReal: boolean): void {
    if (Number.isSafeInteger(number)) {
      this.putInteger(number);
      if (!isReal) return;
      this.put(code['.']);
      this.put(code['0']);
    } else this.length += this.#bytes.write(`${number}`, this.length);
  }

  /** Appends a string that is already JSON. */
  putText(text: string): void {
    const most = text.length * characterBytes;
    if (this.length + most > this.#bytes.length) this.#grow(most);
    this.length += this.#bytes.write(text, this.length);
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(2 * this.#bytes.length + bytes);
    larger.set(this.written);
    this.#bytes = larger;
  }
}
