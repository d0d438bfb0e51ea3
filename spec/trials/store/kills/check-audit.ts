// What the audit of a hub that was killed has to hold: an entry of every write that was old enough.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A write of a client, each of an address to a greater number than the one before. */
export interface Write {
  readonly address: string;
  readonly value: number;
}

interface Row {
  readonly address: string;
  readonly before: number | null;
  readonly after: number;
  readonly count: number;
}

/** What is told of the audit of one run. */
export interface AuditCheck {
  readonly mistakes: string[];
  /** How many entries count several changes. */
  readonly merged: number;
}

/** Looks for each of the writes, which were of values from `least` on; `isExact`: each has an entry of its own. */
export function checkAudit(folder: string, writes: readonly Write[], least: number, isExact: boolean): AuditCheck {
  const rows = rowsOf(folder, least);
  const merged = [...rows.values()].flat().filter(({ count }) => count > 1).length;
  const mistakes = writes
    .filter(({ address, value }) => !rows.get(address)?.some((row) => hasWrite(row, value)))
    .map(({ address, value }) => `the audit has no entry of ${address} = ${value}`);
  if (isExact && merged > 0) mistakes.push(`${merged} entries of the audit count several changes`);
  return { mistakes, merged };
}

/** An entry that counts several has all from the value before it to the one after it. */
function hasWrite({ before, after, count }: Row, value: number): boolean {
  return after === value || (count > 1 && value <= after && value > (before ?? 0));
}

function rowsOf(folder: string, least: number): Map<string, Row[]> {
  const database = new DatabaseSync(join(folder, 'data', 'audit.db'), { readOnly: true });
  try {
    database.exec('PRAGMA busy_timeout = 10000');
    const sql = `SELECT address, CAST(before AS REAL) AS before, CAST(after AS REAL) AS after, count FROM entry
      WHERE kind = 'change' AND CAST(after AS REAL) >= ? ORDER BY n`;
    const rows = new Map<string, Row[]>();
    for (const row of database.prepare(sql).iterate(least) as Iterable<Row>) {
      const known = rows.get(row.address);
      if (known === undefined) rows.set(row.address, [row]);
      else known.push(row);
    }
    return rows;
  } finally {
    database.close();
  }
}
