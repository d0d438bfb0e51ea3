// A model of what a parameter was, millisecond by millisecond, and a database that has what a recorder would have kept of it.

import { rmSync } from 'node:fs';
import {
  downReason,
  historyTables,
  hourMs,
  minuteMs,
} from '../../../../lib/connections/store/history/history-tables.ts';
import { createDatabase, openDatabase } from '../../../../lib/connections/store/thread/database/store-database.ts';
import type { ValueType } from '../../../../lib/model/value.ts';

export interface TimelineGap {
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}

/** A stretch of time in which one value held. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly value: number;
}

export interface Figures {
  readonly min: number;
  readonly mean: number;
  readonly max: number;
}

export class Timeline {
  readonly changes: readonly (readonly [time: number, value: number])[];
  readonly gaps: readonly TimelineGap[];
  readonly end: number;
  readonly #stretches: Stretch[] = [];

  /** Changes are in the order of time, and none is within a gap. */
  constructor(changes: Timeline['changes'], gaps: readonly TimelineGap[], end: number) {
    this.changes = changes;
    this.gaps = gaps;
    this.end = end;
    for (const [index, [time, value]] of changes.entries()) {
      const to = changes[index + 1]?.[0] ?? end;
      let from = time;
      for (const gap of gaps.filter(({ start, end }) => end > time && start < to)) {
        this.#stretches.push({ from, to: gap.start, value });
        from = gap.reason === downReason ? to : gap.end;
      }
      this.#stretches.push({ from, to, value });
    }
  }

  /** What it was in a range; undefined: nothing was known. */
  figures(from: number, to: number): Figures | undefined {
    let [min, max, area, knownMs] = [Infinity, -Infinity, 0, 0];
    for (const stretch of this.#stretches) {
      const ms = Math.min(to, stretch.to) - Math.max(from, stretch.from);
      const isChanged = stretch.from >= from && stretch.from < to && this.#beginsAt(stretch);
      if (ms <= 0 && !isChanged) continue;
      min = Math.min(min, stretch.value);
      max = Math.max(max, stretch.value);
      area += stretch.value * Math.max(0, ms);
      knownMs += Math.max(0, ms);
    }
    return min > max ? undefined : { min, mean: knownMs > 0 ? area / knownMs : max, max };
  }

  count(from: number, to: number): number {
    return this.changes.filter(([time]) => time >= from && time < to).length;
  }

  /** What it was at a time; undefined: unknown. */
  at(time: number): number | undefined {
    return this.#stretches.findLast(({ from, to }) => from <= time && time < to)?.value;
  }

  /** What held right before a time, whether anybody knew it or not; undefined: the hub was down meanwhile. */
  heldAt(time: number): number | undefined {
    const [since, value] = this.changes.findLast((change) => change[0] < time) ?? [];
    const wasDown = this.gaps.some((gap) => gap.reason === downReason && gap.start >= since! && gap.start < time);
    return wasDown ? undefined : value;
  }

  #beginsAt({ from, value }: Stretch): boolean {
    return this.changes.some((change) => change[0] === from && change[1] === value);
  }
}

/** From when on each of them is kept, and up to when minutes and hours are put together. */
export interface Kept {
  readonly changes: number;
  readonly minutes: number;
  readonly hours: number;
  readonly minutesUntil: number;
  readonly hoursUntil: number;
}

/** Writes `history.db` with one parameter, `desk/level`. */
export function writeTimeline(path: string, timeline: Timeline, kept: Kept, type: ValueType = 'F'): void {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
  createDatabase(path, historyTables);
  const database = openDatabase(path, 1e9);
  try {
    database.exec('PRAGMA synchronous = OFF; BEGIN');
    database.prepare('INSERT INTO parameter VALUES (1, ?, ?)').run('desk/level', type);
    database.prepare('INSERT INTO writer VALUES (1, ?, ?, ?)').run('client', 'spec', '');
    const put = database.prepare('INSERT INTO change VALUES (?, 1, ?, ?, ?, 1, 1, NULL, NULL, NULL)');
    for (const [index, [time, value]] of timeline.changes.entries()) {
      if (time < kept.changes) continue;
      put.run(BigInt(Math.floor(time / hourMs)), BigInt(time), BigInt(index + 1), value);
    }
    for (const [table, unitMs, from, until] of [
      ['minute', minuteMs, kept.minutes, kept.minutesUntil],
      ['hour', hourMs, kept.hours, kept.hoursUntil],
    ] as const) {
      const putSpan = database.prepare(`INSERT INTO ${table} VALUES (1, ?, ?, ?, ?, ?, ?)`);
      for (let time = from; time < until; time += unitMs) {
        const count = timeline.count(time, time + unitMs);
        if (count === 0) continue;
        const { min, mean, max } = timeline.figures(time, time + unitMs)!;
        const last = timeline.heldAt(time + unitMs) ?? null;
        putSpan.run(BigInt(time), min, mean, max, last, BigInt(count));
      }
    }
    const putGap = database.prepare('INSERT INTO gap VALUES (?, ?, 0, ?)');
    for (const { start, end, reason } of timeline.gaps) putGap.run(BigInt(start), BigInt(end), reason);
    const mark = [timeline.end, kept.minutesUntil, kept.hoursUntil].map(BigInt);
    database.prepare('INSERT INTO mark VALUES (?, ?, ?)').run(...mark);
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}
