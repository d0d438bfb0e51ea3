// Finds out whether this hub may take a lease: nobody holds it, its holder has not renewed it in time, or its holder has released it. It
// goes by what is seen of the cell from outside (`Sighting`).

import { type LeaseRecord, leaseTimes } from './lease-record.ts';
import type { Holder, Life, Rivals, Whole } from './parties.ts';
import type { Held } from './register.ts';

type Before = LeaseRecord['before'];

interface Finding {
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
    const isFirst = mayTake && this.#rivals.goesFirst?.(this.#sighting.answeredForMs(nowMs)) !== true;
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

/** All times are of one monotonic clock. */
/**
 * What is seen of a cell from outside: whether somebody holds it and renews it, and since when the servers answer. All times are of one
 * monotonic clock.
 */
export class Sighting {
  /** The newest sequence that is known, and since when the newest record is. */
  #sequence = 0;
  #seenMs = 0;
  /** Whether the newest record that is known is that of a holder. */
  #isTaken = false;
  /** The greatest renewal that was heard of, and when. */
  #heard: { readonly holder: string; readonly renewal: number; readonly atMs: number } | undefined;
  /** Since when every question was answered; undefined: the last one was not. */
  #answeredSinceMs: number | undefined;
  #answeredMs = Number.NEGATIVE_INFINITY;

  get sequence(): number {
    return this.#sequence;
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Notes that a holder has asked for a renewal, whether or not it gets it. */
  overheard({ holder, renewal }: LeaseRecord, nowMs: number): void {
    if (renewal === undefined || (this.#heard?.holder === holder && renewal <= this.#heard.renewal)) return;
    this.#heard = { holder, renewal, atMs: nowMs };
  }

  /** Notes what the cell holds. That counts from when it was heard of, if it was: it had been asked for by then. */
  note({ sequence, value }: Held<LeaseRecord>, nowMs: number): void {
    if (value !== undefined && sequence !== this.#sequence) this.#seenMs = this.#heardMs(value) ?? nowMs;
    if (value !== undefined) this.#isTaken = !value.isReleased;
    this.#sequence = sequence;
  }

  #heardMs({ holder, renewal = Number.POSITIVE_INFINITY }: LeaseRecord): number | undefined {
    return this.#heard?.holder === holder && renewal <= this.#heard.renewal ? this.#heard.atMs : undefined;
  }

  /** Notes that this hub has taken or renewed it. */
  noteOwn(sequence: number, nowMs: number): void {
    this.#sequence = sequence;
    this.#seenMs = nowMs;
    this.#isTaken = true;
  }

  /** The servers have answered. A process that was stopped has seen nothing meanwhile: what it sees begins anew. */
  answered(nowMs: number): void {
    if (nowMs - this.#answeredMs > leaseTimes.graceMs) this.#answeredSinceMs = undefined;
    this.#answeredMs = nowMs;
    this.#answeredSinceMs ??= nowMs;
  }

  unanswered(): void {
    this.#answeredSinceMs = undefined;
  }

  /** How long the servers have not answered. */
  silentMs(nowMs: number): number {
    return nowMs - this.#answeredMs;
  }

  /** For how long every question was answered. */
  answeredForMs(nowMs: number): number {
    return this.#answeredSinceMs === undefined ? 0 : nowMs - this.#answeredSinceMs;
  }

  /** How long no renewal was seen. */
  unseenMs(nowMs: number): number {
    return nowMs - this.#seenMs;
  }

  /** Whether it has run out, by what was seen while the servers answered, for so long at least. */
  isOver(nowMs: number, graceMs: number = leaseTimes.graceMs): boolean {
    return this.unseenMs(nowMs) >= leaseTimes.expiryMs && this.answeredForMs(nowMs) >= graceMs;
  }
}
