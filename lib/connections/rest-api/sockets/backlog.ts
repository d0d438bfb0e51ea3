// Messages of a WebSocket client that wait for the hub, in their order, in few large pieces of memory.

/** Pieces of this size the system takes back as soon as they are free. */
const pieceBytes = 256 * 1024;
/** The head of a frame of a client, at least. */
export const headBytes = 6;
/** Marks of messages that were taken are forgotten in runs of this length. */
const forgottenRun = 4096;
const binaryFlag = 1;

export class Backlog {
  #pieces: Uint8Array[] = [];
  /** How much of the last piece is used, and from where the first is still needed. */
  #used = 0;
  #from = 0;
  /** Of each message its length, doubled, and whether it is binary. */
  #marks: number[] = [];
  #next = 0;
  /** What waits, as it came over the wire. */
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
      last = new Uint8Array(Math.max(pieceBytes, length));
      this.#pieces.push(last);
      this.#used = 0;
    }
    last.set(new Uint8Array(message), this.#used);
    this.#used += length;
    this.#marks.push(length * 2 + (isBinary ? binaryFlag : 0));
    this.bytes += headBytes + length;
  }

  /** Takes the oldest message; undefined: none waits. */
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
