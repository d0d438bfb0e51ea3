// Encodes the notification of a value: `{"p":"desk/lamp","v":"true"}` (S-09). A frame that is published is written into the same bytes again
// and again, since uWebSockets.js copies them. It would copy a text twice.

import { toText, type Value } from '../../../../model/value.ts';
import { maxDecimalBytes, writeDecimal } from './decimal.ts';

/** A longer frame gets bytes of its own. */
const maxSharedBytes = 1024;
const quote = 0x22;
const closing = 0x7d;

/** The notification as text. */
export function encodeFrame(address: string, value: Value): string {
  return prefixText(address) + suffixText(value);
}

/** The bytes of a frame before the value. They are the same for all values of a parameter. */
export function framePrefix(address: string): Uint8Array {
  return Buffer.from(prefixText(address));
}

export class FrameEncoder {
  readonly #bytes = Buffer.alloc(maxSharedBytes);
  /** The first bytes, as many as the index says. */
  readonly #beginnings: Uint8Array[] = [];
  /** The prefix that the bytes begin with. */
  #prefix: Uint8Array | undefined = undefined;

  /** Returns the bytes of a frame. They are valid until the next call. */
  encode(prefix: Uint8Array, value: Value): Uint8Array {
    const from = prefix.length;
    if (from + maxDecimalBytes + 3 > maxSharedBytes) return wholeFrame(prefix, value);
    if (this.#prefix !== prefix) {
      this.#bytes.set(prefix);
      this.#prefix = prefix;
    }
    const bytes = this.#bytes;
    let end = typeof value === 'number' ? writeDecimal(bytes, from + 1, value) : 0;
    if (end > 0) {
      bytes[from] = quote;
      bytes[end++] = quote;
      bytes[end++] = closing;
    } else {
      const suffix = suffixText(value);
      if (from + suffix.length * 3 > maxSharedBytes) return wholeFrame(prefix, value); // a UTF-16 code unit has at most 3 bytes
      end = from + bytes.write(suffix, from);
    }
    this.#beginnings[end] ??= bytes.subarray(0, end);
    return this.#beginnings[end]!;
  }
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
