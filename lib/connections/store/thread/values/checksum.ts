// What tells that a row is as it was written: the check of SQLite finds pages that are broken, but not a bit that has turned in a value.

import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { versionOf } from '../database/store-database.ts';

/** The version of `values.db`. */
export const valuesVersion = 3;
/** Since when each row has the checksum of its other columns, and a value the changes that led to it. */
const checksumVersion = 2;

export function hasChecksums(database: DatabaseSync): boolean {
  return versionOf(database) >= checksumVersion;
}

/** Whether a database has the tables of this version. Before it, what was last saved or recalled had no checksum. */
export function isOfThisVersion(database: DatabaseSync): boolean {
  return versionOf(database) >= valuesVersion;
}

/** The CRC-32 of the columns of a row, as text. */
export function checksumOf(columns: readonly unknown[]): number {
  return crc32(columns.join('\0'));
}
