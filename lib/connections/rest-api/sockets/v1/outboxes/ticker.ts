// Flushes at most so many times a second. What comes after a pause goes out with the round of the event loop in which it came;
// what comes sooner waits for its turn, together with all others of the same rate.

/** Something that waits to be flushed. */
export interface Flushable {
  flush(): void;
}

/** The time that a ticker goes by. */
export interface TickerClock {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Works with the present round of the event loop. */
  soon(work: () => void): void;
  after(delayMs: number, work: () => void): void;
}

const realClock: TickerClock = {
  now: () => performance.now(),
  soon: (work) => void setImmediate(work),
  after: (delayMs, work) => void setTimeout(work, delayMs).unref(), // without sockets nobody waits for it
};

export class Ticker {
  readonly #periodMs: number;
  readonly #clock: TickerClock;
  #due: Flushable[] = [];
  #lastMs = Number.NEGATIVE_INFINITY;

  /** `rate` is times per second; 0: in every round of the event loop. */
  constructor(rate: number, clock = realClock) {
    this.#periodMs = rate === 0 ? 0 : 1000 / rate;
    this.#clock = clock;
  }

  /** Flushes it soon; to be asked once per flush. */
  request(flushable: Flushable): void {
    if (this.#due.push(flushable) > 1) return;
    const waitMs = this.#lastMs + this.#periodMs - this.#clock.now();
    if (waitMs <= 0) this.#clock.soon(() => this.#tick());
    else this.#clock.after(Math.ceil(waitMs), () => this.#tick());
  }

  #tick(): void {
    const now = this.#clock.now();
    const late = now - this.#lastMs - this.#periodMs;
    this.#lastMs = late < this.#periodMs ? now - late : now; // the grid stays, as long as it is kept
    const due = this.#due;
    this.#due = [];
    for (const flushable of due) flushable.flush();
  }
}

/** The tickers of a server, one per rate; a rate is one of a bounded number. `soon` works with the present round of the event loop. */
export function createTickers(soon: TickerClock['soon']): (rate: number) => Ticker {
  const clock = { ...realClock, soon };
  const tickers = new Map<number, Ticker>();
  return (rate) => {
    let ticker = tickers.get(rate);
    if (ticker === undefined) {
      ticker = new Ticker(rate, clock);
      tickers.set(rate, ticker);
    }
    return ticker;
  };
}
