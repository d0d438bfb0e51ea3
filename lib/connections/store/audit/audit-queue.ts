// The queue of audit entries that wait for the disk. Up to a certain rate, each change gets its own entry. Above this rate, and while many
// entries are waiting, changes by one user to one address within a second share an entry, with the value before the first change and the
// value after the last one. Reports from other hubs have their own rates, so they cannot displace local entries: above these rates, changes
// are counted by hub and address and, above a second threshold, by hub alone.

import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import type { AuditRow } from './audit-messages.ts';
import { cut, rowOf, rowOfLost, rowOfReported, rowOfReportedLost } from './audit-tables.ts';

/** The maximum number of local changes per second that get their own entries. */
export const exactRowsPerSecond = 5000;
/** The same maximum for writes that other hubs make on this hub, and for changes that other hubs report to their own parameters. */
export const exactWritesPerSecond = 2000;
export const exactReportsPerSecond = 500;
/**
 * The maximum number of entries that are added per second to count reported changes by hub and address. Entries that count changes by hub
 * alone are not included.
 */
export const countedReportsPerSecond = 1000;
/** The maximum number of hubs that are counted separately within a second. */
const maxHubs = 300;
/**
 * The maximum number of waiting entries. Further changes that cannot be counted in a waiting entry are lost, and the number of lost changes
 * is recorded.
 */
export const maxWaitingRows = 50_000;
/** The maximum number of entries that are taken for one transaction. */
export const maxBatchRows = 5000;

/** An entry that counts further changes. `at` is its most recent position in the queue. */
interface Counting {
  readonly row: AuditRow;
  at: number;
}

/** The counting entries, keyed by user or reporting hub, and then by parameter or another key. */
type Counted = Map<Origin | string, Map<Parameter | string, Counting>>;

export class AuditQueue {
  #waiting: AuditRow[] = [];
  /** The number of entries taken so far, which is also the position of the first waiting entry. */
  #taken = 0;
  #lastNumber = 0;
  #second = 0;
  #inSecond = 0;
  /** The counting entries of the current second, keyed by user and parameter. */
  readonly #counting: Counted = new Map();
  /** The counting entries for reports from other hubs in the current second, keyed by hub. The clock of this hub determines the second. */
  readonly #reported: Counted = new Map();
  #reportedSecond = 0;
  #writesInSecond = 0;
  #reportsInSecond = 0;
  #countedInSecond = 0;
  readonly #now: () => number;
  #lost = 0;
  #lostSince = 0;
  /** The number of changes and entries lost since the start. */
  lost = 0;

  /** `now` returns the time of day in milliseconds since 1970. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Continues the numbering of entries after `n`. */
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

  /** Adds an entry in front of all waiting entries. */
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

  /** Removes and returns the oldest entries, which are numbered. An entry that counts another change afterwards is queued again. */
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
      const row: AuditRow = { ...create(), isCounting: true };
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
