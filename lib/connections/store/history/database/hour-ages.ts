// The age of each hour's rows: when the hour was last written, on the age clock. The times of the rows cannot be used, because the wall
// clock may have been set.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { AgeClock, type Ages, beginAge, type ClockReading, readPauses } from '../../../../model/time/age-clock.ts';
import { hourMs } from '../history-tables.ts';
import type { Interval } from '../segments.ts';

/** The interval between two notes for an hour while rows of this hour are being written, in milliseconds. */
const noteEveryMs = 60_000;

export class HourAges {
  readonly #database: DatabaseSync;
  readonly #putAge: StatementSync;
  readonly #clock: AgeClock;
  /** The time, on the age clock, at which a note was last stored for each hour in this run. */
  readonly #noted = new Map<number, number>();
  /** The hours whose rows have been written since the last `note`. */
  readonly #written = new Set<number>();

  /**
   * Continues the age clock with the state in the database. `seen` is the time at which an earlier version stopped recording; 0 if there is
   * no recording. Errors: any SQLite error.
   */
  constructor(database: DatabaseSync, seen: number, now: ClockReading) {
    this.#database = database;
    this.#putAge = database.prepare('INSERT OR REPLACE INTO age VALUES (1, ?, ?, ?)');
    const row = database.prepare('SELECT ran, wall, pauses FROM age').get() as
      | { ran: number; wall: number; pauses: string }
      | undefined;
    const begin = seen === 0 ? now.wall : seen;
    this.#clock = new AgeClock(row === undefined ? beginAge(begin) : { ...row, pauses: readPauses(row.pauses) }, now);
  }

  /** The total time for which the hub has been running, in milliseconds. */
  get ran(): number {
    return this.#clock.kept.ran;
  }

  read(now: ClockReading): void {
    this.#clock.read(now);
  }

  /** Notes that a row in this hour is being written. */
  wrote(hour: number): void {
    this.#written.add(hour);
  }

  /** Stores the state of the age clock, and notes for the hours written in this transaction. */
  note(): void {
    const { ran, wall, pauses } = this.#clock.kept;
    this.#putAge.run(BigInt(ran), BigInt(wall), JSON.stringify(pauses));
    for (const hour of this.#written) {
      if (ran - (this.#noted.get(hour) ?? Number.NEGATIVE_INFINITY) < noteEveryMs) continue;
      this.#database.prepare('INSERT OR REPLACE INTO hour_age VALUES (?, ?)').run(BigInt(hour), BigInt(ran));
      this.#noted.set(hour, ran);
    }
    this.#written.clear();
  }

  /** Clears the notes, because a rollback has undone them. */
  forget(): void {
    this.#written.clear();
    this.#noted.clear();
  }

  /** Returns when each hour was last written. */
  all(): AgesOfHours {
    const rows = this.#database.prepare('SELECT hour, ran FROM hour_age ORDER BY hour').all() as {
      hour: number;
      ran: number;
    }[];
    const noted = rows.map(({ hour, ran }) => [hour, ran] as const);
    return new AgesOfHours(noted, this.#clock.ages);
  }
}

/** The times at which the hours were last written, on the age clock. For an hour from an earlier version, the end of the hour is used. */
export class AgesOfHours {
  readonly ages: Ages;
  readonly #noted: readonly (readonly [hour: number, ran: number])[];
  readonly #byHour: ReadonlyMap<number, number>;

  /** `noted` contains the hours and their times, sorted by hour. */
  constructor(noted: readonly (readonly [hour: number, ran: number])[], ages: Ages) {
    this.#noted = noted;
    this.#byHour = new Map(noted);
    this.ages = ages;
  }

  notedAt(hour: number): number {
    return this.#byHour.get(hour) ?? (hour + 1) * hourMs;
  }

  /** Returns the time at which the oldest rows were written, among the rows of the hour `first` and all later hours. */
  oldestFrom(first: number): number {
    return this.#noted.reduce(
      (least, [hour, ran]) => (hour < first ? least : Math.min(least, ran)),
      this.notedAt(first),
    );
  }

  /** Returns the intervals that cover all hours that were last written at or before `ran`, in chronological order. */
  upTo(ran: number): readonly Interval[] {
    const intervals: { from: number; to: number }[] = [];
    const add = (from: number, to: number) => {
      const last = intervals.at(-1);
      if (from >= to) return;
      if (last?.to === from) last.to = to;
      else intervals.push({ from, to });
    };
    const end = Math.floor(ran / hourMs); // earlier hours without a note were over by then
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
