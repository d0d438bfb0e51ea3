// Many change entries share a row of `entry_block`: when there are thousands of entries per second, the hub's thread packs the entries, so
// that the audit thread writes only a few rows. A block contains its entries as JSON, so that SQLite can show each entry; a checksum
// detects damage.

import { crc32 } from 'node:zlib';
import { isTime } from '../../../model/time/iso-time.ts';
import { JsonBytes } from '../packed-rows.ts';
import { isWithin, readList } from '../thread/database/read-rows.ts';
import type { AuditRow, EntryBlock } from './audit-messages.ts';

/** The minimum number of entries in a block. Fewer entries get separate rows. */
const leastEntries = 16;
const mostEntries = 500;

interface PackedEntries {
  /** The entries that are stored in separate rows. */
  readonly rows: readonly AuditRow[];
  readonly blocks: readonly EntryBlock[];
}

/** Packs entries into blocks as far as possible. Within a block, numbers increase and times never decrease. */
export function packEntries(all: readonly AuditRow[]): PackedEntries {
  const rows: AuditRow[] = [];
  const blocks: EntryBlock[] = [];
  for (let first = 0; first < all.length; ) {
    const { n, time } = all[first]!;
    let last = all[first]!;
    let count = 0;
    json.length = 0;
    json.reserve(1);
    for (let at = first; at < all.length && count < mostEntries; at++) {
      const row = all[at]!;
      const isNext = at === first || (row.n > last.n && row.time >= last.time);
      if (!isNext || !pack(row, n, time, count === 0)) break;
      count++;
      last = row;
    }
    if (count >= leastEntries) {
      json.reserve(1);
      json.put(code[']']);
      const entries = Uint8Array.from(json.written);
      blocks.push({ n, last: last.n, time: Math.trunc(time), lastTime: Math.trunc(last.time), count, entries });
    } else for (let at = first; at < first + Math.max(1, count); at++) rows.push(all[at]!);
    first += Math.max(1, count);
  }
  return { rows, blocks };
}

/** The buffer in which the JSON of a block is written, with its initial size in bytes. */
const json = new JsonBytes(32 * 1024);
const code = { '[': 0x5b, ']': 0x5d, ',': 0x2c } as const;

/**
 * Writes an entry as `[number, time, kind, user, address, type, before, after]`, and a cause if there is one. The number and the time are
 * relative to the first entry in the block. Returns false if the entry needs a separate row.
 */
function pack(row: AuditRow, n: number, since: number, isFirst: boolean): boolean {
  const { time, kind, before, after, cause } = row;
  if (row.isCounting || row.count !== 1 || (kind !== 'change' && kind !== 'fire') || !isTime(Math.trunc(time)))
    return false;
  if (!isPackable(row, before) || !isPackable(row, after)) return false;
  json.reserve(6);
  json.put(isFirst ? code['['] : code[',']);
  json.put(code['[']);
  json.putInteger(row.n - n);
  json.put(code[',']);
  json.putInteger(Math.trunc(time) - Math.trunc(since));
  json.putText(namesOf(row));
  putValue(row, before);
  json.put(code[',']);
  putValue(row, after);
  if (cause !== '') json.putText(`,${JSON.stringify(cause)}`);
  json.reserve(1);
  json.put(code[']']);
  return true;
}

/** Returns whether SQLite reads the same value from the JSON of a block as from a separate row. */
function isPackable({ type }: AuditRow, value: AuditRow['after']): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed();
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return true;
  return type !== 'I' && Number.isFinite(value) && !Number.isInteger(value);
}

function putValue({ type }: AuditRow, value: AuditRow['after']): void {
  if (typeof value === 'number') {
    json.reserve(2);
    json.putNumber(value, type !== 'I');
  } else if (typeof value === 'string') json.putText(JSON.stringify(value));
  else json.putText(value === undefined ? 'null' : value ? '1' : '0');
}

/**
 * The names in the last entry for each address, as JSON, because entries often repeat them: `,"change","api 10.0.0.3","desk/lamp","B",`.
 */
const known = new Map<string, Pick<AuditRow, 'kind' | 'user' | 'type'> & { readonly text: string }>();
const mostKnown = 1000;

function namesOf({ kind, user, address, type }: AuditRow): string {
  const last = known.get(address);
  if (last !== undefined && last.user === user && last.kind === kind && last.type === type) return last.text;
  const text = `,"${kind}",${JSON.stringify(user)},${JSON.stringify(address)},"${type}",`;
  if (known.size >= mostKnown) known.clear();
  known.set(address, { kind, user, type, text });
  return text;
}

export const blockTable = `
  CREATE TABLE IF NOT EXISTS entry_block (
    n INTEGER PRIMARY KEY, last INTEGER NOT NULL, time INTEGER NOT NULL, last_time INTEGER NOT NULL, count INTEGER NOT NULL,
    checksum INTEGER NOT NULL, entries TEXT NOT NULL
  ) STRICT;
  CREATE VIEW IF NOT EXISTS block_entry AS
    SELECT n + (one.value ->> 0) AS n, time + (one.value ->> 1) AS time, one.value ->> 2 AS kind, one.value ->> 3 AS user,
      one.value ->> 4 AS address, one.value ->> 5 AS type, one.value ->> 6 AS before, one.value ->> 7 AS after, 1 AS count,
      coalesce(one.value ->> 8, '') AS cause
    FROM entry_block, json_each(iif(json_valid(entries), entries, '[]')) AS one WHERE one.type = 'array';`;

/** An entry as it is stored, whether in a separate row or in a block. */
export interface StoredEntry extends Omit<AuditRow, 'before' | 'after' | 'isCounting'> {
  readonly before: string | Uint8Array | number | null;
  readonly after: string | Uint8Array | number | null;
}

/** A row of `entry_block`. */
export type StoredBlock = readonly [n: number, time: number, count: number, checksum: number, entries: unknown];

export const blockColumns = 'n, time, count, checksum, entries';

/** An SQL condition that is true if JavaScript can represent all numbers in a row of `entry_block`, which a user may have edited. */
export const areWhole = [
  ...['n', 'last', 'count', 'checksum'].map((column) => isWithin('count', `+${column}`)),
  ...['time', 'last_time'].map((column) => isWithin('time', column)),
].join(' AND ');

export function checksumOf(n: number, time: number, count: number, entries: string | Uint8Array): number {
  return crc32(`${n} ${time} ${count}`, crc32(entries));
}

/** Returns whether the checksum of a block is correct. */
export function isWhole([n, time, count, checksum, json]: StoredBlock): boolean {
  return typeof json === 'string' && checksumOf(n, time, count, json) === checksum;
}

/** Returns the entries in a block, oldest first; an empty list if the block is damaged. */
export function unpackEntries(block: StoredBlock): readonly StoredEntry[] {
  if (!isWhole(block)) return [];
  const [n, time, count, , json] = block;
  const rows = readList(json as string);
  if (rows.length !== count || !rows.every(isRow)) return [];
  return rows.map(([further, later, kind, user, address, type, before, after, cause = '']) => {
    return { n: n + further, time: time + later, kind, user, address, type, before, after, count: 1, cause };
  });
}

type Cell = string | number | null;
type Row = readonly [
  further: number,
  later: number,
  kind: StoredEntry['kind'],
  user: string,
  address: string,
  type: StoredEntry['type'],
  before: Cell,
  after: Cell,
  cause?: string,
];

/** Returns whether an item in a block is a valid entry. A user may have edited the block, including its checksum. */
function isRow(row: unknown): row is Row {
  if (!Array.isArray(row) || row.length < 8 || row.length > 9) return false;
  const [further, later, ...cells] = row;
  const isCell = (cell: unknown) => typeof cell === 'string' || cell === null || Number.isFinite(cell);
  const [before, after] = cells.splice(4, 2);
  return (
    [further, later].every(Number.isSafeInteger) &&
    isCell(before) &&
    isCell(after) &&
    cells.every((cell) => typeof cell === 'string')
  );
}
