// The recent frames of a connection, for `patchbay wire`.

import type { WireTotals } from './connection-status.ts';

/** How many frames are kept, how many bytes in total, and how many bytes per frame. */
export const keptFrames = 1000;
const keptBytes = 262_144;
const shownBytes = 4096;

export interface WireFrame {
  /** Counts the frames of the connection, from 1. */
  readonly number: number;
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly direction: 'in' | 'out';
  /** The reason why it was refused; undefined: it was not refused. */
  readonly fault?: string | undefined;
  readonly bytes: Uint8Array;
  /** The full length of the frame. */
  readonly length: number;
}

/** A frame as text for the operator, with secrets masked. */
export interface ShownFrame extends Omit<WireFrame, 'bytes' | 'fault'> {
  /** The reason why it was refused; omitted: it was not refused. */
  readonly fault?: string;
  /** Its text; control characters, and bytes that are not UTF-8, are escaped: `\r`, `\xff`. */
  readonly text: string;
  /** Its bytes, `90 50 02 ff`; omitted if they contain a secret. */
  readonly hex?: string;
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

/** Converts a frame to text; `mask` replaces secrets with `***`. `show` converts a frame of a binary protocol. */
export function showFrame(
  { bytes, fault, ...frame }: WireFrame,
  mask: (text: string) => string,
  show?: (frame: Uint8Array) => string,
): ShownFrame {
  const buffer = Buffer.from(bytes);
  const isWhole = frame.length === bytes.length;
  const [plain, isText] = show !== undefined && isWhole ? ([show(bytes), true] as const) : readText(buffer);
  const masked = mask(plain);
  const text = masked.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
    isText ? /[\0-\x1f\x7f\\]/g : /[\0-\x1f\x7f-\xff\\]/g,
    (character) => escapes[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  const cut = frame.length > bytes.length ? '…' : '';
  const hex = masked === plain ? (buffer.toString('hex').match(/../g) ?? []).join(' ') + cut : undefined;
  return { ...frame, ...(fault !== undefined && { fault }), text: text + cut, ...(hex === undefined ? {} : { hex }) };
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

/** A recorded frame: `start` counts the bytes of all frames, `shown` the recorded bytes of this one. */
interface KeptFrame extends Omit<WireFrame, 'bytes'> {
  number: number;
  time: number;
  direction: WireFrame['direction'];
  fault: string | undefined;
  length: number;
  start: number;
  shown: number;
}

const firstBytes = 1024;
/** Positions start over after this one, because larger numbers are slower. */
const maxPosition = 2 ** 29;
/** Copying up to this many bytes one by one takes less time than a call. */
const fewBytes = 48;

function copy(from: Uint8Array, length: number, to: Uint8Array, at: number): void {
  if (length > fewBytes) to.set(from.length === length ? from : from.subarray(0, length), at);
  else for (let place = 0; place < length; place++) to[at + place] = from[place]!;
}

/**
 * Keeps the last frames. Their bytes are copied into one buffer, and the objects of the oldest frames are reused: a device may send 50,000
 * frames per second, and a frame may be a small part of the bytes read.
 */
export class WireLog {
  readonly #frames: KeptFrame[] = [];
  /** Where the oldest frame is in the list, and how many there are. */
  #first = 0;
  #count = 0;
  #buffer = new Uint8Array(0);
  #end = 0;
  #refused = 0;
  #framesIn = 0;
  #framesOut = 0;
  #bytesIn = 0;
  #bytesOut = 0;

  /** Adds a frame; one with a fault counts as refused rather than as a frame. */
  add(direction: WireFrame['direction'], bytes: Uint8Array, fault?: string): void {
    const { length } = bytes;
    if (fault !== undefined) this.#refused++;
    else if (direction === 'in') {
      this.#framesIn++;
      this.#bytesIn += length;
    } else {
      this.#framesOut++;
      this.#bytesOut += length;
    }
    const shown = Math.min(length, shownBytes);
    const start = this.#room(shown);
    copy(bytes, shown, this.#buffer, start & (this.#buffer.length - 1));
    this.#end = start + shown;
    if (this.#count === keptFrames) this.#drop();
    const place = (this.#first + this.#count++) % keptFrames;
    const number = this.#framesIn + this.#framesOut + this.#refused;
    const frame = this.#frames[place];
    if (frame === undefined) this.#frames[place] = { number, time: Date.now(), direction, fault, length, start, shown };
    else {
      frame.number = number;
      frame.time = Date.now();
      frame.direction = direction;
      frame.fault = fault;
      frame.length = length;
      frame.start = start;
      frame.shown = shown;
    }
  }

  /** undefined: there was no frame. */
  get totals(): WireTotals | undefined {
    const [framesIn, framesOut, refused] = [this.#framesIn, this.#framesOut, this.#refused];
    if (framesIn + framesOut + refused === 0) return undefined;
    return { framesIn, framesOut, bytesIn: this.#bytesIn, bytesOut: this.#bytesOut, ...(refused > 0 && { refused }) };
  }

  /** Returns the frames after this number, oldest first. */
  after(after: number): readonly WireFrame[] {
    return this.#kept()
      .filter(({ number }) => number > after)
      .map(({ start, shown, number, time, direction, fault, length }) => {
        const at = start & (this.#buffer.length - 1);
        return { number, time, direction, fault, bytes: this.#buffer.slice(at, at + shown), length };
      });
  }

  /** Makes room for this many consecutive bytes, and returns where they begin. */
  #room(length: number): number {
    if (this.#end > maxPosition) this.#resize(this.#buffer.length);
    for (;;) {
      const size = this.#buffer.length;
      const left = size - (this.#end & (size - 1));
      const start = left < length ? this.#end + left : this.#end;
      const used = this.#count === 0 ? 0 : start - this.#frames[this.#first]!.start;
      if (used + length <= size) return start;
      if (size < keptBytes) this.#resize(Math.max(firstBytes, 2 * size));
      else this.#drop();
    }
  }

  /** Moves the bytes to the beginning of a buffer of this size, a power of two. */
  #resize(size: number): void {
    const before = this.#buffer;
    this.#buffer = new Uint8Array(size);
    this.#end = 0;
    for (const frame of this.#kept()) {
      copy(before.subarray(frame.start & (before.length - 1)), frame.shown, this.#buffer, this.#end);
      frame.start = this.#end;
      this.#end += frame.shown;
    }
  }

  #drop(): void {
    this.#first = (this.#first + 1) % keptFrames;
    this.#count--;
  }

  #kept(): KeptFrame[] {
    return Array.from({ length: this.#count }, (_, index) => this.#frames[(this.#first + index) % keptFrames]!);
  }
}
