// Finds out whether this hub may take a lease: nobody holds it, its holder has not renewed it in time, or its holder has released it.

import type { Life } from './life.ts';
import type { Holder, Rivals, Whole } from './parties.ts';
import type { LeaseRecord } from './record.ts';
import type { Sighting } from './sighting.ts';
import { leaseTimes } from './times.ts';

type Before = LeaseRecord['before'];

export interface Finding {
  readonly mayTake: boolean;
  /** Whether the hub answers that may still go on by this lease: its holder, or the one that it was given back to. */
  readonly isThere: boolean;
  /**
   * What the next holder writes into its record as `before`. Undefined also when that hub answers, as it has been waited for and is not
   * waited for again, and when it is this hub.
   */
  readonly before: Before;
}

export class Succession {
  readonly #me: Holder;
  readonly #sighting: Sighting;
  readonly #rivals: Rivals;
  readonly #whole: Whole;

  constructor(me: Holder, sighting: Sighting, rivals: Rivals, whole: Whole) {
    this.#me = me;
    this.#sighting = sighting;
    this.#rivals = rivals;
    this.#whole = whole;
  }

  /** Finds out about what a cell holds, and was seen to hold. `isHeld`: this hub has it. Errors: as of `Rivals.lifeOf`. */
  async find(value: LeaseRecord | undefined, nowMs: number, isHeld: boolean): Promise<Finding> {
    let life: Life | undefined;
    const lifeOf = async (holder: string) => (life = await this.#rivals.lifeOf(holder));
    const mayTake =
      value === undefined
        ? this.#mayTakeLost(nowMs, isHeld)
        : value.isReleased
          ? await this.#mayTakeReleased(value.before, lifeOf, nowMs)
          : await this.#mayTakeHeld(value.holder, lifeOf, nowMs);
    const isFirst = mayTake && this.#rivals.goesFirst?.() !== true;
    const isThere = life === 'there';
    const before = isThere ? undefined : beforeOf(value);
    return { mayTake: isFirst, isThere, before: before?.holder === this.#me.id ? undefined : before };
  }

  /** Whether who had it before is there again, so that it may go on by it. Errors: as of `Rivals.lifeOf`. */
  async isAwaited(before: Before): Promise<boolean> {
    return before !== undefined && (await this.#rivals.lifeOf(before.holder)) === 'there';
  }

  /** Whether nobody can have a lease that there is not: servers that have lost it do not end who holds it, who may take it again. */
  #mayTakeLost(nowMs: number, isHeld: boolean): boolean {
    return !this.#sighting.isTaken || !this.#rivals.isExclusive || isHeld || this.#sighting.isOver(nowMs);
  }

  /** What is given back to another hub is left to that one for a while, if it is there. */
  async #mayTakeReleased(before: Before, lifeOf: Rivals['lifeOf'], nowMs: number): Promise<boolean> {
    if (before === undefined || before.holder === this.#me.id || (await lifeOf(before.holder)) !== 'there') return true;
    return this.#sighting.unseenMs(nowMs) >= leaseTimes.graceMs;
  }

  /** Whether the lease has run out. A holder that is there, and whose fence has stopped it, is left some time to go on. */
  async #mayTakeHeld(holder: string, lifeOf: Rivals['lifeOf'], nowMs: number): Promise<boolean> {
    const isOver = this.#sighting.isOver(nowMs, this.#whole.hasRunOut?.() ? 0 : leaseTimes.graceMs);
    if (!this.#rivals.isExclusive) return isOver || (await lifeOf(holder)) === 'gone';
    const isPatient = this.#sighting.unseenMs(nowMs) < leaseTimes.patienceMs;
    return isOver && (!isPatient || (await lifeOf(holder)) !== 'there');
  }
}

/** Who may still go on by a record that is taken: its holder, or who it was given back to. */
function beforeOf(taken: LeaseRecord | undefined): Before {
  return taken?.isReleased === false ? { holder: taken.holder, term: taken.term } : taken?.before;
}
