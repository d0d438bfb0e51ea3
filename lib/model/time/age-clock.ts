// The clock with which the hub determines the age of persistent data. This clock cannot be set: it counts time that has actually passed.
// The machine's clock alone never causes a deletion.

import { isTime } from './iso-time.ts';
import { jumpMs } from './wall-clock.ts';

/** A reading of two clocks: the machine's clock, in milliseconds since 1970, and a clock that never jumps, in milliseconds. */
export interface ClockReading {
  readonly wall: number;
  readonly steady: number;
}

/** A pause during which the hub was not running. */
export interface AgePause {
  /** The reading of the age clock when the pause began, in milliseconds. */
  readonly at: number;
  /** The length of the pause according to the machine's clock, in milliseconds. */
  readonly claimedMs: number;
  /** The part of `claimedMs` that has been counted so far, in milliseconds. */
  readonly countedMs: number;
}

/** The stored state of an age clock, in milliseconds. The clock continues from this state after a restart. */
export interface KeptAge {
  /** The reading of the age clock, which begins as the time of day and counts the time during which the hub is running. */
  readonly ran: number;
  /** The reading of the machine's clock at the same moment. */
  readonly wall: number;
  /** The pauses that are counted gradually, oldest first. */
  readonly pauses: readonly AgePause[];
}

/** The maximum number of pauses that are stored separately. When there are more, the two oldest pauses are merged. */
const mostPauses = 256;

/** Reads both clocks in this thread. In another thread, the clock that never jumps counts from a different start. */
export function readClocks(): ClockReading {
  return { wall: Date.now(), steady: performance.now() };
}

/** Returns the state of a new age clock, which begins at a time of day. */
export function beginAge(timeMs: number): KeptAge {
  return { ran: timeMs, wall: timeMs, pauses: [] };
}

/** Parses pauses that are stored in a database. Invalid pauses are omitted, because a user may have edited the database. */
export function readPauses(text: string): AgePause[] {
  try {
    const pauses: unknown = JSON.parse(text);
    return Array.isArray(pauses) ? pauses.filter(isPause) : [];
  } catch {
    return [];
  }
}

function isPause(pause: unknown): pause is AgePause {
  const { at, claimedMs, countedMs } = (pause ?? {}) as Partial<AgePause>;
  return isTime(at) && isTime(claimedMs) && isTime(countedMs) && 0 <= countedMs! && countedMs! <= claimedMs!;
}

/** Determines the age of items at one moment. An item is identified by the reading of the age clock at the time it was recorded. */
export class Ages {
  /** The reading of the age clock at that moment. */
  readonly ran: number;
  readonly #pauses: readonly AgePause[];

  constructor({ ran, pauses }: Pick<KeptAge, 'ran' | 'pauses'>) {
    this.ran = ran;
    this.#pauses = pauses;
  }

  /** Returns the certain age of an item, in milliseconds: without uncounted pauses. */
  of(notedAt: number): number {
    return this.#ageOf(notedAt, ({ countedMs }) => countedMs);
  }

  /** Returns the age that an item has if the machine's clock was always correct, in milliseconds. */
  claimedOf(notedAt: number): number {
    return this.#ageOf(notedAt, ({ claimedMs }) => claimedMs);
  }

  /** Returns the latest clock reading at which an item that has at least this age can have been recorded. */
  newestOf(ageMs: number): number {
    let pausedMs = 0;
    let upper = this.ran;
    for (const { at, countedMs } of this.#pauses.toReversed()) {
      const newest = Math.min(upper, this.ran + pausedMs - ageMs);
      if (newest > at) return newest;
      pausedMs += countedMs;
      upper = at;
    }
    return Math.min(upper, this.ran + pausedMs - ageMs);
  }

  #ageOf(notedAt: number, lengthOf: (pause: AgePause) => number): number {
    const pausedMs = this.#pauses.reduce((sum, pause) => (pause.at < notedAt ? sum : sum + lengthOf(pause)), 0);
    return this.ran - notedAt + pausedMs;
  }
}

/**
 * Counts the time during which the hub is running, with a clock that never jumps. Only the machine's clock shows how long the hub was down,
 * and that clock may be wrong. Therefore, the claimed length of a pause is counted gradually, as fast as time passes afterwards: a wrong
 * claim never ages data by more than the time that has passed since. If the machine's clock is set back in the meantime, the rest
 * of the claim is void.
 */
export class AgeClock {
  #ran: number;
  #pauses: AgePause[];
  #last: ClockReading;

  /** Continues a clock from its stored state. `now` is the first reading of the clocks in this run. */
  constructor({ ran, wall, pauses }: KeptAge, now: ClockReading) {
    this.#ran = ran;
    this.#pauses = [...pauses];
    this.#last = now;
    const pauseMs = Math.trunc(now.wall - wall);
    if (pauseMs > 0) this.#pause(pauseMs);
    else this.#void(-pauseMs);
  }

  get ages(): Ages {
    return new Ages(this.kept);
  }

  /** The state of the clock, to be stored for a later run. */
  get kept(): KeptAge {
    return { ran: Math.trunc(this.#ran), wall: Math.trunc(this.#last.wall), pauses: [...this.#pauses] };
  }

  /** Applies a new reading of the clocks. */
  read(now: ClockReading): void {
    const passedMs = Math.max(0, now.steady - this.#last.steady);
    const jump = now.wall - this.#last.wall - passedMs;
    this.#last = now;
    this.#ran += passedMs;
    if (jump <= -jumpMs) this.#void(-jump);
    this.#count(passedMs);
  }

  #pause(claimedMs: number): void {
    this.#pauses.push({ at: Math.trunc(this.#ran), claimedMs, countedMs: 0 });
    this.#ran += 1; // items recorded from now on are later than the pause
    if (this.#pauses.length <= mostPauses) return;
    const [one, other] = this.#pauses.splice(0, 2) as [AgePause, AgePause];
    const sum = (key: 'claimedMs' | 'countedMs') => one[key] + other[key];
    this.#pauses.unshift({ at: one.at, claimedMs: sum('claimedMs'), countedMs: sum('countedMs') });
  }

  /** Counts passed time towards claims, the oldest claim first. */
  #count(passedMs: number): void {
    let left = passedMs;
    for (const [index, pause] of this.#pauses.entries()) {
      if (left <= 0) return;
      const countedMs = Math.min(left, pause.claimedMs - pause.countedMs);
      if (countedMs === 0) continue;
      left -= countedMs;
      this.#pauses[index] = { ...pause, countedMs: pause.countedMs + countedMs };
    }
  }

  /** Voids claims after the machine's clock was set back by `ms`. The most recent claimed time that has not been counted yet was wrong. */
  #void(ms: number): void {
    let left = ms;
    for (let index = this.#pauses.length - 1; index >= 0 && left > 0; index--) {
      const { claimedMs, countedMs, at } = this.#pauses[index]!;
      const voidMs = Math.min(left, claimedMs - countedMs);
      left -= voidMs;
      this.#pauses[index] = { at, claimedMs: claimedMs - voidMs, countedMs };
    }
    this.#pauses = this.#pauses.filter(({ claimedMs }) => claimedMs > 0);
  }
}
