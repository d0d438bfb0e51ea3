// Presses on their way to the keyboard. They are made one at a time, first in, first out. Their number is bounded, and none are
// kept for a keyboard that is not there.

import { type Observable, Subject } from 'rxjs';
import type { Combination } from './combination.ts';

/** How many presses may wait; at about 20 ms each that is 20 seconds of typing. */
export const maxPendingPresses = 1000;

const nothing: readonly number[] = [];

/** Presses that will not be made, and why. */
export interface LostPresses {
  readonly count: number;
  readonly reason: string;
}

export class PressQueue {
  readonly #lost$ = new Subject<LostPresses>();
  #pending: Combination[] = [];
  #underWay: Combination | undefined;
  #held = nothing;
  #press: ((combination: Combination) => void) | undefined;

  /** Hot, replays nothing, synchronous, never completes, never errors. */
  readonly lost$: Observable<LostPresses> = this.#lost$.asObservable();

  /** The codes of the keys that may be down, by the press under way or by one that was cut off. */
  get held(): readonly number[] {
    return this.#held;
  }

  /** The keyboard is there and all keys are up; `press` is called for each combination, once the one before is `done`. */
  open(press: (combination: Combination) => void): void {
    this.#held = nothing;
    this.#press = press;
  }

  push(combination: Combination): void {
    if (this.#press === undefined) this.#lost$.next({ count: 1, reason: 'the keyboard is not there' });
    else if (this.#pending.length >= maxPendingPresses)
      this.#lost$.next({ count: 1, reason: `${maxPendingPresses} presses are waiting` });
    else {
      this.#pending.push(combination);
      this.#pressNext();
    }
  }

  /** The press under way is about to press these keys. */
  hold(codes: readonly number[]): void {
    this.#held = codes;
  }

  /** The press under way has been made, and its keys are up. */
  done(): void {
    this.#held = nothing;
    this.#underWay = undefined;
    this.#pressNext();
  }

  /** The keyboard is gone: drops every press, and remembers which keys may be down. */
  close(): void {
    const count = this.#pending.length + (this.#underWay === undefined ? 0 : 1);
    this.#pending = [];
    this.#underWay = undefined;
    this.#press = undefined;
    if (count > 0) this.#lost$.next({ count, reason: 'the keyboard went away' });
  }

  #pressNext(): void {
    if (this.#underWay !== undefined || this.#press === undefined) return;
    this.#underWay = this.#pending.shift();
    if (this.#underWay !== undefined) this.#press(this.#underWay);
  }
}
