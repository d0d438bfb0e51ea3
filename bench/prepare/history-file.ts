// Fills `history.db`, hour by hour.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { historyTables, hourMs, minuteMs } from '../../lib/connections/store/history/tables.ts';
import { createDatabase, openDatabase } from '../../lib/connections/store/thread/store-database.ts';
import type { Origin } from '../../lib/model/parameter.ts';
import { type SpanRow, Spans } from './spans.ts';
import type { PreparedChange } from './studio.ts';

/** One transaction has so many rows at most. */
const transactionRows = 200_000;

interface Series {
  readonly id: number;
  readonly minutes: Spans;
  readonly hours: Spans;
}

type Key = readonly [parameter: number, time: number, revision: number];

export class HistoryFile {
  readonly #database: DatabaseSync;
  readonly #rawFrom: number;
  readonly #minutesFrom: number;
  readonly #putChange: StatementSync;
  readonly #putMinute: StatementSync;
  readonly #putHour: StatementSync;
  readonly #series = new Map<string, Series>();
  readonly #writers = new Map<Origin, number>();
  readonly #keys = new WeakMap<PreparedChange, Key>();
  #revision = 0;
  #kept = 0;
  #rows = 0;

  /** Changes before `rawFrom` and minutes before `minutesFrom` are not kept. */
  constructor(folder: string, rawFrom: number, minutesFrom: number) {
    const path = join(folder, 'history.db');
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
    createDatabase(path, historyTables);
    this.#database = openDatabase(path, 1e12);
    this.#database.exec('PRAGMA synchronous = OFF; BEGIN');
    this.#rawFrom = Math.floor(rawFrom / hourMs) * hourMs;
    this.#minutesFrom = Math.floor(minutesFrom / hourMs) * hourMs;
    this.#putChange = this.#database.prepare('INSERT INTO change VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#putMinute = this.#database.prepare('INSERT INTO minute VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#putHour = this.#database.prepare('INSERT INTO hour VALUES (?, ?, ?, ?, ?, ?, ?)');
  }

  write(changes: readonly PreparedChange[]): void {
    for (const change of changes) this.writeOne(change);
  }

  writeOne(change: PreparedChange): void {
    const { address, type, time, value, writer, cause } = change;
    const series = this.#seriesOf(address, type);
    const revision = ++this.#revision;
    series.minutes.change(time, value);
    series.hours.change(time, value);
    if (time < this.#rawFrom) return;
    const [causeParameter = null, causeTime = null, causeRevision = null] = (cause && this.#keys.get(cause)) ?? [];
    let source = change;
    while (source.cause !== undefined) source = source.cause;
    this.#putChange.run(
      BigInt(Math.floor(time / hourMs)),
      series.id,
      BigInt(time),
      BigInt(revision),
      typeof value === 'string' || type === 'F' ? (value as string | number) : BigInt(Number(value)),
      this.#writerOf(writer),
      this.#writerOf(source.writer),
      causeParameter,
      causeTime === null ? null : BigInt(causeTime),
      causeRevision === null ? null : BigInt(causeRevision),
    );
    if (type === 'B') this.#keys.set(change, [series.id, time, revision]);
    this.#kept++;
    this.#count();
  }

  gap(start: number, end: number, reason: string): void {
    for (const { minutes, hours } of this.#series.values()) {
      minutes.gap(start, end);
      hours.gap(start, end);
    }
    this.#database.prepare('INSERT INTO gap VALUES (?, ?, 0, ?)').run(BigInt(start), BigInt(end), reason);
  }

  /** Returns how many changes there were, and how many are kept. */
  close(endMs: number): { changes: number; kept: number } {
    for (const { minutes, hours } of this.#series.values()) {
      minutes.endBefore(endMs);
      hours.endBefore(endMs);
    }
    const floor = (spanMs: number) => BigInt(Math.floor(endMs / spanMs) * spanMs);
    this.#database.prepare('INSERT INTO mark VALUES (?, ?, ?)').run(BigInt(endMs), floor(minuteMs), floor(hourMs));
    this.#database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
    this.#database.close();
    return { changes: this.#revision, kept: this.#kept };
  }

  #seriesOf(address: string, type: PreparedChange['type']): Series {
    let series = this.#series.get(address);
    if (series === undefined) {
      this.#database.prepare('INSERT INTO parameter (address, type) VALUES (?, ?)').run(address, type);
      const id = this.#series.size + 1;
      const put = (statement: StatementSync, from: number) => (row: SpanRow) => {
        const [time, min, mean, max, last, count] = row;
        if (time < from) return;
        statement.run(id, BigInt(time), min, mean, max, last, BigInt(count));
        this.#count();
      };
      series = {
        id,
        minutes: new Spans(minuteMs, type, put(this.#putMinute, this.#minutesFrom)),
        hours: new Spans(hourMs, type, put(this.#putHour, Number.NEGATIVE_INFINITY)),
      };
      this.#series.set(address, series);
    }
    return series;
  }

  #writerOf(origin: Origin): number {
    let id = this.#writers.get(origin);
    if (id === undefined) {
      const { kind, name, file = '' } = origin;
      this.#database.prepare('INSERT INTO writer (kind, name, file) VALUES (?, ?, ?)').run(kind, name, file);
      id = this.#writers.size + 1;
      this.#writers.set(origin, id);
    }
    return id;
  }

  #count(): void {
    if (++this.#rows % transactionRows === 0) this.#database.exec('COMMIT; BEGIN');
  }
}
