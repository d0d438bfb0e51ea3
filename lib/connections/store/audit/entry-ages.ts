// How old entries are: from time to time it is noted which there were by then, on the clock by which a store judges ages. What time
// an entry bears says nothing, as somebody may have set the clock.

import type { DatabaseSync } from 'node:sqlite';
import { AgeClock, beginAge, type ClockReading, type KeptAge, readPauses } from '../../../model/time/age-clock.ts';
import { inTransaction } from '../thread/database/store-database.ts';
import type { AuditRow } from './messages.ts';

/** Entries go this share of `keep` later at most, yet it is noted no oftener than each minute. */
const markShare = 1 / 100;
const leastMarkMs = 60_000;
const longestMarkMs = 3_600_000;
/** Entries of one second may stand in another order than their times. */
export const slackMs = 1000;

export class EntryAges {
  readonly #database: DatabaseSync;
  readonly #keepMs: number;
  readonly #clock: AgeClock;
  readonly #markEveryMs: number;
  #lastMark: number;
  /** The time of the newest entry. */
  #lastTime: number;
  #disordered: number;

  /** Errors: those of SQLite. */
  constructor(database: DatabaseSync, keepMs: number, now: ClockReading) {
    this.#database = database;
    this.#keepMs = keepMs;
    this.#markEveryMs = Math.min(longestMarkMs, Math.max(leastMarkMs, keepMs * markShare));
    const row = this.#read<{ ran: number; wall: number; pauses: string; disordered: number }>('SELECT * FROM age');
    this.#disordered = row?.disordered ?? this.#last().n;
    const kept = row === undefined ? this.#begin(now) : { ...row, pauses: readPauses(row.pauses) };
    this.#clock = new AgeClock(kept, now);
    this.#lastMark = this.#read<{ ran: number | null }>('SELECT max(ran) AS ran FROM age_mark')?.ran ?? 0;
    this.#lastTime = this.#last().time;
  }

  /** Milliseconds that the hub has run by the last entries. */
  get ran(): number {
    return this.#clock.kept.ran;
  }

  /** Notes entries that are written in this transaction, in their order. */
  note(rows: readonly AuditRow[], now: ClockReading): void {
    for (const { n, time } of rows) {
      if (time < this.#lastTime - slackMs) this.#disordered = n;
      this.#lastTime = time;
    }
    this.#clock.read(now);
    const { ran, wall, pauses } = this.#clock.kept;
    this.#run('INSERT OR REPLACE INTO age VALUES (1, ?, ?, ?, ?)', ran, wall, JSON.stringify(pauses), this.#disordered);
    if (ran - this.#lastMark < this.#markEveryMs) return;
    this.#run('INSERT OR REPLACE INTO age_mark VALUES (?, ?)', ran, this.#last().n);
    this.#lastMark = ran;
  }

  /** The number up to which entries are too old; 0: none is. Within a transaction. */
  takeTooOld(): number {
    if (!Number.isFinite(this.#keepMs)) return 0;
    const mark = this.#read<{ ran: number; n: number }>(
      'SELECT ran, n FROM age_mark WHERE ran <= ? ORDER BY ran DESC LIMIT 1',
      this.#clock.ages.newestOf(this.#keepMs),
    );
    if (mark === undefined) return 0;
    this.#run('DELETE FROM age_mark WHERE ran < ?', mark.ran);
    return mark.n;
  }

  /** Takes over entries of which no age was noted yet: up to when the hub was last seen their times are all that tells it. */
  #begin({ wall }: ClockReading): KeptAge {
    const { seen = wall } = this.#read<{ seen: number }>('SELECT seen FROM run') ?? {};
    const marks = new Map<number, number>();
    let time = Number.NEGATIVE_INFINITY;
    let marked = Number.NEGATIVE_INFINITY;
    let last = 0;
    for (const row of this.#database.prepare('SELECT n, time FROM entry ORDER BY n').iterate() as Iterable<AuditRow>) {
      time = Math.max(time, Math.min(row.time, seen));
      if (time - marked >= longestMarkMs) {
        if (last > 0) marks.set(marked, last);
        marked = time;
      }
      last = row.n;
    }
    if (last > 0) marks.set(seen, last);
    inTransaction(this.#database, () => {
      for (const [ran, n] of marks) this.#run('INSERT OR REPLACE INTO age_mark VALUES (?, ?)', ran, n);
    });
    return beginAge(seen);
  }

  #last(): { n: number; time: number } {
    return this.#read('SELECT n, time FROM entry ORDER BY n DESC LIMIT 1') ?? { n: 0, time: Number.NEGATIVE_INFINITY };
  }

  #read<Row>(sql: string, ...values: number[]): Row | undefined {
    return this.#database.prepare(sql).get(...values) as Row | undefined;
  }

  #run(sql: string, ...values: (number | string)[]): void {
    const bound = values.map((value) => (typeof value === 'string' ? value : BigInt(Math.trunc(value))));
    this.#database.prepare(sql).run(...bound);
  }
}
