// Tracks the progress of sockets that receive the same batches, with at most two batches in flight.

export class ReceivedBatches {
  /** Number of batches that each socket has received. */
  readonly #bySocket: Float64Array;
  /** How many sockets have yet to receive the even and the odd batch in flight. */
  readonly #lacking: [number, number];
  #byFirst = 0;
  #byAll = 0;

  constructor(sockets: number) {
    this.#bySocket = new Float64Array(sockets);
    this.#lacking = [sockets, sockets];
  }

  /** Number of batches received by the fastest socket. */
  get byFirst(): number {
    return this.#byFirst;
  }

  /** Number of batches received by all sockets. */
  get byAll(): number {
    return this.#byAll;
  }

  /** Records that a socket has received `batches` batches; returns whether this completes a batch on all sockets. */
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
