// The timers of IEC 61131-3: TON, TOF and TP, each with Q and the elapsed time. They are exact to the millisecond of the
// clock; the elapsed time is told at start, every 100 ms while it runs, and at its end, so that it is no flood.
// A new `pt` counts at once, from the same start; a negative one is 0, one beyond 2^31−1 is that.

import { createRisingEdge, type Logic } from './logic.ts';

/** The steps in which a running timer tells its elapsed time. */
export const elapsedGridMs = 100;
/** The longest `pt`: about 24 days. */
export const longestMs = 2 ** 31 - 1;

/** TON: `in`, `pt` → on once `in` has been true for pt, off with `in`. Elapsed returns to 0 with `in`. */
export const createTon = (): Logic =>
  createTimer((watch, isIn, ptMs, now) => {
    if (!isIn) return watch.clear(false);
    if (!watch.q && watch.hasRun(ptMs, now)) watch.end(true, ptMs);
  });

/** TOF: `in`, `pt` → on with `in`, off once it has been false for pt. A false `in` at first is off, and runs nothing. */
export const createTof = (): Logic =>
  createTimer((watch, isIn, ptMs, now) => {
    if (isIn) return watch.clear(true);
    if (watch.q && watch.hasRun(ptMs, now)) watch.end(false, ptMs);
  });

/**
 * TP: `in`, `pt` → on for exactly pt from a rising edge of `in`, which a second edge does not prolong. Elapsed returns to 0
 * when the pulse is over and `in` is false. With pt 0 there is no pulse.
 */
export const createTp = (): Logic => {
  const rises = createRisingEdge();
  return createTimer((watch, isIn, ptMs, now) => {
    const isEdge = rises(isIn);
    if (watch.q && watch.hasRun(ptMs, now)) watch.end(false, ptMs);
    if (watch.q) return;
    if (isEdge && ptMs > 0) {
      watch.clear(true);
      watch.hasRun(ptMs, now);
    } else if (!isIn) watch.clear(false);
  });
};

type TimerStep = (watch: Stopwatch, isIn: boolean, ptMs: number, now: number) => void;

function createTimer(step: TimerStep): Logic {
  const watch = new Stopwatch();
  return {
    get outputs() {
      return watch.outputs;
    },
    get wakeAt() {
      return watch.wakeAt;
    },
    step: (values, now) => {
      const ptMs = Math.trunc(Math.max(0, Math.min(longestMs, values[1] as number)));
      step(watch, values[0] as boolean, ptMs, now);
    },
  };
}

/** Q and the time that has run since it was first asked for. */
class Stopwatch {
  readonly outputs: [boolean, number] = [false, 0];
  wakeAt = Infinity;
  #startedAt: number | undefined = undefined;

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

  /** Starts unless it runs already, and tells whether pt is over; if not, it has itself woken at the next thing to tell. */
  hasRun(ptMs: number, now: number): boolean {
    this.#startedAt ??= now;
    const elapsedMs = Math.round((now - this.#startedAt) * 1000) / 1000; // whole microseconds: 0.3 − 0.1 is not 0.2
    if (elapsedMs >= ptMs) return true;
    const toldMs = Math.floor(elapsedMs / elapsedGridMs) * elapsedGridMs;
    this.outputs[1] = toldMs;
    this.wakeAt = this.#startedAt + Math.min(ptMs, toldMs + elapsedGridMs);
    return false;
  }
}
