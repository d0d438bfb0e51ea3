// How far the log is on the disk. Its numbers there are those of the hub, unless the hub counts otherwise than the database: a
// store that is added while the hub runs on finds the log of an earlier run.

import { randomUUID } from 'node:crypto';
import type { LogEntry, LogPage } from '../../../model/reports/log-entry.ts';
import type { HeldAudit } from './messages.ts';

export class LogPlace {
  /** The hub's number of the newest entry that is on the disk. */
  #written = 0;
  /** What is added to a number of the hub. */
  #offset = 0;
  /** The name of the count in the database. */
  #count = '';

  /** The number after which the hub is to be asked for entries. */
  get after(): number {
    return this.#written;
  }

  get count(): string {
    return this.#count;
  }

  /** Finds the place in a database that was opened; `hubCount` is the name of the count of the hub. */
  find(held: HeldAudit | undefined, hubCount: string): void {
    const { lastLog = 0, run } = held ?? {};
    if (lastLog === 0 || run?.count === hubCount) {
      this.#offset = 0;
      this.#count = hubCount;
    } else if (this.#count === '' || run?.count !== this.#count) {
      this.#offset = lastLog;
      this.#count = randomUUID();
    }
    this.#written = Math.max(0, lastLog - this.#offset);
  }

  /** The entries as they are to be written. */
  place({ entries }: LogPage): readonly LogEntry[] {
    return this.#offset === 0 ? entries : entries.map((entry) => ({ ...entry, n: entry.n + this.#offset }));
  }

  written({ next }: LogPage): void {
    this.#written = next;
  }
}
