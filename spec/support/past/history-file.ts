// Fills `history.db`, hour by hour, with what the store itself writes it by.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { HistoryDatabase } from '../../../lib/connections/store/history/database/history-database.ts';
import { type SpanRow, Spans } from '../../../lib/connections/store/history/database/spans.ts';
import { downReason, hourMs, minuteMs } from '../../../lib/connections/store/history/history-tables.ts';
import type { Origin } from '../../../lib/model/parameter.ts';
import type { PreparedChange } from './studio.ts';

const room = { databaseBytes: 1e12, logBytes: 1e9 };
/** One transaction has so many rows. */
const transactionRows = 200_000;
const restored: Origin = { kind: 'restored', name: 'store' };

type Key = readonly [parameter: number, time: number, revision: number];

export class HistoryFile {
  readonly #database: HistoryDatabase;
  readonly #rawFrom: number;
  readonly #spans: readonly Spans[];
  readonly #last = new Map<string, PreparedChange>();
  readonly #keys = new WeakMap<PreparedChange, Key>();
  #revision = 0;
  #kept = 0;
  #rows = 0;

  /** Changes before `rawFrom` and minutes before `minutesFrom` are not kept. */
  constructor(folder: string, rawFrom: number, minutesFrom: number) {
    const path = join(folder, 'history.db');
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
    HistoryDatabase.create(path);
    this.#database = new HistoryDatabase(path, room);
    this.#database.database.exec('PRAGMA synchronous = OFF; BEGIN');
    this.#rawFrom = Math.floor(rawFrom / hourMs) * hourMs;
    const put = (table: 'minute' | 'hour', from: number) => (row: SpanRow) => {
      if (row.time < from) return;
      this.#database.putSpan(table, row);
      this.#count();
    };
    this.#spans = [
      new Spans(minuteMs, put('minute', Math.floor(minutesFrom / hourMs) * hourMs)),
      new Spans(hourMs, put('hour', Number.NEGATIVE_INFINITY)),
    ];
  }

  write(change: PreparedChange): void {
    const { address, type, time, value, writer, cause } = change;
    if (type !== 'T' && this.#last.get(address)?.value === value && writer !== restored) return;
    this.#last.set(address, change);
    const id = this.#database.parameterId(address, type);
    const revision = ++this.#revision;
    const counted = type === 'S' || type === 'T' ? Number.NaN : Number(value);
    for (const spans of this.#spans) spans.add(id, time, counted);
    if (time < this.#rawFrom) return;
    const source = sourceOf(change).writer;
    const [causeParameter = null, causeTime = null, causeRevision = null] = (cause && this.#keys.get(cause)) ?? [];
    this.#database.addChange(
      Math.floor(time / hourMs),
      id,
      time,
      revision,
      type === 'F' || typeof value === 'string' ? (value as string | number) : BigInt(value),
      this.#writerId(writer),
      this.#writerId(source),
      causeParameter,
      causeTime,
      causeRevision,
    );
    if (type === 'B') this.#keys.set(change, [id, time, revision]);
    this.#kept++;
    this.#count();
  }

  /** The hub was down, and has restored everything when it was there again. */
  gap(start: number, end: number): void {
    for (const spans of this.#spans) spans.interrupt(start, end, true);
    this.#database.addGap({ start, end, lost: 0, reason: downReason });
    for (const { address, type, value } of [...this.#last.values()])
      if (type !== 'T') this.write({ address, type, value, time: end, writer: restored });
  }

  /** Returns how many changes there were, and how many are kept. */
  close(endMs: number): { changes: number; kept: number } {
    for (const spans of this.#spans) spans.endBefore(endMs);
    const floor = (spanMs: number) => Math.floor(endMs / spanMs) * spanMs;
    this.#database.setMark({ seen: endMs, minutes: floor(minuteMs), hours: floor(hourMs) });
    this.#database.database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
    this.#database.close();
    return { changes: this.#revision, kept: this.#kept };
  }

  #writerId({ kind, name, file = '' }: Origin): number {
    return this.#database.writerId(kind, name, file);
  }

  #count(): void {
    if (++this.#rows % transactionRows === 0) this.#database.database.exec('COMMIT; BEGIN');
  }
}

function sourceOf(change: PreparedChange): PreparedChange {
  return change.cause === undefined ? change : sourceOf(change.cause);
}
