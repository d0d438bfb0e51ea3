// How many rows a second are written, over the last ten seconds.

const spanSeconds = 10;

export class RowRate {
  /** By second, modulo the span. */
  readonly #rows = new Array<number>(spanSeconds).fill(0);
  #second = 0;

  /** Counts rows; `nowMs` never decreases. */
  add(nowMs: number, rows: number): void {
    this.#rows[this.#moveTo(nowMs) % spanSeconds]! += rows;
  }

  perSecond(nowMs: number): number {
    this.#moveTo(nowMs);
    return this.#rows.reduce((sum, rows) => sum + rows, 0) / spanSeconds;
  }

  /** Forgets the seconds that have passed since, up to the whole span. */
  #moveTo(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    for (let passed = Math.max(this.#second, second - spanSeconds) + 1; passed <= second; passed++)
      this.#rows[passed % spanSeconds] = 0;
    this.#second = second;
    return second;
  }
}
