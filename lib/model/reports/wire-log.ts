// The recent frames of a connection, for `patchbay wire`.

import type { WireTotals } from './connection-status.ts';

/** The maximum number of frames that are kept. */
export const keptFrames = 1000;
/** The maximum number of bytes that are kept for all frames together. */
const keptBytes = 65_536;
/** The maximum number of bytes that are kept per frame. */
const shownBytes = 4096;

export interface WireFrame {
  /** The number of the frame, counted from 1 for each connection. */
  readonly number: number;
  /** When the frame was sent or received, in milliseconds since 1970. */
  readonly time: number;
  readonly direction: 'in' | 'out';
  /** The reason why the frame was refused; undefined if the frame was not refused. */
  readonly fault?: string | undefined;
  readonly bytes: Uint8Array;
  /** The full length of the frame, in bytes. */
  readonly length: number;
}

/** A frame as shown to the operator, with secrets masked. */
export interface ShownFrame extends Omit<WireFrame, 'bytes' | 'fault'> {
  /** The reason why the frame was refused. Omitted if the frame was not refused. */
  readonly fault?: string;
  /** The text of the frame. Control characters, and bytes that are not valid UTF-8, are escaped: `\r`, `\xff`. */
  readonly text: string;
  /** The bytes in hexadecimal: `90 50 02 ff`. Omitted if the bytes contain a secret. */
  readonly hex?: string;
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

/**
 * Converts a frame to a form suitable for display. `mask` replaces secrets with `***`, and `show` converts a frame in a binary protocol.
 */
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

/** Decodes UTF-8, or Latin-1 if the bytes are not valid UTF-8. */
function readText(bytes: Buffer): readonly [text: string, isUtf8: boolean] {
  try {
    return [utf8.decode(bytes), true];
  } catch {
    return [bytes.toString('latin1'), false];
  }
}

/** A frame as a part of the bytes from one read. */
export interface FramePart {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly end: number;
}

/**
 * The positions of a frame's numbers in its row, and the length of a row. A separate object for each frame would cost garbage collection
 * time.
 */
const [timeAt, startAt, shownAt, lengthAt, directionAt, columns] = [0, 1, 2, 3, 4, 5];
const firstFrames = 16;
const firstBytes = 1024;
/** The byte position after which positions start over, because V8 processes larger numbers more slowly. */
const maxPosition = 2 ** 29;
/** The number of bytes up to which copying byte by byte takes less time than a call. */
const fewBytes = 48;

function copy(from: Uint8Array, length: number, to: Uint8Array, at: number): void {
  if (length > fewBytes) to.set(from.length === length ? from : from.subarray(0, length), at);
  else for (let place = 0; place < length; place++) to[at + place] = from[place]!;
}

/**
 * Keeps the last frames of a connection. The bytes are copied into one buffer, and the rows of the oldest frames are reused, because a
 * device may send 50,000 frames per second, and a frame may be a small part of the bytes read.
 */
export class WireLog {
  /**
   * The frames as rows of numbers. `start` is the position of a frame's bytes, counted over all frames, and `shown` is the number of
   * recorded bytes.
   */
  #rows = new Float64Array(0);
  /** The index of the oldest frame's row. */
  #first = 0;
  /** The number of rows in use. */
  #count = 0;
  /** The faults of refused frames, keyed by frame number. */
  readonly #faults = new Map<number, string>();
  #buffer = new Uint8Array(0);
  #end = 0;
  #refused = 0;
  #framesIn = 0;
  #framesOut = 0;
  #bytesIn = 0;
  #bytesOut = 0;

  /** Adds a frame. A frame with a fault counts as refused, and not as sent or received. */
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
    this.#addRow(Date.now(), start, length, direction === 'in' ? 0 : 1);
    if (fault !== undefined) this.#faults.set(this.#newest, fault);
  }

  /** Adds received frames between two indexes in the list. Consecutive frames from one read are copied together. */
  addReceived(frames: readonly FramePart[], fromPlace: number, endPlace: number): void {
    const time = Date.now();
    for (let place = fromPlace; place < endPlace; ) {
      const { bytes, from, end } = frames[place]!;
      let after = place + 1;
      let last = end;
      for (; after < endPlace; after++) {
        const next = frames[after]!;
        if (next.bytes !== bytes || next.end - from > shownBytes) break;
        last = next.end;
      }
      const copied = after === place + 1 ? Math.min(last, from + shownBytes) : last;
      const start = this.#room(copied - from);
      const part = from === 0 && copied === bytes.length ? bytes : bytes.subarray(from, copied);
      this.#buffer.set(part, start & (this.#buffer.length - 1));
      this.#end = start + copied - from;
      for (; place < after; place++) {
        const frame = frames[place]!;
        this.#framesIn++;
        this.#bytesIn += frame.end - frame.from;
        this.#addRow(time, start + frame.from - from, frame.end - frame.from, 0);
      }
    }
  }

  /** Adds the row for a frame that has been counted and whose recorded bytes begin at `start`. */
  #addRow(time: number, start: number, length: number, direction: 0 | 1): void {
    if (this.#count === keptFrames) this.#drop();
    if (this.#count * columns === this.#rows.length) this.#addRows();
    const row = this.#rowOf(this.#count++);
    this.#rows[row + timeAt] = time;
    this.#rows[row + startAt] = start;
    this.#rows[row + shownAt] = Math.min(length, shownBytes);
    this.#rows[row + lengthAt] = length;
    this.#rows[row + directionAt] = direction;
  }

  /** The totals of all frames; undefined if there have not been any frames. */
  get totals(): WireTotals | undefined {
    const [framesIn, framesOut, refused] = [this.#framesIn, this.#framesOut, this.#refused];
    if (framesIn + framesOut + refused === 0) return undefined;
    return { framesIn, framesOut, bytesIn: this.#bytesIn, bytesOut: this.#bytesOut, ...(refused > 0 && { refused }) };
  }

  /** Returns the kept frames with a number greater than `after`, oldest first. */
  after(after: number): readonly WireFrame[] {
    const frames: WireFrame[] = [];
    for (let place = 0; place < this.#count; place++) {
      const number = this.#newest - this.#count + 1 + place;
      if (number <= after) continue;
      const row = this.#rowOf(place);
      const at = this.#rows[row + startAt]! & (this.#buffer.length - 1);
      frames.push({
        number,
        time: this.#rows[row + timeAt]!,
        direction: this.#rows[row + directionAt] === 0 ? 'in' : 'out',
        fault: this.#faults.get(number),
        bytes: this.#buffer.slice(at, at + this.#rows[row + shownAt]!),
        length: this.#rows[row + lengthAt]!,
      });
    }
    return frames;
  }

  /** The number of the newest frame. */
  get #newest(): number {
    return this.#framesIn + this.#framesOut + this.#refused;
  }

  /** Returns the index in `#rows` at which the row of a frame begins. The oldest frame is at place 0. */
  #rowOf(place: number): number {
    const at = (this.#first + place) * columns;
    return at < this.#rows.length ? at : at - this.#rows.length;
  }

  /** Makes room for more rows, and moves the oldest row to the beginning. */
  #addRows(): void {
    const before = this.#rows;
    const from = this.#first * columns;
    this.#rows = new Float64Array(Math.min(Math.max(firstFrames * columns, 2 * before.length), keptFrames * columns));
    this.#rows.set(before.subarray(from));
    this.#rows.set(before.subarray(0, from), before.length - from);
    this.#first = 0;
  }

  /** Makes room for this many consecutive bytes. Returns the position at which the room begins. */
  #room(length: number): number {
    if (this.#end > maxPosition) this.#resize(this.#buffer.length);
    for (;;) {
      const size = this.#buffer.length;
      const left = size - (this.#end & (size - 1));
      const start = left < length ? this.#end + left : this.#end;
      const used = this.#count === 0 ? 0 : start - this.#rows[this.#rowOf(0) + startAt]!;
      if (used + length <= size) return start;
      if (size < keptBytes) this.#resize(Math.max(firstBytes, 2 * size));
      else this.#drop();
    }
  }

  /** Moves the bytes to the beginning of a buffer with this size, which is a power of two. */
  #resize(size: number): void {
    const before = this.#buffer;
    this.#buffer = new Uint8Array(size);
    this.#end = 0;
    for (let place = 0; place < this.#count; place++) {
      const row = this.#rowOf(place);
      const shown = this.#rows[row + shownAt]!;
      copy(before.subarray(this.#rows[row + startAt]! & (before.length - 1)), shown, this.#buffer, this.#end);
      this.#rows[row + startAt] = this.#end;
      this.#end += shown;
    }
  }

  /** Drops the oldest frame. A frame that is being added has already been counted. */
  #drop(): void {
    if (this.#faults.size > 0) {
      const oldest = this.#faults.keys().next().value!;
      if (oldest <= this.#newest - this.#count) this.#faults.delete(oldest);
    }
    this.#first = (this.#first + 1) % (this.#rows.length / columns);
    this.#count--;
  }
}
