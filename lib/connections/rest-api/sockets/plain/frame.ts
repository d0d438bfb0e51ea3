// Encodes the notification of a value, `{"p":"desk/lamp","v":"true"}` (S-09), and lists of notifications (D-43). Published frames reuse the
// same bytes, because uWebSockets.js copies bytes once, but strings twice.

import { toText, type Value } from '../../../../model/value.ts';
import { maxDecimalBytes, writeDecimal } from './decimal.ts';

/** The maximum length of a frame in the shared buffer, in bytes. A longer frame gets a separate buffer. */
const maxSharedBytes = 1024;
/** The maximum length of a list of notifications, in bytes; a list with a single value may be longer. */
export const listBytes = 64 * 1024;
const quote = 0x22;
const closing = 0x7d;
const comma = 0x2c;
const listOpening = 0x5b;
const listClosing = 0x5d;

/** Returns the notification of a value as a JSON string: `{"p":"desk/lamp","v":"true"}`. */
export function encodeFrame(address: string, value: Value): string {
  return prefixText(address) + suffixText(value);
}

/** Returns the bytes of a notification up to the value. This prefix is the same for all values of a parameter. */
export function framePrefix(address: string): Uint8Array {
  return Buffer.from(prefixText(address));
}

export class FrameEncoder {
  readonly #bytes = Buffer.alloc(maxSharedBytes);
  /** Views of the buffer from its beginning, by length. */
  readonly #beginnings: Uint8Array[] = [];
  /** The prefix that is at the beginning of the buffer; undefined if there is none. */
  #prefix: Uint8Array | undefined = undefined;

  /** Returns the bytes of a notification. The bytes are valid until the next call. */
  encode(prefix: Uint8Array, value: Value): Uint8Array {
    const from = prefix.length;
    if (from + maxDecimalBytes + 3 > maxSharedBytes) return wholeFrame(prefix, value);
    if (this.#prefix !== prefix) {
      this.#bytes.set(prefix);
      this.#prefix = prefix;
    }
    const end = writeSuffix(this.#bytes, from, value, maxSharedBytes);
    if (end === 0) return wholeFrame(prefix, value);
    this.#beginnings[end] ??= this.#bytes.subarray(0, end);
    return this.#beginnings[end]!;
  }
}

/** Encodes many notifications as lists: `[{"p":"desk/lamp","v":"true"},{"p":"desk/level","v":"0.5"}]`. */
export class ListEncoder {
  readonly #bytes = Buffer.alloc(listBytes);

  constructor() {
    this.#bytes[0] = listOpening;
  }

  /** Encodes the notifications of values, and calls `emit` with each list. The bytes of a list are valid until `emit` returns. */
  encode(prefixes: readonly Uint8Array[], values: readonly Value[], emit: (list: Uint8Array) => void): void {
    const bytes = this.#bytes;
    let end = 1;
    for (let index = 0; index < prefixes.length; ) {
      const prefix = prefixes[index]!;
      const next = end + prefix.length + maxDecimalBytes + 4 > listBytes ? 0 : this.#write(end, prefix, values[index]!);
      if (next > 0) {
        end = next;
        index++;
      } else if (end > 1) {
        bytes[end - 1] = listClosing;
        emit(bytes.subarray(0, end));
        end = 1;
      } else emit(listOf(wholeFrame(prefix, values[index++]!)));
    }
    if (end === 1) return;
    bytes[end - 1] = listClosing;
    emit(bytes.subarray(0, end));
  }

  /**
   * Writes a notification and a comma, which the end of the list may replace. Returns the offset of the end, or 0 if the notification does
   * not fit.
   */
  #write(from: number, prefix: Uint8Array, value: Value): number {
    this.#bytes.set(prefix, from);
    const end = writeSuffix(this.#bytes, from + prefix.length, value, listBytes - 1);
    if (end === 0) return 0;
    this.#bytes[end] = comma;
    return end + 1;
  }
}

/** Returns a list with a single notification. */
export function listOf(frame: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from('['), frame, Buffer.from(']')]);
}

/**
 * Writes the value and the end of a notification. Returns the offset of the end, or 0 if the value may not fit. For a number, the caller
 * checks the space.
 */
function writeSuffix(bytes: Buffer, from: number, value: Value, mostBytes: number): number {
  let end = typeof value === 'number' ? writeDecimal(bytes, from + 1, value) : 0;
  if (end === 0) {
    const suffix = suffixText(value);
    return from + suffix.length * 3 > mostBytes ? 0 : from + bytes.write(suffix, from); // a UTF-16 code unit has at most 3 bytes
  }
  bytes[from] = quote;
  bytes[end++] = quote;
  bytes[end++] = closing;
  return end;
}

function prefixText(address: string): string {
  return `{"p":${JSON.stringify(address)},"v":`;
}

function suffixText(value: Value): string {
  return typeof value === 'string' ? `${JSON.stringify(value)}}` : `"${toText(value)}"}`;
}

function wholeFrame(prefix: Uint8Array, value: Value): Uint8Array {
  return Buffer.concat([prefix, Buffer.from(suffixText(value))]);
}
