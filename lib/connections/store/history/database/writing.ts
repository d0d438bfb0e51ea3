// Writes to a database that is open: changes, the minutes and hours that are over, how far it has come. And deletes what is too old.

import { troubleOf } from '../../thread/database/trouble.ts';
import type { HistoryRule } from '../rules.ts';
import { downReason, hourMs } from '../tables.ts';
import type { Batch } from './batch.ts';
import type { HistoryDatabase, Mark } from './history-database.ts';
import { dropUnnamed } from './names.ts';
import { rebuildSpans } from './rebuild.ts';
import { keepWithinTimes } from './retention.ts';
import type { Room } from './room.ts';
import { RuleSpans, type WaitingSpan } from './rule-spans.ts';
import { readRules } from './rules-by-id.ts';

/** How many changes one transaction writes at most; fewer after one for which there was no room, as long texts need more. */
const transactionRows = 5000;
const leastRows = 4;
/** How many rows of minutes and hours one transaction writes. */
const transactionSpans = 2000;
/** How often it is written down that the hub is there, when nothing changes. */
const seenEveryMs = 10_000;
/** How long is deleted at most after each write. */
const deletingMs = 100;
/** When the clock jumps back by more than this, minutes begin anew. */
const clockJumpMs = 60_000;

export class Writing {
  readonly #database: HistoryDatabase;
  readonly #rules: readonly HistoryRule[];
  readonly #room: Room;
  readonly #waiting: WaitingSpan[] = [];
  #spans: readonly RuleSpans[];
  #mark: Mark;
  #rows = transactionRows;
  /** No older changes come. */
  #now: number;
  /** What changed before this was counted by an earlier run; when it is told again, it is what holds. */
  readonly #seenBefore: number;
  #deleting: Generator<void, void, void> | undefined;
  #deletedAt = Number.NEGATIVE_INFINITY;

  constructor(database: HistoryDatabase, rules: readonly HistoryRule[], room: Room) {
    this.#database = database;
    this.#rules = rules;
    this.#room = room;
    this.#mark = database.mark() ?? { seen: 0, minutes: 0, hours: 0 };
    this.#now = this.#mark.seen;
    this.#seenBefore = this.#mark.seen;
    this.#spans = this.#newSpans();
  }

  /** Takes over what an earlier run has left. */
  rebuild(): void {
    const ruleOf = readRules(this.#database, this.#rules);
    rebuildSpans(this.#database, this.#mark, (parameter) => this.#spans[ruleOf(parameter) ?? -1]);
  }

  /** Nothing was recorded since it was last seen, if it ever was. */
  addGap(startedAt: number, now: number): void {
    const { seen: start } = this.#mark;
    if (start === 0) return;
    const [end, reason] = start < startedAt ? [startedAt, downReason] : [now, 'the store was stopped'];
    this.#write(() => {
      this.#database.addGap({ start, end, lost: 0, reason });
      this.#setMark({ ...this.#mark, seen: now });
    });
    for (const spans of this.#spans) spans.interrupt(start, end, true);
  }

  /** Writes the changes; `wrote` hears of the rows of each transaction. Errors: those of SQLite; what is written then stays so. */
  writeChanges(batch: Batch, wrote: (rows: number) => void): void {
    const { columns, until } = batch;
    this.#now = until;
    if (columns.length === 0 && until - this.#mark.seen < seenEveryMs) return;
    while (!batch.isWritten) {
      const before = batch.written;
      try {
        this.#write(() => {
          batch.writeSome(this.#database, this.#rows, this.#database.transactionPages / 2);
          if (!batch.isWritten) return;
          for (const { gap } of columns) if (gap !== undefined) this.#database.addGap(gap);
          this.#setMark({ ...this.#mark, seen: until });
        });
      } catch (error) {
        batch.goBack(before);
        this.#database.leftOut.forget();
        if (troubleOf(error) !== 'full' || this.#rows === leastRows) throw error;
        this.#rows = Math.max(leastRows, this.#rows >> 2);
        continue;
      }
      this.#rows = Math.min(transactionRows, this.#rows * 2);
      wrote(batch.written - before);
    }
  }

  /** Counts changes that are written for their minutes and hours. */
  count(batch: Batch): void {
    if (batch.until < this.#mark.minutes - clockJumpMs) {
      for (const spans of this.#spans) spans.endBefore(this.#mark.minutes + 2 * hourMs);
      this.#spans = this.#newSpans();
    }
    for (const columns of batch.columns) {
      const { gap } = columns;
      if (gap !== undefined) for (const spans of this.#spans) spans.interrupt(gap.start, gap.end, false);
      batch.tell(columns, (rule, parameter, time, value) => {
        if (time >= this.#seenBefore) this.#spans[rule]?.add(parameter, time, value);
        else this.#spans[rule]?.begin(parameter, time, value);
      });
    }
  }

  /** Writes what is over at that time. Errors: those of SQLite; what is not written waits. */
  writeSpans(until: number): void {
    for (const spans of this.#spans) spans.endBefore(until);
    const open = this.#spans.map((spans) => spans.openSince(until));
    const [minutes, hours] = [Math.min(...open.map((one) => one.minutes)), Math.min(...open.map((one) => one.hours))];
    if (this.#spans.length === 0 || (minutes === this.#mark.minutes && this.#waiting.length === 0)) return;
    while (this.#waiting.length > transactionSpans) this.#writeWaiting(transactionSpans, this.#mark);
    this.#writeWaiting(transactionSpans, { ...this.#mark, minutes, hours });
  }

  /** Deletes what is too old, once an hour, a little at a time. */
  delete(now: number): void {
    if (this.#deleting === undefined) {
      if (now - this.#deletedAt < hourMs) return;
      this.#deleting = this.#clean(this.#deletedAt, now);
      this.#deletedAt = now;
    }
    for (const startedAt = performance.now(); performance.now() - startedAt < deletingMs; )
      if (this.#deleting.next().done) {
        this.#deleting = undefined;
        return;
      }
  }

  *#clean(before: number, now: number): Generator<void, void, void> {
    yield* keepWithinTimes(this.#database, this.#rules, before, now);
    yield* dropUnnamed(this.#database, before, now, (parameter) => this.#spans.some((one) => one.has(parameter)));
  }

  /** Writes down that everything up to now is recorded. */
  end(now: number): void {
    this.#write(() => this.#setMark({ ...this.#mark, seen: now }));
  }

  #writeWaiting(count: number, mark: Mark): void {
    const rows = this.#waiting.slice(0, count);
    this.#write(() => {
      for (const [table, row] of rows) this.#database.putSpan(table, row);
      this.#setMark(mark);
    });
    this.#waiting.splice(0, rows.length);
  }

  #newSpans(): readonly RuleSpans[] {
    return this.#rules.map((rule) => new RuleSpans(rule, this.#waiting));
  }

  #setMark(mark: Mark): void {
    this.#database.setMark(mark);
    this.#mark = mark;
  }

  #write(work: () => void): void {
    const mark = this.#mark;
    this.#room.prepare(this.#now);
    try {
      this.#database.write(work);
    } catch (error) {
      this.#mark = mark;
      this.#database.forgetIds();
      throw error;
    }
  }
}
