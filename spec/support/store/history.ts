// The thread of the history without a thread: changes are made up, at any time, and what is written is read with SQL.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ExecutionContext } from 'ava';
import { Columns, columnRows } from '../../../lib/connections/store/history/columns.ts';
import { HistoryKeeping } from '../../../lib/connections/store/history/database/keeping.ts';
import type { Changes, HistoryAnswer, ParameterRow } from '../../../lib/connections/store/history/messages.ts';
import { historySetting, rulesOf } from '../../../lib/connections/store/history/settings.ts';
import { roomOf } from '../../../lib/connections/store/room.ts';
import type { ValueType } from '../../../lib/model/value.ts';
import { createFolder } from '../folder.ts';

/** A change of a parameter, which is told from its address on: `['desk/level', 'F', 1000, 0.5]`. */
export type MadeChange = readonly [address: string, type: ValueType, time: number, value: number | string];

export interface MadeHistory {
  readonly folder: string;
  readonly path: string;
  open(now: number, startedAt?: number): HistoryAnswer;
  /** Writes changes; no older ones come later than `until`. */
  write(changes: readonly MadeChange[], until: number): HistoryAnswer;
  /** Writes what a recorder has handed over. */
  take(changes: Changes): HistoryAnswer;
  /** As when the process is killed: nothing more is written. */
  kill(): void;
  end(): void;
  read(sql: string): Record<string, unknown>[];
}

/** `entries`: the setting `history`. */
export async function makeHistory(
  t: ExecutionContext,
  { entries = [{}], maxSize = 2_000_000_000 }: { entries?: readonly object[]; maxSize?: number } = {},
): Promise<MadeHistory> {
  const folder = await createFolder(t);
  const path = join(folder, 'history.db');
  const rules = rulesOf(historySetting.parse(entries));
  const numbers = new Map<string, number>();
  let keeping = new HistoryKeeping();
  let isFirst = true;
  let revision = 0;
  t.teardown(() => keeping.close());
  /** The connection stays open, as nobody closes it when a process ends; what is committed is there for the next one, and the lock free. */
  const kill = () => {
    rmSync(join(folder, 'history.lock'), { force: true });
    keeping = new HistoryKeeping();
    numbers.clear();
    isFirst = true;
  };
  return {
    folder,
    path,
    open(now, startedAt = now) {
      const answer = keeping.open({
        ask: 'open',
        folder,
        room: roomOf(maxSize).history,
        rules,
        startedAt,
        now,
        isFirst,
      });
      isFirst = false;
      return answer;
    },
    write(changes, until) {
      const parameters: ParameterRow[] = [];
      const all = [new Columns()];
      for (const [address, type, time, value] of changes) {
        let number = numbers.get(address);
        if (number === undefined) {
          number = numbers.size + 1;
          numbers.set(address, number);
          parameters.push([number, address, type, 0]);
        }
        if (all.at(-1)!.length === columnRows) all.push(new Columns());
        const columns = all.at(-1)!;
        const row = columns.length++;
        columns.time[row] = time;
        columns.revision[row] = ++revision;
        columns.value[row] = typeof value === 'string' ? columns.addText(value) : value;
        columns.parameter[row] = number;
        columns.writer[row] = 1;
        columns.source[row] = 1;
      }
      const columns = changes.length === 0 ? [] : all.map((one) => one.hand());
      return keeping.write({ columns, parameters, writers: [['client', 'spec', '']], until });
    },
    take: (changes) => keeping.write(changes),
    kill,
    end() {
      keeping.close();
      kill();
    },
    read(sql) {
      const database = new DatabaseSync(path, { readOnly: true });
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    },
  };
}
