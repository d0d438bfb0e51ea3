// Splits a stream of bytes into a device's messages. A framer drops and counts the bytes outside frames and the bytes of frames that are
// too long, and then continues with the next frame.

import { isAscii } from 'node:buffer';

/** The rules by which a stream of bytes is split into frames. */
export type Framing =
  /**
   * Each received frame ends with one of `ends`; `sendEnd` is appended to each sent frame. If `isBlock` is true, all lines up to an empty
   * line form one frame. A prompt at the beginning of a line is a frame without an end.
   */
  | {
      readonly kind: 'end';
      readonly ends: readonly Buffer[];
      readonly sendEnd: Buffer;
      readonly isBlock: boolean;
      readonly prompts?: readonly Buffer[];
    }
  | { readonly kind: 'enclosed'; readonly start: Buffer; readonly end: Buffer; readonly escapeByte: number | undefined }
  | { readonly kind: 'bytes'; readonly bytes: number }
  /** A number in the header plus `adds` is the length of the frame, in bytes. */
  | {
      readonly kind: 'length';
      readonly at: number;
      readonly bytes: number;
      readonly isLittle: boolean;
      readonly adds: number;
    }
  /**
   * The byte at offset `at` selects the length of the frame or the byte that ends it. `isRunning` follows MIDI: a byte of at least 0x80
   * starts a frame, and a byte of at least 0xF8 does so even within another frame. A frame may omit its first byte (0x80 to 0xEF) if this
   * byte is the same as in the previous frame.
   */
  | {
      readonly kind: 'lengthBy';
      readonly at: number;
      readonly rules: readonly (LengthRule | undefined)[];
      readonly isRunning: boolean;
    }
  /** Each frame ends with a pause of `idleMs` milliseconds. */
  | { readonly kind: 'idle'; readonly idleMs: number }
  /** Each received chunk is a frame: a WebSocket message or a datagram. */
  | { readonly kind: 'whole' };

/** The length of a frame in bytes, or the byte that ends the frame. */
export type LengthRule = number | { readonly end: number };

/**
 * A frame as a range of the bytes from one read. Frames share the memory of these bytes, because creating a Buffer for each frame takes
 * time.
 */
export class Frame {
  readonly bytes: Buffer;
  readonly from: number;
  readonly end: number;

  constructor(bytes: Buffer, from = 0, end = bytes.length) {
    this.bytes = bytes;
    this.from = from;
    this.end = end;
  }

  toBuffer(): Buffer {
    return this.bytes.subarray(this.from, this.end);
  }

  toString(encoding: BufferEncoding): string {
    return this.bytes.toString(encoding, this.from, this.end);
  }
}

/** The maximum size of the range of bytes that is decoded at once, in bytes. */
const decodedBytes = 8192;

/**
 * Decodes the frames from index `from` up to index `end`. ASCII frames from one read are decoded together, and the resulting strings share
 * memory. A caller that keeps a part of such a string must copy it with `ownText`.
 */
export function textsOf(frames: readonly Frame[], from: number, end: number, encoding: BufferEncoding): string[] {
  const some = frames.slice(from, end);
  const { bytes, from: start } = some[0]!;
  const { end: last } = some.at(-1)!;
  const isOneRead = some.length > 1 && some.every((frame) => frame.bytes === bytes) && last - start <= decodedBytes;
  if (!isOneRead || !isAscii(bytes.subarray(start, last))) return some.map((frame) => frame.toString(encoding));
  const text = bytes.toString('latin1', start, last);
  return some.map((frame) => text.slice(frame.from - start, frame.end - start));
}

/** The maximum length of a substring that a JavaScript engine copies instead of referring to the whole string, in characters. */
const copiedLength = 12;

/** Returns a copy of a substring. The substring itself would keep the whole string in memory. */
export function ownText(part: string): string {
  return part.length > copiedLength ? ` ${part}`.slice(1) : part;
}

export interface Framer {
  /** Adds received bytes and returns the frames that are now complete. */
  push(bytes: Uint8Array): Frame[];
  /** If frames end with pauses, returns the bytes since the last frame as a frame. Otherwise returns an empty list. */
  flush(): Frame[];
  /** Returns the bytes to send for a frame: its content with marks or with a header. */
  wrap(payload: Buffer): Buffer;
  /** The number of bytes that were dropped because they were outside frames or in frames that were too long. */
  readonly droppedBytes: number;
}

/** The default maximum size of a frame, in bytes. */
export const maxFrameBytes = 65_536;

export function createFramer(framing: Framing, maxBytes = maxFrameBytes): Framer {
  switch (framing.kind) {
    case 'end':
      return framing.isBlock ? new BlockFramer(framing, maxBytes) : new EndFramer(framing, maxBytes);
    case 'enclosed':
      return framing.escapeByte === undefined
        ? new EnclosedFramer(framing, maxBytes)
        : new StuffedFramer({ ...framing, escapeByte: framing.escapeByte }, maxBytes);
    case 'bytes':
      return new SizedFramer(() => framing.bytes, 0, maxBytes);
    case 'length':
      return new SizedFramer(lengthReader(framing), framing.at + framing.bytes, maxBytes);
    case 'lengthBy':
      return framing.isRunning
        ? new RunningFramer(framing.rules, maxBytes)
        : new SizedFramer(ruleReader(framing), framing.at + 1, maxBytes);
    case 'idle':
      return new IdleFramer(maxBytes);
    case 'whole':
      return new WholeFramer(maxBytes);
  }
}

/** Converts a message written by a person into a frame. Adds the frame's marks unless the message already contains them. */
export function withMarks(framing: Framing, written: Buffer): Buffer {
  if (framing.kind === 'end') {
    const [marks, times] = framing.isBlock
      ? [framing.ends.map((end) => Buffer.concat([end, end])), 2]
      : [framing.ends, 1];
    if ([...marks, ...(framing.prompts ?? [])].some((mark) => written.subarray(-mark.length).equals(mark)))
      return written;
    const isLine = times === 2 && framing.ends.some((end) => written.subarray(-end.length).equals(end));
    return Buffer.concat([written, ...Array<Buffer>(isLine ? 1 : times).fill(framing.sendEnd)]);
  }
  if (framing.kind !== 'enclosed') return written;
  const { start, end, escapeByte } = framing;
  const isWhole = written.subarray(0, start.length).equals(start) && written.subarray(-end.length).equals(end);
  const isAcknowledgement = escapeByte !== undefined && written.length === 2 && written[0] === escapeByte;
  return isWhole || isAcknowledgement ? written : createFramer(framing).wrap(written);
}

/** A buffer for the bytes of an incomplete frame. */
class Unread {
  #bytes = Buffer.allocUnsafe(256);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  add(bytes: Uint8Array): void {
    if (this.#end + bytes.length > this.#bytes.length) {
      const { length } = this;
      const room =
        length + bytes.length <= this.#bytes.length / 2 ? this.#bytes : Buffer.allocUnsafe(2 * (length + bytes.length));
      this.#bytes.copy(room, 0, this.#start, this.#end);
      this.#bytes = room;
      [this.#start, this.#end] = [0, length];
    }
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  at(place: number): number {
    return this.#bytes[this.#start + place]!;
  }

  indexOf(wanted: Buffer, from: number): number {
    const found = this.#bytes.subarray(0, this.#end).indexOf(wanted, this.#start + from);
    return found < 0 ? -1 : found - this.#start;
  }

  /** Returns the unread bytes without copying them. */
  peek(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  /** Removes bytes from the front and returns a copy of them. */
  take(length: number): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(this.#start, this.#start + length));
    this.skip(length);
    return taken;
  }

  skip(length: number): void {
    this.#start += length;
    if (this.#start === this.#end) this.#start = this.#end = 0;
  }
}

const carriageReturn = 13;

class EndFramer implements Framer {
  droppedBytes = 0;
  readonly #ends: readonly Buffer[];
  readonly #sendEnd: Buffer;
  readonly #maxBytes: number;
  /**
   * The prompts, shortest first. With another order, the result would depend on how the bytes arrive if one prompt begins with another
   * prompt.
   */
  readonly #prompts: readonly Buffer[];
  readonly #longestEnd: number;
  /** The last byte of all ends, if each end consists of this byte and possibly a carriage return; undefined otherwise. */
  readonly #lastByte: number | undefined;
  /** Whether a carriage return before the end belongs to the end. */
  readonly #mayReturn: boolean;
  readonly #unread = new Unread();
  /** The offset up to which the unread bytes contain no end. */
  #searched = 0;
  /** Whether the current frame is too long, so that its remaining bytes are dropped as well. */
  #isDropping = false;

  constructor({ ends, sendEnd, prompts = [] }: Extract<Framing, { kind: 'end' }>, maxBytes: number) {
    this.#ends = ends;
    this.#prompts = [...prompts].sort((a, b) => a.length - b.length);
    this.#sendEnd = sendEnd;
    this.#maxBytes = maxBytes;
    this.#longestEnd = Math.max(...ends.map(({ length }) => length));
    const written = ends.map((end) => end.toString('latin1'));
    const single = written.find((end) => end.length === 1);
    this.#mayReturn = single === '\n' && written.includes('\r\n');
    if (written.length === (this.#mayReturn ? 2 : 1)) this.#lastByte = single?.charCodeAt(0);
  }

  push(bytes: Uint8Array): Frame[] {
    const lines = this.pushLines(bytes);
    const frames = this.#prompts.length === 0 ? lines : this.#withPrompts(lines);
    return frames.some(isEmpty) ? frames.filter((frame) => !isEmpty(frame)) : frames;
  }

  /** Splits off the prompts at the beginning of lines as separate frames, including prompts in an incomplete last line. */
  #withPrompts(lines: readonly Frame[]): Frame[] {
    const frames: Frame[] = [];
    for (const line of lines) {
      let rest = line.toBuffer();
      for (let mark = this.#promptOf(rest); mark !== undefined; mark = this.#promptOf(rest)) {
        frames.push(new Frame(mark));
        rest = rest.subarray(mark.length);
      }
      frames.push(new Frame(rest));
    }
    if (this.#isDropping) return frames;
    const unread = this.#unread.peek();
    let taken = 0;
    for (let mark = this.#promptOf(unread); mark !== undefined; mark = this.#promptOf(unread.subarray(taken))) {
      frames.push(new Frame(mark));
      taken += mark.length;
    }
    this.#unread.skip(taken);
    this.#searched = Math.max(0, this.#searched - taken);
    return frames;
  }

  #promptOf(line: Buffer): Buffer | undefined {
    return this.#prompts.find((mark) => line.subarray(0, mark.length).equals(mark));
  }

  /** Like `push`, but does not remove empty frames. */
  pushLines(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let rest = bytes;
    if (this.#lastByte !== undefined) {
      if (this.#unread.length > 0 || this.#isDropping) {
        const end = bytes.indexOf(this.#lastByte) + 1;
        this.#add(end === 0 ? bytes : bytes.subarray(0, end), frames);
        if (end === 0) return frames;
        rest = bytes.subarray(end);
      }
      rest = this.#takeWhole(rest, frames);
    }
    if (rest.length > 0) this.#add(rest, frames);
    return frames;
  }

  flush(): Frame[] {
    return [];
  }

  wrap(payload: Buffer): Buffer {
    return Buffer.concat([payload, this.#sendEnd]);
  }

  #add(bytes: Uint8Array, frames: Frame[]): void {
    this.#unread.add(bytes);
    for (;;) {
      const [at, length] = this.#findEnd();
      if (at < 0) break;
      if (this.#isDropping || at > this.#maxBytes) {
        this.droppedBytes += at;
        this.#unread.skip(at);
      } else frames.push(new Frame(this.#unread.take(at)));
      this.#unread.skip(length);
      this.#isDropping = false;
      this.#searched = 0;
    }
    this.#searched = Math.max(0, this.#unread.length - this.#longestEnd + 1);
    if (this.#unread.length > this.#maxBytes + this.#longestEnd) {
      this.#isDropping = true;
      this.droppedBytes += this.#searched;
      this.#unread.skip(this.#searched);
      this.#searched = 0;
    }
  }

  /** Adds all complete frames in `bytes` to `frames` without copying them. Returns the remaining bytes. */
  #takeWhole(bytes: Uint8Array, frames: Frame[]): Uint8Array {
    const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    let from = 0;
    for (let at = 0; at < whole.length; at++) {
      if (whole[at] !== this.#lastByte) continue;
      const end = this.#mayReturn && at > from && whole[at - 1] === carriageReturn ? at - 1 : at;
      if (end - from > this.#maxBytes) this.droppedBytes += end - from;
      else frames.push(new Frame(whole, from, end));
      from = at + 1;
    }
    return from === 0 ? bytes : whole.subarray(from);
  }

  /**
   * Returns the offset and the length of the first end in the unread bytes. If two ends start at the same offset, the longer end is used.
   */
  #findEnd(): [at: number, length: number] {
    let found: [number, number] = [-1, 0];
    for (const end of this.#ends) {
      const at = this.#unread.indexOf(end, this.#searched);
      if (at >= 0 && (found[0] < 0 || at < found[0] || (at === found[0] && end.length > found[1])))
        found = [at, end.length];
    }
    return found;
  }
}

function isEmpty({ from, end }: Frame): boolean {
  return end === from;
}

/** A framer for frames that consist of all lines up to an empty line. */
class BlockFramer implements Framer {
  readonly #lines: EndFramer;
  readonly #sendEnd: Buffer;
  readonly #maxBytes: number;
  #block: Buffer[] = [];
  #blockBytes = 0;
  #droppedBytes = 0;

  constructor(framing: Extract<Framing, { kind: 'end' }>, maxBytes: number) {
    this.#lines = new EndFramer(framing, maxBytes);
    this.#sendEnd = framing.sendEnd;
    this.#maxBytes = maxBytes;
  }

  get droppedBytes(): number {
    return this.#droppedBytes + this.#lines.droppedBytes;
  }

  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    for (const frame of this.#lines.pushLines(bytes)) {
      const line = frame.toBuffer();
      if (line.length > 0) {
        this.#blockBytes += line.length + 1;
        if (this.#blockBytes <= this.#maxBytes) this.#block.push(line);
        continue;
      }
      if (this.#blockBytes > this.#maxBytes) this.#droppedBytes += this.#blockBytes;
      else if (this.#block.length > 0) frames.push(new Frame(join(this.#block)));
      this.#block = [];
      this.#blockBytes = 0;
    }
    return frames;
  }

  flush(): Frame[] {
    return [];
  }

  wrap(payload: Buffer): Buffer {
    return Buffer.concat([payload, this.#sendEnd, this.#sendEnd]);
  }
}

function join(lines: readonly Buffer[]): Buffer {
  const newline = Buffer.from('\n');
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [newline, line])));
}

/** A framer for frames between a start mark and an end mark. Bytes outside frames are dropped. */
class EnclosedFramer implements Framer {
  droppedBytes = 0;
  readonly #start: Buffer;
  readonly #end: Buffer;
  readonly #maxBytes: number;
  readonly #unread = new Unread();
  #isInside = false;
  #searched = 0;

  constructor({ start, end }: Extract<Framing, { kind: 'enclosed' }>, maxBytes: number) {
    this.#start = start;
    this.#end = end;
    this.#maxBytes = maxBytes;
  }

  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    this.#unread.add(bytes);
    for (;;) {
      if (!this.#isInside && !this.#findStart()) return frames;
      const frame = this.#takeFrame();
      if (frame === undefined) return frames;
      frames.push(new Frame(frame));
    }
  }

  flush(): Frame[] {
    return [];
  }

  wrap(payload: Buffer): Buffer {
    return Buffer.concat([this.#start, payload, this.#end]);
  }

  /** Drops the bytes before the next start mark. Returns whether there is a start mark. */
  #findStart(): boolean {
    const { length } = this.#start;
    const at = this.#unread.indexOf(this.#start, 0);
    this.#drop(at >= 0 ? at : Math.max(0, this.#unread.length - length + 1));
    if (at < 0) return false;
    this.#unread.skip(length);
    this.#isInside = true;
    return true;
  }

  /**
   * Removes and returns the frame up to the next end mark. If another frame starts before this mark, the first frame has lost its end and
   * is dropped. Returns undefined if the frame is incomplete or too long.
   */
  #takeFrame(): Buffer | undefined {
    const { length } = this.#end;
    const at = this.#unread.indexOf(this.#end, this.#searched);
    if (at < 0) {
      this.#searched = Math.max(0, this.#unread.length - length + 1);
      if (this.#unread.length <= this.#maxBytes + length) return undefined;
      this.#drop(this.#searched);
      this.#isInside = false;
      return undefined;
    }
    const frame = this.#unread.take(at);
    this.#unread.skip(length);
    this.#searched = 0;
    this.#isInside = false;
    const again = this.#start.equals(this.#end) ? -1 : frame.lastIndexOf(this.#start);
    if (again < 0) return frame;
    this.droppedBytes += again + this.#start.length;
    return frame.subarray(again + this.#start.length);
  }

  #drop(length: number): void {
    this.droppedBytes += length;
    this.#unread.skip(length);
    this.#searched = 0;
  }
}

/**
 * A framer for frames between two marks that begin with an escape byte: `DLE STX … DLE ETX`. Within a frame, the escape byte is doubled.
 */
class StuffedFramer implements Framer {
  droppedBytes = 0;
  readonly #startByte: number;
  readonly #endByte: number;
  readonly #escape: number;
  readonly #maxBytes: number;
  #frame: number[] | undefined;
  #isEscaped = false;

  constructor(
    { start, end, escapeByte }: Extract<Framing, { kind: 'enclosed' }> & { readonly escapeByte: number },
    maxBytes: number,
  ) {
    this.#startByte = start.at(-1)!;
    this.#endByte = end.at(-1)!;
    this.#escape = escapeByte;
    this.#maxBytes = maxBytes;
  }

  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    for (const byte of bytes) {
      if (!this.#isEscaped && byte === this.#escape) {
        this.#isEscaped = true;
        continue;
      }
      const isMark = this.#isEscaped && byte !== this.#escape;
      this.#isEscaped = false;
      if (!isMark) this.#add(byte);
      else if (byte === this.#startByte) {
        this.droppedBytes += this.#frame?.length ?? 0;
        this.#frame = [];
      } else {
        const isEnd = byte === this.#endByte;
        if (isEnd && this.#frame !== undefined) frames.push(new Frame(Buffer.from(this.#frame)));
        else if (!isEnd && this.#frame === undefined)
          frames.push(new Frame(Buffer.from([this.#escape, byte]))); // an ACK or NAK
        else this.droppedBytes += this.#frame?.length ?? 0;
        this.#frame = undefined;
      }
    }
    return frames;
  }

  flush(): Frame[] {
    return [];
  }

  wrap(payload: Buffer): Buffer {
    const stuffed = [...payload].flatMap((byte) => (byte === this.#escape ? [byte, byte] : [byte]));
    return Buffer.from([this.#escape, this.#startByte, ...stuffed, this.#escape, this.#endByte]);
  }

  #add(byte: number): void {
    if (this.#frame === undefined) this.droppedBytes++;
    else if (this.#frame.length < this.#maxBytes) this.#frame.push(byte);
    else {
      this.droppedBytes += this.#frame.length + 1;
      this.#frame = undefined;
    }
  }
}

/** A framer for frames whose first bytes contain their length. */
class SizedFramer implements Framer {
  droppedBytes = 0;
  readonly #lengthOf: (unread: Unread) => number;
  readonly #headerBytes: number;
  readonly #maxBytes: number;
  readonly #unread = new Unread();

  constructor(lengthOf: (unread: Unread) => number, headerBytes: number, maxBytes: number) {
    this.#lengthOf = lengthOf;
    this.#headerBytes = headerBytes;
    this.#maxBytes = maxBytes;
  }

  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    const unread = this.#unread;
    unread.add(bytes);
    while (unread.length >= Math.max(1, this.#headerBytes)) {
      const length = this.#lengthOf(unread);
      if (length < Math.max(1, this.#headerBytes) || length > this.#maxBytes) {
        unread.skip(1); // not a header, but a header may begin at the next byte
        this.droppedBytes++;
      } else if (unread.length >= length) frames.push(new Frame(unread.take(length)));
      else break;
    }
    return frames;
  }

  flush(): Frame[] {
    return [];
  }

  wrap(payload: Buffer): Buffer {
    return payload;
  }
}

function lengthReader({ at, bytes, isLittle, adds }: Extract<Framing, { kind: 'length' }>): (unread: Unread) => number {
  return (unread) => {
    let length = 0;
    for (let place = 0; place < bytes; place++)
      length = length * 256 + unread.at(isLittle ? at + bytes - 1 - place : at + place);
    return length + adds;
  };
}

function ruleReader({ at, rules }: Extract<Framing, { kind: 'lengthBy' }>): (unread: Unread) => number {
  return (unread) => {
    const rule = rules[unread.at(at)];
    if (rule === undefined) return 0;
    if (typeof rule === 'number') return rule;
    const end = unread.indexOf(Buffer.from([rule.end]), at + 1);
    return (end < 0 ? unread.length : end) + 1; // no end yet: one byte more than has arrived
  };
}

/** A framer for MIDI messages. The first byte determines the length, and a message may omit this byte (running status). */
class RunningFramer implements Framer {
  droppedBytes = 0;
  readonly #rules: readonly (LengthRule | undefined)[];
  readonly #maxBytes: number;
  #frame: number[] = [];
  /** The first byte for frames that omit it (running status); undefined if there is none. */
  #status: number | undefined;

  constructor(rules: readonly (LengthRule | undefined)[], maxBytes: number) {
    this.#rules = rules;
    this.#maxBytes = maxBytes;
  }

  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    for (const byte of bytes) {
      if (byte >= 0xf8) {
        if (this.#rules[byte] === 1) frames.push(new Frame(Buffer.from([byte])));
        else this.droppedBytes++;
      } else if (this.#add(byte)) {
        frames.push(new Frame(Buffer.from(this.#frame)));
        this.#frame = [];
      }
    }
    return frames;
  }

  flush(): Frame[] {
    return [];
  }

  wrap(payload: Buffer): Buffer {
    return payload;
  }

  /** Adds a byte to the frame. Returns whether the frame is complete. */
  #add(byte: number): boolean {
    const [first = this.#status] = this.#frame;
    const rule = first === undefined ? undefined : this.#rules[first];
    const isEnd = this.#frame.length > 0 && typeof rule === 'object' && rule.end === byte;
    if (byte >= 0x80 && !isEnd) return this.#begin(byte);
    if (first === undefined || this.#frame.length >= this.#maxBytes) {
      this.#drop(1);
      return false;
    }
    if (this.#frame.length === 0) this.#frame.push(first);
    this.#frame.push(byte);
    return isEnd || this.#frame.length === rule;
  }

  #begin(byte: number): boolean {
    this.#drop(0);
    const rule = this.#rules[byte];
    this.#status = byte < 0xf0 && rule !== undefined ? byte : undefined;
    if (rule === undefined) this.droppedBytes++;
    else this.#frame = [byte];
    return rule === 1;
  }

  #drop(more: number): void {
    this.droppedBytes += this.#frame.length + more;
    this.#frame = [];
  }
}

/** A framer for frames that end with a pause. The caller measures the pause and calls `flush`. */
class IdleFramer implements Framer {
  droppedBytes = 0;
  readonly #maxBytes: number;
  readonly #unread = new Unread();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(bytes: Uint8Array): Frame[] {
    if (this.#unread.length + bytes.length <= this.#maxBytes) this.#unread.add(bytes);
    else {
      this.droppedBytes += this.#unread.length + bytes.length;
      this.#unread.skip(this.#unread.length);
    }
    return [];
  }

  flush(): Frame[] {
    return this.#unread.length === 0 ? [] : [new Frame(this.#unread.take(this.#unread.length))];
  }

  wrap(payload: Buffer): Buffer {
    return payload;
  }
}

class WholeFramer implements Framer {
  droppedBytes = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(bytes: Uint8Array): Frame[] {
    if (bytes.length > this.#maxBytes) this.droppedBytes += bytes.length;
    return bytes.length > this.#maxBytes || bytes.length === 0 ? [] : [new Frame(Buffer.from(bytes))];
  }

  flush(): Frame[] {
    return [];
  }

  wrap(payload: Buffer): Buffer {
    return payload;
  }
}

const telnet = { iac: 255, dont: 254, do: 253, wont: 252, will: 251, begin: 250, end: 240 };

/** Removes telnet commands from a stream and refuses every telnet option. */
export class TelnetFilter {
  #state: 'data' | 'command' | 'option' | 'inside' | 'insideCommand' = 'data';
  #command = 0;

  /** Returns the data in `bytes` without telnet commands, and the bytes to send as an answer. */
  push(bytes: Uint8Array): { readonly data: Uint8Array; readonly answer: Uint8Array } {
    if (this.#state === 'data' && !bytes.includes(telnet.iac)) return { data: bytes, answer: Buffer.alloc(0) };
    const data = Buffer.allocUnsafe(bytes.length);
    const answer: number[] = [];
    let length = 0;
    for (const byte of bytes) if (this.#isData(byte, answer)) data[length++] = byte;
    return { data: data.subarray(0, length), answer: Buffer.from(answer) };
  }

  /** Returns whether a byte is data. If the byte completes a telnet command, adds the reply to `answer`. */
  #isData(byte: number, answer: number[]): boolean {
    switch (this.#state) {
      case 'data':
        if (byte === telnet.iac) this.#state = 'command';
        return byte !== telnet.iac;
      case 'command':
        this.#command = byte;
        this.#state = byte === telnet.begin ? 'inside' : byte >= telnet.will && byte <= telnet.dont ? 'option' : 'data';
        return byte === telnet.iac;
      case 'option':
        if (this.#command === telnet.do) answer.push(telnet.iac, telnet.wont, byte);
        else if (this.#command === telnet.will) answer.push(telnet.iac, telnet.dont, byte);
        this.#state = 'data';
        return false;
      case 'inside':
        if (byte === telnet.iac) this.#state = 'insideCommand';
        return false;
      case 'insideCommand':
        this.#state = byte === telnet.end ? 'data' : 'inside';
        return false;
    }
  }
}
