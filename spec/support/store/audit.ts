// The file of an audit, as people read it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { eventually } from '../deadline.ts';
import type { Installation } from './store.ts';

export interface AuditLine {
  readonly n: number;
  readonly time: number;
  readonly kind: string;
  readonly user: string;
  readonly address: string;
  readonly before: string | number | null;
  readonly after: string | number | null;
  readonly count: number;
  readonly cause: string;
}

/** All entries, oldest first. */
export function readAudit({ folder }: Pick<Installation, 'folder'>): AuditLine[] {
  return query(folder, 'SELECT * FROM entry ORDER BY n') as AuditLine[];
}

/** The messages of the log that is kept, oldest first. */
export function readKeptLog({ folder }: Pick<Installation, 'folder'>): string[] {
  return (query(folder, 'SELECT message FROM log ORDER BY n') as { message: string }[]).map(({ message }) => message);
}

/** Waits until there is such an entry. */
export async function noted(
  installation: Pick<Installation, 'folder'>,
  is: (line: AuditLine) => boolean,
): Promise<AuditLine> {
  let found: AuditLine | undefined;
  await eventually(() => {
    found = readAudit(installation).find(is);
    return found !== undefined;
  }, `an entry of the audit: ${is}`);
  return found!;
}

/** The rows; none as long as there are no tables: a hub starts before its audit is open. */
function query(folder: string, sql: string): unknown[] {
  const file = join(folder, 'data', 'audit.db');
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    database.exec('PRAGMA busy_timeout = 10000'); // it is locked for a moment while the hub closes it
    if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'log'").get() === undefined) return [];
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}
