// Entries on their way to the disk. Up to a rate each is one by itself. Above it, and while many wait, those of one user, one
// address and one second are counted in one, with the value before the first and the one after the last. What other hubs report has a
// part of its own, so that none of them takes the room of what happens here: above its rate it is counted by hub and address, and what
// is too much even for that is counted by hub alone.

import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import type { AuditRow } from './audit-messages.ts';
import { cut, rowOf, rowOfLost, rowOfReported, rowOfReportedLost } from './audit-tables.ts';

/** So many entries a second are each one by themselves. */
export const exactRowsPerSecond = 5000;
/** Of what other hubs have written here, and of what they report of their own parameters, so many a second are. */
export const exactWritesPerSecond = 2000;
export const exactReportsPerSecond = 500;
/** So many entries of one second count what other hubs report of their own parameters, beside those that count by hub alone. */
export const countedReportsPerSecond = 1000;
/** So many hubs of a second are told apart there. */
const maxHubs = 300;
/** So many wait at most; what comes then and cannot be counted in one that waits is lost, and counted. */
export const maxWaitingRows = 50_000;
/** How many are written in one transaction. */
export const maxBatchRows = 5000;

/** An entry that counts further changes; `at`: as which it was put into the queue last. */
interface Counting {
  readonly row: AuditRow;
  at: number;
}

/** Entries by user, or the hub that reports, and by address, or what else they count. */
type Counted = Map<Origin | string, Map<Parameter | string, Counting>>;

export class AuditQueue {
  #waiting: AuditRow[] = [];
  /** How many were taken: what waits begins at this place. */
  #taken = 0;
  #lastNumber = 0;
  #second = 0;
  #inSecond = 0;
  /** Entries of this second that count further changes, by user and address. */
  readonly #counting: Counted = new Map();
  /** Those of what other hubs report, by hub: its second goes by the clock of this hub. */
  readonly #reported: Counted = new Map();
  #reportedSecond = 0;
  #writesInSecond = 0;
  #reportsInSecond = 0;
  #countedInSecond = 0;
  readonly #now: () => number;
  #lost = 0;
  #lostSince = 0;
  /** How many entries were lost since the start. */
  lost = 0;

  /** `now` tells the time of day, in milliseconds since 1970. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get length(): number {
    return this.#waiting.length;
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
    const { reportedBy } = change.origin;
    if (reportedBy !== undefined) {
      this.#addReported(change, reportedBy);
      return;
    }
    const second = Math.floor(change.time / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#inSecond = 0;
      this.#counting.clear();
    }
    const isExact = ++this.#inSecond <= exactRowsPerSecond && this.#waiting.length < maxWaitingRows / 2;
    if (isExact) this.#waiting.push(rowOf(change));
    else this.#count(this.#counting, change.origin, change.parameter, change, () => rowOf(change));
  }

  #addReported(change: Change, hub: string): void {
    const second = Math.floor(this.#now() / 1000);
    if (second !== this.#reportedSecond) {
      this.#reportedSecond = second;
      this.#writesInSecond = this.#reportsInSecond = this.#countedInSecond = 0;
      this.#reported.clear();
    }
    const { parameter } = change;
    const isWrite = parameter.remote === undefined;
    const isInRate = isWrite
      ? ++this.#writesInSecond <= exactWritesPerSecond
      : ++this.#reportsInSecond <= exactReportsPerSecond;
    const waiting = this.#waiting.length;
    if (isInRate && waiting < maxWaitingRows / 4) {
      this.#waiting.push(rowOf(change));
      return;
    }
    const key = this.#reported.has(hub) || this.#reported.size < maxHubs ? hub : '';
    const isCounted =
      waiting < maxWaitingRows / 2 &&
      (isWrite || this.#reported.get(key)?.has(parameter) || ++this.#countedInSecond <= countedReportsPerSecond);
    if (isCounted) this.#count(this.#reported, key, parameter, change, () => rowOfReported(change, key));
    else {
      this.lost++;
      this.#count(this.#reported, key, 'lost', change, () => rowOfReportedLost(this.#now(), key));
    }
  }

  /** Takes the oldest entries. What they count further is put into the queue again. */
  take(): AuditRow[] {
    if (this.#lost > 0 && this.#waiting.length < maxWaitingRows / 2) this.#reportLost();
    const taken = this.#waiting.splice(0, maxBatchRows);
    this.#taken += taken.length;
    for (const row of taken) row.n ||= ++this.#lastNumber;
    return taken;
  }

  #count(
    counting: Counted,
    user: Origin | string,
    what: Parameter | string,
    { parameter, value }: Change,
    create: () => AuditRow,
  ): void {
    let ofUser = counting.get(user);
    if (ofUser === undefined) {
      ofUser = new Map();
      counting.set(user, ofUser);
    }
    const known = ofUser.get(what);
    if (known === undefined) {
      const row = create();
      if (this.#waiting.length < maxWaitingRows) ofUser.set(what, { row, at: this.#taken + this.#waiting.length });
      this.add(row);
      return;
    }
    known.row.count++;
    if (what === parameter && parameter.type !== 'T') known.row.after = cut(value);
    if (known.at >= this.#taken) return;
    known.at = this.#taken + this.#waiting.length;
    this.#waiting.push(known.row);
  }

  #reportLost(): void {
    this.add(rowOfLost(this.#lostSince, this.#lost));
    this.#lost = 0;
    this.#lostSince = 0;
  }
}
