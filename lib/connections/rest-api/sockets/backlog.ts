// The backlog of a WebSocket client: its messages that wait for the hub, in their order. They are kept in a few large pieces of memory.

/** Many clients at once have one short message each that waits, as when all come back; who has more gets larger pieces. */
const firstPieceBytes = 1024;
/** The system takes back pieces of this size as soon as they are free. */
const pieceBytes = 256 * 1024;
/** The head of a frame of a client has at least so many bytes. */
export const headBytes = 6;
/** The marks of messages that were taken are forgotten in runs of this length. */
const forgottenRun = 4096;
const binaryFlag = 1;

export class Backlog {
  #pieces: Uint8Array[] = [];
  /** Where the last piece is free, and where the first piece is still needed. */
  #used = 0;
  #from = 0;
  /** For each message twice its length, plus 1 if it is binary. */
  #marks: number[] = [];
  #next = 0;
  /** How many bytes wait, as they came over the wire. */
  bytes = 0;

  /** How many messages wait. */
  get length(): number {
    return this.#marks.length - this.#next;
  }

  /** Keeps a copy of a message. */
  put(message: ArrayBuffer, isBinary: boolean): void {
    const length = message.byteLength;
    let last = this.#pieces.at(-1);
    if (last === undefined || this.#used + length > last.length) {
      last = new Uint8Array(Math.max(last === undefined ? firstPieceBytes : pieceBytes, length));
      this.#pieces.push(last);
      this.#used = 0;
    }
    last.set(new Uint8Array(message), this.#used);
    this.#used += length;
    this.#marks.push(length * 2 + (isBinary ? binaryFlag : 0));
    this.bytes += headBytes + length;
  }

  /** Takes out the oldest message; undefined: none waits. */
  take(): { readonly message: ArrayBuffer; readonly isBinary: boolean } | undefined {
    const mark = this.#marks[this.#next];
    if (mark === undefined) return undefined;
    if (++this.#next === forgottenRun) {
      this.#marks.splice(0, forgottenRun);
      this.#next = 0;
    }
    const length = mark >> 1;
    if (this.#from + length > this.#pieces[0]!.length) {
      this.#pieces.shift();
      this.#from = 0;
    }
    const message = this.#pieces[0]!.buffer.slice(this.#from, this.#from + length) as ArrayBuffer;
    this.#from += length;
    this.bytes -= headBytes + length;
    return { message, isBinary: (mark & binaryFlag) !== 0 };
  }
}
