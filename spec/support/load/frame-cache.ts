// Parses a frame that many sockets receive only once. The first socket to receive it parses it; the others compare their bytes with it,
// which costs next to nothing. A frame that differs is parsed on its own.

const maxFrames = 512;

interface Entry<Parsed> {
  readonly payload: Buffer;
  readonly parsed: Parsed;
}

export class FrameCache<Parsed> {
  readonly #parse: (text: string) => Parsed;
  /** The last frames, a ring. */
  readonly #entries: Entry<Parsed>[] = [];
  #end = 0;

  constructor(parse: (text: string) => Parsed) {
    this.#parse = parse;
  }

  /** Where the frame is; `expected` is the place after that of the frame which the same socket received before. */
  find(payload: Buffer, expected: number): number {
    if (this.#holds(expected, payload)) return expected;
    for (let place = this.#end - 1; place >= Math.max(0, this.#end - maxFrames); place--)
      if (this.#holds(place, payload)) return place;
    this.#entries[this.#end % maxFrames] = { payload: Buffer.from(payload), parsed: this.#parse(payload.toString()) };
    return this.#end++;
  }

  /** What the frame at a place that was found just now says. */
  parsedAt(place: number): Parsed {
    return this.#entries[place % maxFrames]!.parsed;
  }

  #holds(place: number, payload: Buffer): boolean {
    if (place >= this.#end || place < this.#end - maxFrames) return false;
    return this.#entries[place % maxFrames]!.payload.equals(payload);
  }
}
