// The time of day. The machine's clock may be set, so the time of day may jump at any moment. A clock that never jumps runs in parallel and
// reveals such jumps.
import { type Scheduler, within } from './deadline.ts';

/** A clock jump: the expected time before the jump, and the time that the clock then shows, in milliseconds since 1970. */
export interface ClockJump {
  readonly before: number;
  readonly after: number;
}

/** The sources of time: `wall` returns milliseconds since 1970, and `steady` returns milliseconds on a clock that never jumps. */
interface TimeSources {
  readonly wall: () => number;
  readonly steady: () => number;
}

export interface WallClock {
  /**
   * Returns milliseconds since 1970. The result is the same for everything in one round of the event loop, because reading the clock costs
   * more than the rest of a write. When the clock goes back by less than a jump, the returned time stands still until the clock has caught
   * up.
   */
  readonly now: () => number;
  /**
   * Converts a moment in this run, as currently shown by the clock. Returns a function that returns the same moment as shown by the clock
   * later, so that the moment's age stays correct.
   */
  pin(timeMs: number): () => number;
  /** Calls back for each jump before any change receives a later time. Returns a function that ends the callbacks. */
  watch(listener: (jump: ClockJump) => void): () => void;
}

/** The minimum size of a jump, in milliseconds. Time synchronization causes smaller differences. */
export const jumpMs = 1000;
/** The interval between readings while nothing is happening and there is a listener, in milliseconds. */
const lookEveryMs = 1000;
/** The maximum time between two consecutive readings, in milliseconds, unless this thread was suspended in between. */
const readingMs = 20;

const systemTime: TimeSources = { wall: Date.now, steady: () => performance.now() };

export function createWallClock({ wall, steady }: TimeSources = systemTime): WallClock {
  const listeners = new Set<(jump: ClockJump) => void>();
  let looking: NodeJS.Timeout | undefined;
  let now = 0;
  /** The last reading of the machine's clock. */
  let lastWall = wall();
  /** The last reading of the clock that never jumps. */
  let lastSteady = steady();
  /** The last time that was returned. */
  let reported = lastWall;
  /** The sum of all adjustments to the machine's clock, in milliseconds. */
  let setMs = 0;
  const expire = () => {
    now = 0;
  };
  const read = () => {
    let steadyNow = steady();
    let wallNow = wall();
    for (let again = 0; again < 3 && steady() - steadyNow > readingMs; again++) {
      steadyNow = steady();
      wallNow = wall();
    }
    const expected = Math.round(lastWall + steadyNow - lastSteady);
    const isJump = Math.abs(wallNow - expected) >= jumpMs || reported - wallNow >= jumpMs;
    const before = Math.max(reported, expected);
    lastWall = wallNow;
    lastSteady = steadyNow;
    reported = isJump ? wallNow : Math.max(reported, wallNow);
    now = reported;
    setImmediate(expire);
    if (isJump) setMs += wallNow - before;
    if (isJump) for (const listener of [...listeners]) listener({ before, after: wallNow });
  };
  return {
    now() {
      if (now === 0) read();
      return now;
    },
    pin(timeMs) {
      const unset = timeMs - setMs;
      return () => unset + setMs;
    },
    watch(listener) {
      const own = (jump: ClockJump) => listener(jump);
      listeners.add(own);
      looking ??= setInterval(() => {
        if (now === 0) read();
      }, lookEveryMs).unref();
      return () => {
        listeners.delete(own);
        if (listeners.size > 0) return;
        clearInterval(looking);
        looking = undefined;
      };
    },
  };
}

/** The time of day according to this machine's clock. */
export const wallClock = createWallClock();

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** Describes a clock jump: `the clock was set back by 1 h, from 2026-11-22T14:00:00.000Z to 2026-11-22T13:00:00.000Z`. */
export function describeJump({ before, after }: ClockJump): string {
  const by = `${spanText(Math.abs(after - before))}, from ${isoTime(before)} to ${isoTime(after)}`;
  return after < before
    ? `the clock was set back by ${by}`
    : `the clock was set ahead by ${by}, or the machine was asleep`;
}

/** Formats a number of milliseconds in its two largest units: `91 d`, `1 h 30 min`. */
function spanText(ms: number): string {
  let seconds = Math.round(ms / 1000);
  const parts = units.map(([unit, length]) => {
    const count = Math.floor(seconds / length);
    seconds -= count * length;
    return { count, unit };
  });
  const first = parts.findIndex(({ count }) => count > 0);
  const shown = parts.slice(first, first + 2).filter(({ count }) => count > 0);
  return shown.map(({ count, unit }) => `${count} ${unit}`).join(' ');
}

/** Formats a time in ISO format, limited to the range of `Date`, because a clock may exceed that range. */
function isoTime(timeMs: number): string {
  return new Date(Math.max(-lastDateMs, Math.min(lastDateMs, timeMs))).toISOString();
}

const lastDateMs = 8.64e15;

// Deadlines that are counted in ticks of this thread. If the thread is so busy that ticks are late, the deadline is later as well, so that
// messages that arrived in between are read first.

const tickMs = 50;

/**
 * Resolves like the promise, or to undefined as soon as `isLate` returns true. `isLate` is called on each tick of the scheduler with the
 * elapsed time in milliseconds. Errors: any error from the promise.
 */
export async function withinTicks<T>(
  promise: Promise<T>,
  isLate: (ms: number) => boolean,
  scheduler?: Scheduler,
): Promise<T | undefined> {
  const settled = promise.then((value) => ({ value }));
  for (let ms = tickMs; ; ms += tickMs) {
    const inTime = await within(settled, tickMs, scheduler);
    if (inTime !== undefined) return inTime.value;
    if (isLate(ms)) return undefined;
  }
}

// A pause on a scheduler that can be ended before its time.

export class Pause {
  readonly #scheduler: Scheduler;
  #wake = () => {};
  #isWoken = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Resolves after a delay in milliseconds, or as soon as `wake` is called. */
  for(delayMs: number): Promise<void> {
    return this.until((resolve) => this.#scheduler.schedule(() => resolve(), Math.max(0, delayMs)));
  }

  /** Resolves when `begin` calls its argument, or as soon as `wake` is called. Then unsubscribes from the object that `begin` returned. */
  until(begin: (resolve: () => void) => { unsubscribe(): void }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = begin(resolve);
    this.#wake = resolve;
    return promise.finally(() => waiting.unsubscribe());
  }

  /** Ends the current pause, if there is one, and sets `isWoken`. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Whether `wake` was called since the last `forget`. A caller that was busy at that time skips its next pause. */
  get isWoken(): boolean {
    return this.#isWoken;
  }

  /** Resets `isWoken` to false. */
  forget(): void {
    this.#isWoken = false;
  }
}
