// Presses on their way to the keyboard: one at a time, first in, first out, never more than a fixed number, and none
// kept for a keyboard that is not there.

import { type Observable, Subject } from 'rxjs';
import type { Combination } from './combination.ts';

/** Presses that wait, at most; at about 20 ms each that is 20 seconds of typing. */
export const maxPendingPresses = 1000;

/** Presses that will not be made, and why. */
export interface LostPresses {
  readonly count: number;
  readonly reason: string;
}

export class PressQueue {
  readonly #lost$ = new Subject<LostPresses>();
  #pending: Combination[] = [];
  #underWay: Combination | undefined;
  #interrupted: Combination | undefined;
  #press: ((combination: Combination) => void) | undefined;

  /** Hot, replays nothing, synchronous, never completes, never errors. */
  readonly lost$: Observable<LostPresses> = this.#lost$.asObservable();

  /** The press that was under way when the keyboard went away; its keys may still be down. */
  get interrupted(): Combination | undefined {
    return this.#interrupted;
  }

  /** The keyboard is there, all keys up; `press` is called for the next combination once the one before is `done`. */
  open(press: (combination: Combination) => void): void {
    this.#interrupted = undefined;
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

  /** The press under way has been made. */
  done(): void {
    this.#underWay = undefined;
    this.#pressNext();
  }

  /** The keyboard is gone: drops what is pending and what is under way. */
  close(): void {
    const count = this.#pending.length + (this.#underWay === undefined ? 0 : 1);
    this.#interrupted ??= this.#underWay;
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
