// How far sockets are that receive the same batches, two of which are under way at most.

export class ReceivedBatches {
  /** Batches that each socket has received. */
  readonly #bySocket: Float64Array;
  /** How many sockets still lack the even and the odd batch under way. */
  readonly #lacking: [number, number];
  #byFirst = 0;
  #byAll = 0;

  constructor(sockets: number) {
    this.#bySocket = new Float64Array(sockets);
    this.#lacking = [sockets, sockets];
  }

  /** Batches that any socket has received. */
  get byFirst(): number {
    return this.#byFirst;
  }

  /** Batches that all sockets have received. */
  get byAll(): number {
    return this.#byAll;
  }

  /** A socket has received so many by now; returns whether one is thereby received by all. */
  add(socket: number, batches: number): boolean {
    const before = this.#byAll;
    for (let batch = this.#bySocket[socket]!; batch < batches; batch++) {
      const parity = (batch % 2) as 0 | 1;
      if (--this.#lacking[parity] > 0) continue;
      this.#lacking[parity] = this.#bySocket.length;
      this.#byAll++;
    }
    this.#bySocket[socket] = batches;
    this.#byFirst = Math.max(this.#byFirst, batches);
    return this.#byAll > before;
  }
}
