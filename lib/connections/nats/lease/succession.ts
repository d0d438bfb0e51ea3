// Decides whether this hub may take a lease because the lease has no holder, or because its holder has released it or has not renewed it in
// time. The decision is based on observations of the register (`Sighting`).

import { type LeaseRecord, leaseTimes } from './lease-record.ts';
import type { Holder, Life, Rivals, Whole } from './parties.ts';
import type { Held } from './register.ts';

type Before = LeaseRecord['before'];

interface Finding {
  readonly mayTake: boolean;
  /** Whether the hub that may still continue with this lease answers. This is the holder, or the hub to which the lease was returned. */
  readonly isThere: boolean;
  /**
   * The value of `before` in the next holder's record. Undefined if the previous holder answers, because other hubs do not wait for it a
   * second time, or if it is this hub.
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

  /**
   * Decides on the basis of a register's content and its observation. `isHeld` means that this hub holds the register. Errors: any error
   * from `Rivals.lifeOf`.
   */
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

  /** Resolves to whether the previous holder is back and may therefore continue. Errors: any error from `Rivals.lifeOf`. */
  async isAwaited(before: Before): Promise<boolean> {
    return before !== undefined && (await this.#rivals.lifeOf(before.holder)) === 'there';
  }

  /**
   * Returns whether it is certain that no hub holds a lease that is missing on the servers. If the servers have lost the lease, its holder
   * may still be running and may take the lease again.
   */
  #mayTakeLost(nowMs: number, isHeld: boolean): boolean {
    return !this.#sighting.isTaken || !this.#rivals.isExclusive || isHeld || this.#sighting.isOver(nowMs);
  }

  /**
   * Resolves to whether this hub may take a released lease. A lease that was returned to another hub is left to that hub for a while, if it
   * answers.
   */
  async #mayTakeReleased(before: Before, lifeOf: Rivals['lifeOf'], nowMs: number): Promise<boolean> {
    if (before === undefined || before.holder === this.#me.id || (await lifeOf(before.holder)) !== 'there') return true;
    return this.#sighting.unseenMs(nowMs) >= leaseTimes.graceMs;
  }

  /**
   * Resolves to whether a lease with a holder has expired. A holder that answers but was stopped by its fence has some time to continue.
   */
  async #mayTakeHeld(holder: string, lifeOf: Rivals['lifeOf'], nowMs: number): Promise<boolean> {
    const isOver = this.#sighting.isOver(nowMs, this.#whole.hasRunOut?.() ? 0 : leaseTimes.graceMs);
    if (!this.#rivals.isExclusive) return isOver || (await lifeOf(holder)) === 'gone';
    const isPatient = this.#sighting.unseenMs(nowMs) < leaseTimes.patienceMs;
    return isOver && (!isPatient || (await lifeOf(holder)) !== 'there');
  }
}

/** Returns the hub that may still continue with a taken record: the holder, or the hub to which the record was returned. */
function beforeOf(taken: LeaseRecord | undefined): Before {
  return taken?.isReleased === false ? { holder: taken.holder, term: taken.term } : taken?.before;
}

/**
 * The observation of a register from outside: whether a hub holds and renews the register, and for how long the servers have been
 * answering. All times are in milliseconds on the same monotonic clock.
 */
export class Sighting {
  /** The newest known sequence, and the time at which the newest record was seen. */
  #sequence = 0;
  #seenMs = 0;
  /** Whether the newest known record has a holder. */
  #isTaken = false;
  /** The greatest renewal number that a holder has requested, and the time of the request. */
  #requested: { readonly holder: string; readonly renewal: number; readonly atMs: number } | undefined;
  /** The start of the period in which every request has been answered, in milliseconds; undefined if the last request was not answered. */
  #answeredSinceMs: number | undefined;
  #answeredMs = Number.NEGATIVE_INFINITY;

  get sequence(): number {
    return this.#sequence;
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Records that a holder has requested a renewal, whether or not the renewal succeeds. */
  noteRequest({ holder, renewal }: LeaseRecord, nowMs: number): void {
    if (renewal === undefined || (this.#requested?.holder === holder && renewal <= this.#requested.renewal)) return;
    this.#requested = { holder, renewal, atMs: nowMs };
  }

  /**
   * Records the content of the register. If the request to write this content was observed, the content counts from the time of the
   * request.
   */
  note({ sequence, value }: Held<LeaseRecord>, nowMs: number): void {
    if (value !== undefined && sequence !== this.#sequence) this.#seenMs = this.#requestedMs(value) ?? nowMs;
    if (value !== undefined) this.#isTaken = !value.isReleased;
    this.#sequence = sequence;
  }

  #requestedMs({ holder, renewal = Number.POSITIVE_INFINITY }: LeaseRecord): number | undefined {
    return this.#requested?.holder === holder && renewal <= this.#requested.renewal ? this.#requested.atMs : undefined;
  }

  /** Records that this hub has taken or renewed the lease. */
  noteOwn(sequence: number, nowMs: number): void {
    this.#sequence = sequence;
    this.#seenMs = nowMs;
    this.#isTaken = true;
  }

  /** Records an answer from the servers. If the process was suspended, it has seen nothing in between, so the observation starts again. */
  answered(nowMs: number): void {
    if (nowMs - this.#answeredMs > leaseTimes.graceMs) this.#answeredSinceMs = undefined;
    this.#answeredMs = nowMs;
    this.#answeredSinceMs ??= nowMs;
  }

  unanswered(): void {
    this.#answeredSinceMs = undefined;
  }

  /** Returns the time for which the servers have not answered, in milliseconds. */
  silentMs(nowMs: number): number {
    return nowMs - this.#answeredMs;
  }

  /** Returns the time for which every request has been answered, in milliseconds. */
  answeredForMs(nowMs: number): number {
    return this.#answeredSinceMs === undefined ? 0 : nowMs - this.#answeredSinceMs;
  }

  /** Returns the time for which no renewal has been seen, in milliseconds. */
  unseenMs(nowMs: number): number {
    return nowMs - this.#seenMs;
  }

  /** Returns whether the lease has expired, as observed while the servers have been answering for at least `graceMs`. */
  isOver(nowMs: number, graceMs: number = leaseTimes.graceMs): boolean {
    return this.unseenMs(nowMs) >= leaseTimes.expiryMs && this.answeredForMs(nowMs) >= graceMs;
  }
}
