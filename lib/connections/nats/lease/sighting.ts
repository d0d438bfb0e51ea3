// What is seen of a cell from outside: whether somebody holds it and renews it, and since when the servers answer.

import type { Held } from './cell.ts';
import type { LeaseRecord } from './record.ts';
import { leaseTimes } from './times.ts';

/** All times are of one monotonic clock. */
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

  /** How long no renewal was seen. */
  unseenMs(nowMs: number): number {
    return nowMs - this.#seenMs;
  }

  /** Whether it has run out, by what was seen while the servers answered, for so long at least. */
  isOver(nowMs: number, graceMs: number = leaseTimes.graceMs): boolean {
    return this.unseenMs(nowMs) >= leaseTimes.expiryMs && nowMs - this.#answeredSinceMs! >= graceMs;
  }
}
