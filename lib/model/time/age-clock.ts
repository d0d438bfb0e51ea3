// By which clock the hub judges how old something is that outlives it. Nobody can set it: it counts time that has really passed. The
// clock of the machine alone deletes nothing.

import { isTime } from './iso-time.ts';
import { jumpMs } from './wall-clock.ts';

/** What the clocks show at one moment, in milliseconds: since 1970, and by a clock that never jumps. */
export interface ClockReading {
  readonly wall: number;
  readonly steady: number;
}

/** A pause in which the hub did not run. */
export interface AgePause {
  /** What the clock showed then. */
  readonly at: number;
  /** How long it was as the clock of the machine has it, and how much of that counts by now. */
  readonly claimedMs: number;
  readonly countedMs: number;
}

/** What is kept of a clock, so that it goes on after a restart; milliseconds. */
export interface KeptAge {
  /** What it shows. It begins as the time of day, and counts the time in which the hub runs. */
  readonly ran: number;
  /** What the clock of the machine showed then. */
  readonly wall: number;
  /** The oldest first. */
  readonly pauses: readonly AgePause[];
}

/** So many pauses are known one by one; of older ones the older age is given up. */
const mostPauses = 256;

/** Reads the clocks of this thread; those of another one count from another beginning. */
export function readClocks(): ClockReading {
  return { wall: Date.now(), steady: performance.now() };
}

/** A clock that begins at a time of day. */
export function beginAge(timeMs: number): KeptAge {
  return { ran: timeMs, wall: timeMs, pauses: [] };
}

/** Reads pauses as they are kept in a database. Somebody may have edited them: what is none is left out. */
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

/** How old things are at one moment; each is told by what the clock showed when it was noted. */
export class Ages {
  /** What the clock shows at that moment. */
  readonly ran: number;
  readonly #pauses: readonly AgePause[];

  constructor({ ran, pauses }: Pick<KeptAge, 'ran' | 'pauses'>) {
    this.ran = ran;
    this.#pauses = pauses;
  }

  /** How old something is for sure. */
  of(notedAt: number): number {
    return this.#ageOf(notedAt, ({ countedMs }) => countedMs);
  }

  /** How old it is if the clock of the machine was right all the time. */
  claimedOf(notedAt: number): number {
    return this.#ageOf(notedAt, ({ claimedMs }) => claimedMs);
  }

  /** What the clock showed when the newest of those was noted that are so old. */
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
 * While the hub runs it counts what a clock has measured that never jumps. For how long the hub was down only the clock of the machine
 * tells, and that may be wrong: such a pause counts by and by, as fast as time passes from then on. So what the clock claims ages
 * nothing by more than it has lasted; when it is set back meanwhile, the rest of the claim is void.
 */
export class AgeClock {
  #ran: number;
  #pauses: AgePause[];
  #last: ClockReading;

  /** Goes on from what was kept. */
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

  /** What is to be kept of it. */
  get kept(): KeptAge {
    return { ran: Math.trunc(this.#ran), wall: Math.trunc(this.#last.wall), pauses: [...this.#pauses] };
  }

  /** Hears what the clocks show now. */
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
    this.#ran += 1; // what is noted from now on comes after it
    if (this.#pauses.length <= mostPauses) return;
    const [one, other] = this.#pauses.splice(0, 2) as [AgePause, AgePause];
    const sum = (key: 'claimedMs' | 'countedMs') => one[key] + other[key];
    this.#pauses.unshift({ at: one.at, claimedMs: sum('claimedMs'), countedMs: sum('countedMs') });
  }

  /** The oldest claims count first. */
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

  /** The clock of the machine was set back: what it has claimed last, and does not count yet, was wrong. */
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
