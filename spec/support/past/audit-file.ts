// Fills `audit.db`: what clients and the keyboard did.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { tables } from '../../../lib/connections/store/audit/audit-tables.ts';
import { createDatabase, openDatabase } from '../../../lib/connections/store/thread/database/store-database.ts';
import type { Value } from '../../../lib/model/value.ts';
import type { PreparedChange } from './studio.ts';

export class AuditFile {
  readonly #database: DatabaseSync;
  readonly #put: StatementSync;
  readonly #known = new Map<string, string | bigint>();

  constructor(folder: string) {
    const path = join(folder, 'audit.db');
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
    createDatabase(path, tables);
    this.#database = openDatabase(path, 1e12);
    this.#database.exec('PRAGMA synchronous = OFF; BEGIN');
    this.#put = this.#database.prepare(
      'INSERT INTO entry (time, kind, user, address, before, after) VALUES (?, ?, ?, ?, ?, ?)',
    );
  }

  /** Writes what came from outside. */
  write(changes: readonly PreparedChange[]): void {
    for (const { address, type, time, value, writer, cause } of changes) {
      if (cause !== undefined) continue;
      const isFire = type === 'T';
      const after = stored(value);
      const before = this.#known.get(address) ?? null;
      this.#put.run(
        BigInt(time),
        isFire ? 'fire' : 'change',
        writer.name,
        address,
        isFire ? null : before,
        isFire ? null : after,
      );
      this.#known.set(address, after);
    }
  }

  close(): void {
    this.#database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
    this.#database.close();
  }
}

function stored(value: Value): string | bigint {
  return typeof value === 'string' ? value : BigInt(Number(value));
}
