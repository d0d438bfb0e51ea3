// The time of day, which people set: it may jump at any moment. A clock that never jumps runs beside it and shows when it has.
import { type Scheduler, within } from './deadline.ts';

/** The clock has shown something else at once: what it would show now, and what it shows, in milliseconds since 1970. */
export interface ClockJump {
  readonly before: number;
  readonly after: number;
}

/** Where the time comes from, in milliseconds: since 1970, and by a clock that never jumps. */
interface TimeSources {
  readonly wall: () => number;
  readonly steady: () => number;
}

export interface WallClock {
  /**
   * Milliseconds since 1970, the same for everything that happens in one round of the event loop: to read the clock costs more than the
   * rest of a write. When the clock goes back by less than a jump, it stands still until it has caught up.
   */
  readonly now: () => number;
  /** A moment of this run, given as the clock shows it now; returns what gives it as the clock shows it later, so that its age is right. */
  pin(timeMs: number): () => number;
  /** Calls back with each jump, before anything has a time after it; returns what ends that. */
  watch(listener: (jump: ClockJump) => void): () => void;
}

/** A difference of so much is a jump. A smaller one is the work of whoever keeps the clock right. */
export const jumpMs = 1000;
/** How often the clock is looked at while nothing happens and somebody watches it. */
const lookEveryMs = 1000;
/** Between two readings of one clock no more time passes, unless this thread was stopped in between. */
const readingMs = 20;

const systemTime: TimeSources = { wall: Date.now, steady: () => performance.now() };

export function createWallClock({ wall, steady }: TimeSources = systemTime): WallClock {
  const listeners = new Set<(jump: ClockJump) => void>();
  let looking: NodeJS.Timeout | undefined;
  let now = 0;
  /** What the clocks have shown last, and what was told last. */
  let lastWall = wall();
  let lastSteady = steady();
  let reported = lastWall;
  /** By how much the clock was set in all. */
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

/** The clock of this machine. */
export const wallClock = createWallClock();

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** `the clock was set back by 1 h, from 2026-11-22T14:00:00.000Z to 2026-11-22T13:00:00.000Z` */
export function describeJump({ before, after }: ClockJump): string {
  const by = `${spanText(Math.abs(after - before))}, from ${isoTime(before)} to ${isoTime(after)}`;
  return after < before ? `the clock was set back by ${by}` : `the clock was set ahead by ${by}, or the machine slept`;
}

/** `91 d`, `1 h 30 min`: the two largest units that it has. */
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

/** A clock may show what no date can be: then the last one that can. */
function isoTime(timeMs: number): string {
  return new Date(Math.max(-lastDateMs, Math.min(lastDateMs, timeMs))).toISOString();
}

const lastDateMs = 8.64e15;

// A deadline that is counted in ticks of this thread. When the thread is so busy that ticks come late, the deadline comes later too; and
// what has come meanwhile is read before the next tick.

const tickMs = 50;

/**
 * What a promise comes to, or undefined once `isLate` says so, which is asked at each tick with the time that has passed, in ms. Ticks are
 * those of a scheduler. Errors: its own.
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

// A wait by a scheduler that can be ended early.

export class Pause {
  readonly #scheduler: Scheduler;
  #wake = () => {};
  #isWoken = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Resolves after a while, or when it is woken. */
  for(delayMs: number): Promise<void> {
    return this.until((resolve) => this.#scheduler.schedule(() => resolve(), Math.max(0, delayMs)));
  }

  /** Resolves when `begin` has it resolve, or when it is woken. What `begin` returns is unsubscribed then. */
  until(begin: (resolve: () => void) => { unsubscribe(): void }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = begin(resolve);
    this.#wake = resolve;
    return promise.finally(() => waiting.unsubscribe());
  }

  /** Ends the present pause. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Whether it was woken since the last `forget`: who was at work then leaves out the next pause. */
  get isWoken(): boolean {
    return this.#isWoken;
  }

  /** Forgets that it was woken. */
  forget(): void {
    this.#isWoken = false;
  }
}
