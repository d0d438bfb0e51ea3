// The recent frames of a connection, for `patchbay wire`.

import type { WireTotals } from './connection-status.ts';

/** How many frames are kept, how many bytes of all of them, and how many of a single one. */
export const keptFrames = 1000;
const keptBytes = 262_144;
const shownBytes = 4096;

export interface WireFrame {
  /** Counts the frames of the connection, from 1. */
  readonly number: number;
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly direction: 'in' | 'out';
  readonly bytes: Uint8Array;
  /** The full length of the frame. */
  readonly length: number;
}

/** A frame as text for the operator, with secrets masked. */
export interface ShownFrame extends Omit<WireFrame, 'bytes'> {
  /** Its text; control characters, and bytes that are not UTF-8, are escaped: `\r`, `\xff`. */
  readonly text: string;
  /** Its bytes, `90 50 02 ff`; omitted if they contain a secret. */
  readonly hex?: string;
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

/** Converts a frame to text; `mask` replaces secrets by `***`. */
export function showFrame({ bytes, ...frame }: WireFrame, mask: (text: string) => string): ShownFrame {
  const buffer = Buffer.from(bytes);
  const [plain, isText] = readText(buffer);
  const masked = mask(plain);
  const text = masked.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
    isText ? /[\0-\x1f\x7f\\]/g : /[\0-\x1f\x7f-\xff\\]/g,
    (character) => escapes[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  const cut = frame.length > bytes.length ? '…' : '';
  const hex = masked === plain ? (buffer.toString('hex').match(/../g) ?? []).join(' ') + cut : undefined;
  return { ...frame, text: text + cut, ...(hex === undefined ? {} : { hex }) };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8, or Latin-1 if it is not UTF-8. */
function readText(bytes: Buffer): readonly [text: string, isUtf8: boolean] {
  try {
    return [utf8.decode(bytes), true];
  } catch {
    return [bytes.toString('latin1'), false];
  }
}

/** Keeps the last frames. */
export class WireLog {
  readonly #frames: WireFrame[] = [];
  #first = 0;
  #bytes = 0;
  #framesIn = 0;
  #framesOut = 0;
  #bytesIn = 0;
  #bytesOut = 0;

  add(direction: WireFrame['direction'], bytes: Uint8Array): void {
    if (direction === 'in') {
      this.#framesIn++;
      this.#bytesIn += bytes.length;
    } else {
      this.#framesOut++;
      this.#bytesOut += bytes.length;
    }
    const number = this.#framesIn + this.#framesOut;
    const shown = bytes.length > shownBytes ? bytes.slice(0, shownBytes) : bytes;
    this.#frames.push({ number, time: Date.now(), direction, bytes: shown, length: bytes.length });
    this.#bytes += shown.length;
    while (this.#frames.length - this.#first > keptFrames || this.#bytes > keptBytes) {
      this.#bytes -= this.#frames[this.#first]!.bytes.length;
      this.#first++;
    }
    if (this.#first < keptFrames) return;
    this.#frames.splice(0, this.#first);
    this.#first = 0;
  }

  /** undefined: there was no frame. */
  get totals(): WireTotals | undefined {
    if (this.#framesIn + this.#framesOut === 0) return undefined;
    return { framesIn: this.#framesIn, framesOut: this.#framesOut, bytesIn: this.#bytesIn, bytesOut: this.#bytesOut };
  }

  /** Returns the frames after this number, oldest first. */
  after(number: number): readonly WireFrame[] {
    return this.#frames.slice(this.#first).filter((frame) => frame.number > number);
  }
}
