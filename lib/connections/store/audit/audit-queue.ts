// Entries on their way to the disk. Up to a rate each is one by itself. Above it, and while many wait, those of one user, one
// address and one second are counted in one, with the value before the first and the one after the last.

import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import type { AuditRow } from './messages.ts';
import { cut, rowOf, rowOfLost } from './rows.ts';

/** So many entries a second are each one by themselves. */
export const exactRowsPerSecond = 5000;
/** So many wait at most; what comes then and cannot be counted in one that waits is lost, and counted. */
export const maxWaitingRows = 50_000;
/** How many are written in one transaction. */
export const maxBatchRows = 5000;

/** An entry that counts further changes; `at`: as which it was put into the queue last. */
interface Counting {
  readonly row: AuditRow;
  at: number;
}

export class AuditQueue {
  #waiting: AuditRow[] = [];
  /** How many were taken: what waits begins at this place. */
  #taken = 0;
  #lastNumber = 0;
  #second = 0;
  #inSecond = 0;
  /** Entries of this second that count further changes, by user and address. */
  readonly #counting = new Map<Origin, Map<Parameter, Counting>>();
  #lost = 0;
  #lostSince = 0;
  /** How many entries were lost since the start. */
  lost = 0;

  get length(): number {
    return this.#waiting.length;
  }

  /** When the oldest was made that waits, in milliseconds since 1970. */
  get oldest(): number | undefined {
    return this.#waiting[0]?.time;
  }

  /** Entries get greater numbers than this one. */
  startAfter(n: number): void {
    this.#lastNumber = Math.max(this.#lastNumber, n);
  }

  add(row: AuditRow): void {
    if (this.#waiting.length < maxWaitingRows) this.#waiting.push(row);
    else {
      this.#lostSince ||= row.time;
      this.#lost++;
      this.lost++;
    }
  }

  /** Adds an entry before all that wait. */
  addFirst(row: AuditRow): void {
    this.#waiting.unshift(row);
    this.#taken--;
  }

  addChange(change: Change): void {
    const second = Math.floor(change.time / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#inSecond = 0;
      this.#counting.clear();
    }
    const isExact = ++this.#inSecond <= exactRowsPerSecond && this.#waiting.length < maxWaitingRows / 2;
    if (isExact) this.#waiting.push(rowOf(change));
    else this.#count(change);
  }

  /** Takes the oldest entries. What they count further is put into the queue again. */
  take(): AuditRow[] {
    if (this.#lost > 0 && this.#waiting.length < maxWaitingRows / 2) this.#tellLost();
    const taken = this.#waiting.splice(0, maxBatchRows);
    this.#taken += taken.length;
    for (const row of taken) row.n ||= ++this.#lastNumber;
    return taken;
  }

  #count(change: Change): void {
    const { origin, parameter, value } = change;
    let ofUser = this.#counting.get(origin);
    if (ofUser === undefined) {
      ofUser = new Map();
      this.#counting.set(origin, ofUser);
    }
    const known = ofUser.get(parameter);
    if (known === undefined) {
      const row = rowOf(change);
      if (this.#waiting.length < maxWaitingRows) ofUser.set(parameter, { row, at: this.#taken + this.#waiting.length });
      this.add(row);
      return;
    }
    known.row.count++;
    if (parameter.type !== 'T') known.row.after = cut(value);
    if (known.at >= this.#taken) return;
    known.at = this.#taken + this.#waiting.length;
    this.#waiting.push(known.row);
  }

  #tellLost(): void {
    this.add(rowOfLost(this.#lostSince, this.#lost));
    this.#lost = 0;
    this.#lostSince = 0;
  }
}
