// The tables of snapshots in the database of values, and a view that shows what is in them to people.

import type { DatabaseSync } from 'node:sqlite';
import { isTime } from '../../../../model/time/iso-time.ts';
import { readRows } from '../database/read-rows.ts';
import { checksumOf, hasChecksums, isOfThisVersion } from './checksum.ts';
import type { KeptSnapshots, SnapshotBatch } from './messages.ts';

export const snapshotTables = `
  CREATE TABLE IF NOT EXISTS snapshot (
    selection TEXT NOT NULL, name TEXT NOT NULL, time INTEGER NOT NULL, parameters INTEGER NOT NULL, contents TEXT NOT NULL,
    checksum INTEGER NOT NULL, PRIMARY KEY (selection, name)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS last_snapshot (
    selection TEXT PRIMARY KEY, name TEXT NOT NULL, checksum INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE VIEW IF NOT EXISTS snapshot_value AS
    SELECT selection, name, value ->> 0 AS address, value ->> 1 AS type, value ->> 2 AS value
    FROM snapshot, json_each(contents);`;

export const dropSnapshotTables = `
  DROP VIEW IF EXISTS snapshot_value; DROP TABLE IF EXISTS snapshot; DROP TABLE IF EXISTS last_snapshot`;

const put = `INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  time = excluded.time, parameters = excluded.parameters, contents = excluded.contents, checksum = excluded.checksum`;
const putLast = `INSERT INTO last_snapshot VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET
  name = excluded.name, checksum = excluded.checksum`;

type StoredSnapshot = readonly [
  selection: string,
  name: string,
  time: number,
  parameters: number,
  contents: string,
  checksum: number,
];

/** Reads all snapshots that are whole, oldest first, and names the others. Errors: those of SQLite. */
export function readSnapshots(database: DatabaseSync, damaged: string[]): KeptSnapshots {
  if (!hasChecksums(database)) return { saved: [], last: [] }; // the first version had no snapshots
  const rows = readRows(
    database.prepare('SELECT selection, name, time, parameters, contents, checksum FROM snapshot ORDER BY time'),
  ) as unknown as readonly StoredSnapshot[];
  const whole = rows.filter(([selection, name, time, parameters, contents, checksum]) => {
    const isWhole = isTime(time) && checksum === checksumOf([selection, name, time, parameters, contents]);
    if (!isWhole) damaged.push(`${selection}/${name} (snapshot)`);
    return isWhole;
  });
  return {
    saved: whole.map(([selection, name, time, parameters, contents]) => {
      return { selection, name, time, parameters, contents, bytes: Buffer.byteLength(contents) };
    }),
    last: readLast(database, damaged),
  };
}

/** Reads which snapshot of each selection was last saved or recalled. */
function readLast(database: DatabaseSync, damaged: string[]): KeptSnapshots['last'] {
  const isChecked = isOfThisVersion(database);
  const rows = readRows(
    database.prepare(`SELECT selection, name, ${isChecked ? 'checksum' : 0} FROM last_snapshot`),
  ) as unknown as readonly [selection: string, name: string, checksum: number][];
  return rows.flatMap(([selection, name, checksum]) => {
    if (!isChecked || checksum === checksumOf([selection, name])) return [[selection, name]];
    damaged.push(`${selection} (last snapshot)`);
    return [];
  });
}

/** Writes a batch, within a transaction. Errors: those of SQLite. */
export function writeSnapshots(database: DatabaseSync, { isAnew, saved, forgotten, last }: SnapshotBatch): void {
  if (isAnew) database.exec('DELETE FROM snapshot; DELETE FROM last_snapshot');
  for (const { selection, name, time, parameters, contents } of saved)
    database
      .prepare(put)
      .run(
        selection,
        name,
        BigInt(time),
        BigInt(parameters),
        contents,
        checksumOf([selection, name, time, parameters, contents]),
      );
  for (const row of forgotten) database.prepare('DELETE FROM snapshot WHERE selection = ? AND name = ?').run(...row);
  for (const [selection, name] of last)
    if (name === undefined) database.prepare('DELETE FROM last_snapshot WHERE selection = ?').run(selection);
    else database.prepare(putLast).run(selection, name, checksumOf([selection, name]));
}
