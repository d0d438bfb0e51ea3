// By which clock a store judges how old something is. Nobody can set it: it counts time that has really passed. The clock of the
// machine alone deletes nothing.

import { jumpMs } from '../../model/time/wall-clock.ts';

/** What the clocks show at one moment, in milliseconds: since 1970, and by a clock that never jumps. */
export interface ClockReading {
  readonly wall: number;
  readonly steady: number;
}

/** What is kept of it, so that it goes on after a restart; milliseconds. */
export interface KeptAge {
  /** What it shows. It begins as the time of day, and the difference of two readings is an age. */
  readonly measured: number;
  /** How far it is behind the clock of the machine for pauses in which the hub did not run. */
  readonly behind: number;
  /** What the clock of the machine showed then. */
  readonly wall: number;
}

/** Reads the clocks of this thread; those of another one count from another beginning. */
export function readClocks(): ClockReading {
  return { wall: Date.now(), steady: performance.now() };
}

/**
 * While the hub runs it counts what a clock has measured that never jumps. For how long the hub was down only the clock of the machine
 * tells, and that may be wrong: such a pause counts by and by, as fast as time passes from then on. So what the clock claims ages
 * nothing by more than it has lasted; when it is set back meanwhile, the rest of the claim is void.
 */
export class AgeClock {
  #measured: number;
  #behind: number;
  #last: ClockReading;

  /** Goes on from what was kept. */
  constructor({ measured, behind, wall }: KeptAge, now: ClockReading) {
    this.#measured = measured;
    this.#behind = Math.max(0, behind + now.wall - wall);
    this.#last = now;
  }

  /** What it shows, in whole milliseconds. */
  get measured(): number {
    return Math.trunc(this.#measured);
  }

  /** What is to be kept of it. */
  get kept(): KeptAge {
    return { measured: this.measured, behind: Math.trunc(this.#behind), wall: Math.trunc(this.#last.wall) };
  }

  /** Hears what the clocks show now; returns what it shows. */
  read(now: ClockReading): number {
    const passedMs = Math.max(0, now.steady - this.#last.steady);
    const jump = now.wall - this.#last.wall - passedMs;
    this.#last = now;
    if (jump <= -jumpMs) this.#behind = Math.max(0, this.#behind + jump);
    const caughtUpMs = Math.min(this.#behind, passedMs);
    this.#behind -= caughtUpMs;
    this.#measured += passedMs + caughtUpMs;
    return this.measured;
  }
}
