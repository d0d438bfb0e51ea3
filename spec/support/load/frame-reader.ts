// Splits the bytes from a WebSocket server into frames (RFC 6455 section 5.2). A frame that arrives in one piece is passed on in place;
// only a fragmented one is copied.

const maxHeadBytes = 10;

/** Receives a frame: its payload, valid only during the call, and its opcode (0 continues the previous frame). */
export type FrameListener = (payload: Buffer, opcode: number) => void;

export class FrameReader {
  readonly #onFrame: FrameListener;
  /** The beginning of a frame that has not come whole, at most one frame long. */
  #part: Buffer | undefined;

  constructor(onFrame: FrameListener) {
    this.#onFrame = onFrame;
  }

  /** Whether the last byte that came ended a frame. */
  get isBetweenFrames(): boolean {
    return this.#part === undefined;
  }

  /** Reads the first `length` bytes of a chunk. Errors: `RangeError` for a frame that is masked or compressed. */
  read(chunk: Buffer, length: number): void {
    let at = this.#part === undefined ? 0 : this.#complete(this.#part, chunk, length);
    while (at < length) {
      const bytes = frameBytes(chunk, at, length);
      if (at + bytes > length) {
        this.#part = Buffer.from(chunk.subarray(at, length));
        return;
      }
      this.#emit(chunk, at, bytes);
      at += bytes;
    }
  }

  /** Adds to the frame that was begun; returns how much of the chunk belongs to it. */
  #complete(begun: Buffer, chunk: Buffer, length: number): number {
    let taken = Math.min(length, Math.max(0, maxHeadBytes - begun.length));
    let part = taken === 0 ? begun : Buffer.concat([begun, chunk.subarray(0, taken)]);
    const bytes = frameBytes(part, 0, part.length);
    if (part.length < bytes && taken < length) {
      const more = Math.min(length - taken, bytes - part.length);
      part = Buffer.concat([part, chunk.subarray(taken, taken + more)]);
      taken += more;
    }
    this.#part = part.length < bytes ? part : undefined;
    if (part.length < bytes) return taken;
    this.#emit(part, 0, bytes);
    return taken - (part.length - bytes);
  }

  #emit(buffer: Buffer, at: number, bytes: number): void {
    this.#onFrame(buffer.subarray(at + headBytes(buffer[at + 1]!), at + bytes), buffer[at]! & 0x0f);
  }
}

/** The length of the frame at `at`, including its header; infinite while the header is incomplete. */
function frameBytes(buffer: Buffer, at: number, end: number): number {
  if (end - at < 2) return Number.POSITIVE_INFINITY;
  const second = buffer[at + 1]!;
  if ((buffer[at]! & 0x70) !== 0 || second > 127) throw new RangeError('expected a frame that is plain and not masked');
  const head = headBytes(second);
  if (end - at < head) return Number.POSITIVE_INFINITY;
  if (second < 126) return head + second;
  return head + (second === 126 ? buffer.readUInt16BE(at + 2) : Number(buffer.readBigUInt64BE(at + 2)));
}

function headBytes(second: number): number {
  if (second < 126) return 2;
  return second === 126 ? 4 : maxHeadBytes;
}
