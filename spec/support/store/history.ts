// The thread of the history without a thread: changes are made up, at any time, and what is written is read with SQL.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ExecutionContext } from 'ava';
import { HistoryKeeping } from '../../../lib/connections/store/history/database/written-history.ts';
import type { Changes, HistoryAnswer } from '../../../lib/connections/store/history/history-messages.ts';
import type { HistoryRule } from '../../../lib/connections/store/history/history-rules.ts';
import { historySetting, roomOf, rulesOf } from '../../../lib/connections/store/settings.ts';
import type { ClockReading } from '../../../lib/model/time/age-clock.ts';
import { createFolder } from '../folder.ts';
import { type MadeChange, MadeChanges } from './made-changes.ts';

/** `entries`: the setting `history`. */
export async function makeHistory(
  t: ExecutionContext,
  { entries = [{}], maxSize = 2_000_000_000 }: { entries?: readonly object[]; maxSize?: number } = {},
): Promise<MadeHistory> {
  const history = new MadeHistory(await createFolder(t), rulesOf(historySetting.parse(entries)), maxSize);
  t.teardown(() => history.close());
  return history;
}

export class MadeHistory {
  readonly folder: string;
  readonly path: string;
  readonly #rules: readonly HistoryRule[];
  readonly #maxSize: number;
  readonly #made = new MadeChanges();
  #persistence = new HistoryKeeping();
  #isFirst = true;
  #runs = 1;
  #aheadMs = 0;

  constructor(folder: string, rules: readonly HistoryRule[], maxSize: number) {
    this.folder = folder;
    this.path = join(folder, 'history.db');
    this.#rules = rules;
    this.#maxSize = maxSize;
  }

  open(now: number, startedAt = now): HistoryAnswer {
    const { folder } = this;
    const [rules, isFirst] = [this.#rules, this.#isFirst];
    const room = roomOf(this.#maxSize).history;
    const epoch = `run ${this.#runs}`;
    const answer = this.#persistence.open(
      { ask: 'open', folder, room, rules, epoch, startedAt, now, isFirst },
      this.#readingAt(now),
    );
    this.#isFirst = false;
    return answer;
  }

  /** Writes changes; no older ones come later than `until`. */
  write(changes: readonly MadeChange[], until: number, absences: Changes['absences'] = []): HistoryAnswer {
    return this.take({ ...this.#made.hand(changes, until), absences });
  }

  /** The clock jumps; `write` tells times as it shows them. */
  jump(before: number, after: number): void {
    this.#aheadMs += after - before;
    this.#made.jump(before, after);
  }

  /** Writes what a recorder has handed over. */
  take(changes: Changes): HistoryAnswer {
    return this.#persistence.write(changes, this.#readingAt(changes.until));
  }

  close(): void {
    this.#persistence.close();
  }

  /**
   * As when the process is killed: nothing more is written. The connection stays open, as nobody closes it when a process ends; what is
   * committed is there for the next one, and the lock free.
   */
  kill(): void {
    rmSync(join(this.folder, 'history.lock'), { force: true });
    this.#persistence = new HistoryKeeping();
    this.#runs++;
    this.#made.forget();
    this.#isFirst = true;
  }

  end(): void {
    this.close();
    this.kill();
  }

  #readingAt(wall: number): ClockReading {
    return { wall, steady: wall - this.#aheadMs };
  }

  read(sql: string): Record<string, unknown>[] {
    const database = new DatabaseSync(this.path, { readOnly: true });
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  }
}
