// The notification of a value: `{"p":"desk/lamp","v":"true"}` (S-09). Frames that are published
// are written into bytes that are used again and again, since the server copies them, and copies text twice.

import { toText, type Value } from '../../../../model/value.ts';
import { maxDecimalBytes, writeDecimal } from './decimal.ts';

/** Longer frames get bytes of their own. */
const maxSharedBytes = 1024;
const quote = 0x22;
const closing = 0x7d;

/** The notification as text. */
export function encodeFrame(address: string, value: Value): string {
  return prefixText(address) + suffixText(value);
}

/** The bytes of a frame up to the value, which are the same for all values of a parameter. */
export function framePrefix(address: string): Uint8Array {
  return Buffer.from(prefixText(address));
}

export class FrameEncoder {
  readonly #bytes = Buffer.alloc(maxSharedBytes);
  /** The beginnings of the bytes by their length. */
  readonly #beginnings: Uint8Array[] = [];
  /** What the bytes begin with. */
  #prefix: Uint8Array | undefined = undefined;

  /** Returns the bytes of a frame, which are valid until the next call. */
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
      if (from + suffix.length * 3 > maxSharedBytes) return wholeFrame(prefix, value); // 3: the most of a UTF-16 code unit
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
