// The timers of IEC 61131-3: TON, TOF and TP, each with Q and the elapsed time. They are exact to the millisecond of the
// clock. The elapsed time is told at the start, every 100 ms while it runs, and at the end, so that it floods nobody. A new
// `pt` counts at once, from the same start; it is held within 0..2^31−1.

import { longestDurationMs } from '../../../model/time/duration.ts';
import { type Logic, type Remembered, RisingEdge } from './logic.ts';

/** The steps in which a running timer tells its elapsed time. */
const elapsedGridMs = 100;

/** TON: `in`, `pt` → on once `in` has been true for pt, off when `in` is. Then elapsed returns to 0. */
export const createTon = (): Logic =>
  createTimer((watch, isIn, ptMs, now) => {
    if (!isIn) return watch.clear(false);
    if (!watch.q && watch.hasRun(ptMs, now)) watch.end(true, ptMs);
  });

/**
 * TOF: `in`, `pt` → on when `in` is, off once `in` has been false for pt. If `in` is false at first, it is off and no time
 * runs.
 */
export const createTof = (): Logic =>
  createTimer((watch, isIn, ptMs, now) => {
    if (isIn) return watch.clear(true);
    if (watch.q && watch.hasRun(ptMs, now)) watch.end(false, ptMs);
  });

/**
 * TP: `in`, `pt` → on for exactly pt after a rising edge of `in`; a second edge does not prolong it. Elapsed returns to 0 when the
 * pulse is over and `in` is false. With pt 0 there is no pulse.
 */
export const createTp = (): Logic => {
  const edge = new RisingEdge();
  return createTimer((watch, isIn, ptMs, now) => {
    const isEdge = edge.rises(isIn);
    if (watch.q && watch.hasRun(ptMs, now)) watch.end(false, ptMs);
    if (watch.q) return;
    if (isEdge && ptMs > 0) {
      watch.clear(true);
      watch.hasRun(ptMs, now);
    } else if (!isIn) watch.clear(false);
  }, edge);
};

type TimerStep = (watch: Stopwatch, isIn: boolean, ptMs: number, now: number) => void;

function createTimer(step: TimerStep, edge = new RisingEdge()): Logic {
  const watch = new Stopwatch();
  return {
    get outputs() {
      return watch.outputs;
    },
    get wakeAt() {
      return watch.wakeAt;
    },
    step: (values, now) => {
      const ptMs = Math.trunc(Math.max(0, Math.min(longestDurationMs, values[1] as number)));
      step(watch, values[0] as boolean, ptMs, now);
    },
    remember: () => ({ ...watch.remember(), edges: [edge.wasFalse] }),
    recall: (remembered, now) => {
      edge.wasFalse = remembered.edges[0]!;
      watch.recall(remembered, now);
    },
  };
}

/** Q, and the time that has run since somebody first asked for it. */
class Stopwatch {
  readonly outputs: [boolean, number] = [false, 0];
  wakeAt = Infinity;
  #startedAt: number | undefined = undefined;
  #ptMs = 0;

  get q(): boolean {
    return this.outputs[0];
  }

  /** Stops at 0. */
  clear(q: boolean): void {
    this.end(q, 0);
  }

  /** Stops at this elapsed time. */
  end(q: boolean, elapsedMs: number): void {
    this.outputs[0] = q;
    this.outputs[1] = elapsedMs;
    this.wakeAt = Infinity;
    this.#startedAt = undefined;
  }

  /**
   * Starts if it does not run yet, and tells whether pt is over. If it is not, it asks to be woken when there is more to
   * tell.
   */
  hasRun(ptMs: number, now: number): boolean {
    this.#startedAt ??= now;
    this.#ptMs = ptMs;
    const elapsedMs = Math.round((now - this.#startedAt) * 1000) / 1000; // whole microseconds: 0.3 − 0.1 is not 0.2
    if (elapsedMs >= ptMs) return true;
    const toldMs = Math.floor(elapsedMs / elapsedGridMs) * elapsedGridMs;
    this.outputs[1] = toldMs;
    this.wakeAt = this.#startedAt + Math.min(ptMs, toldMs + elapsedGridMs);
    return false;
  }

  remember(): Omit<Remembered, 'edges'> {
    const ptMs = this.#startedAt === undefined ? undefined : this.#ptMs;
    return { outputs: [...this.outputs], startedAt: this.#startedAt, ptMs };
  }

  /** A time that is over by now has a millisecond left: what its end leads to listens by then. */
  recall({ outputs: [q, elapsedMs], startedAt, ptMs = 0 }: Remembered, now: number): void {
    this.outputs[0] = q as boolean;
    this.outputs[1] = elapsedMs as number;
    if (startedAt !== undefined) this.#startedAt = Math.min(now, Math.max(startedAt, now - ptMs + 1));
  }
}
