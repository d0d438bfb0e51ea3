// How old the rows of each hour are: when something was last written to it, on the clock by which a store judges ages. What time rows
// bear says nothing of it, as somebody may have set the clock.

import type { DatabaseSync } from 'node:sqlite';
import { AgeClock, type Ages, beginAge, type ClockReading, readPauses } from '../../../../model/time/age-clock.ts';
import { hourMs } from '../history-tables.ts';
import type { Interval } from '../segments.ts';

/** How often it is noted again, while an hour is written to. */
const noteEveryMs = 60_000;

export class HourAges {
  readonly #database: DatabaseSync;
  readonly #clock: AgeClock;
  /** When each hour was noted last, in this run. */
  readonly #noted = new Map<number, number>();
  /** Hours that rows were written to since they were noted. */
  readonly #written = new Set<number>();

  /** Goes on from what the database says. `seen`: up to when an earlier version had recorded, 0: nothing was. Errors: those of SQLite. */
  constructor(database: DatabaseSync, seen: number, now: ClockReading) {
    this.#database = database;
    const row = database.prepare('SELECT ran, wall, pauses FROM age').get() as
      | { ran: number; wall: number; pauses: string }
      | undefined;
    const begin = seen === 0 ? now.wall : seen;
    this.#clock = new AgeClock(row === undefined ? beginAge(begin) : { ...row, pauses: readPauses(row.pauses) }, now);
  }

  /** Milliseconds that the hub has run. */
  get ran(): number {
    return this.#clock.kept.ran;
  }

  read(now: ClockReading): void {
    this.#clock.read(now);
  }

  /** A row of this hour is written. */
  wrote(hour: number): void {
    this.#written.add(hour);
  }

  /** Notes all that was written in this transaction, and what the clock shows. */
  note(): void {
    const { ran, wall, pauses } = this.#clock.kept;
    this.#database
      .prepare('INSERT OR REPLACE INTO age VALUES (1, ?, ?, ?)')
      .run(BigInt(ran), BigInt(wall), JSON.stringify(pauses));
    for (const hour of this.#written) {
      if (ran - (this.#noted.get(hour) ?? Number.NEGATIVE_INFINITY) < noteEveryMs) continue;
      this.#database.prepare('INSERT OR REPLACE INTO hour_age VALUES (?, ?)').run(BigInt(hour), BigInt(ran));
      this.#noted.set(hour, ran);
    }
    this.#written.clear();
  }

  /** A transaction was rolled back. */
  forget(): void {
    this.#written.clear();
    this.#noted.clear();
  }

  /** The ages of all hours as they are now. */
  all(): AgesOfHours {
    const rows = this.#database.prepare('SELECT hour, ran FROM hour_age ORDER BY hour').all() as {
      hour: number;
      ran: number;
    }[];
    const noted = rows.map(({ hour, ran }) => [hour, ran] as const);
    return new AgesOfHours(noted, this.#clock.ages);
  }
}

/** When rows of each hour were last written, as the clock showed it. Of an hour of an earlier version that is its end. */
export class AgesOfHours {
  readonly ages: Ages;
  readonly #noted: readonly (readonly [hour: number, ran: number])[];
  readonly #byHour: ReadonlyMap<number, number>;

  /** In the order of hours. */
  constructor(noted: readonly (readonly [hour: number, ran: number])[], ages: Ages) {
    this.#noted = noted;
    this.#byHour = new Map(noted);
    this.ages = ages;
  }

  notedAt(hour: number): number {
    return this.#byHour.get(hour) ?? (hour + 1) * hourMs;
  }

  /** When the oldest rows from an hour on were written. */
  oldestFrom(first: number): number {
    return this.#noted.reduce(
      (least, [hour, ran]) => (hour < first ? least : Math.min(least, ran)),
      this.notedAt(first),
    );
  }

  /** The times, in the order of time, of all hours that were last written when the clock showed so much, or less. */
  upTo(ran: number): readonly Interval[] {
    const intervals: { from: number; to: number }[] = [];
    const add = (from: number, to: number) => {
      const last = intervals.at(-1);
      if (from >= to) return;
      if (last?.to === from) last.to = to;
      else intervals.push({ from, to });
    };
    const end = Math.floor(ran / hourMs); // hours before it that are not noted were over then
    let next = Number.NEGATIVE_INFINITY;
    for (const [hour, notedAt] of this.#noted) {
      add(next, Math.min(hour, end));
      if (notedAt <= ran) add(hour, hour + 1);
      next = hour + 1;
    }
    add(next, end);
    return intervals.map(({ from, to }) => ({ from: from * hourMs, to: to * hourMs }));
  }
}
