// Many entries of changes share a row of `entry_block`: with thousands of entries a second the hub's thread packs them, and the thread of
// the audit writes few rows. The entries of a block are JSON, so that SQLite can show each of them; a checksum detects damage.

import { crc32 } from 'node:zlib';
import { isTime } from '../../../model/time/iso-time.ts';
import { isWithin, readList } from '../thread/database/read-rows.ts';
import type { AuditRow, EntryBlock } from './audit-messages.ts';

/** The number of entries of a block. Fewer entries get rows of their own. */
const leastEntries = 16;
const mostEntries = 500;

interface PackedEntries {
  /** The entries with a row of their own. */
  readonly rows: readonly AuditRow[];
  readonly blocks: readonly EntryBlock[];
}

/** Packs consecutive entries whose numbers and times grow. */
export function packEntries(all: readonly AuditRow[]): PackedEntries {
  const rows: AuditRow[] = [];
  const blocks: EntryBlock[] = [];
  for (let first = 0; first < all.length; ) {
    const packed: string[] = [];
    const { n, time } = all[first]!;
    let last = all[first]!;
    for (let at = first; at < all.length && packed.length < mostEntries; at++) {
      const row = all[at]!;
      const isNext = at === first || (row.n > last.n && row.time >= last.time);
      const text = isNext ? pack(row, n, time) : undefined;
      if (text === undefined) break;
      packed.push(text);
      last = row;
    }
    if (packed.length >= leastEntries) {
      const entries = `[${packed.join()}]`;
      blocks.push({
        n,
        last: last.n,
        time: Math.trunc(time),
        lastTime: Math.trunc(last.time),
        count: packed.length,
        entries,
      });
    } else for (let at = first; at < first + Math.max(1, packed.length); at++) rows.push(all[at]!);
    first += Math.max(1, packed.length);
  }
  return { rows, blocks };
}

/** `[number, time, kind, user, address, type, before, after]`, and a cause if there is one. Number and time are relative to the block. */
function pack(row: AuditRow, n: number, since: number): string | undefined {
  const { time, kind, user, address, type, before, after, cause } = row;
  if (row.isCounting || row.count !== 1 || (kind !== 'change' && kind !== 'fire') || !isTime(Math.trunc(time)))
    return undefined;
  const old = packedValue(row, before);
  const now = packedValue(row, after);
  if (old === undefined || now === undefined) return undefined;
  const end = cause === '' ? ']' : `,${quoted(cause)}]`;
  const place = `${row.n - n},${Math.trunc(time) - Math.trunc(since)}`;
  return `[${place},"${kind}",${quoted(user)},${quoted(address)},"${type}",${old},${now}${end}`;
}

/** Returns a value as JSON of the same SQLite type as in a row of its own; undefined: it needs such a row. */
function packedValue({ type }: AuditRow, value: AuditRow['after']): string | undefined {
  if (value === undefined) return 'null';
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'string')
    return value.includes('\0') || !value.isWellFormed() ? undefined : JSON.stringify(value);
  if (Number.isSafeInteger(value)) return type === 'I' ? `${value}` : `${value}.0`;
  return type !== 'I' && Number.isFinite(value) && !Number.isInteger(value) ? `${value}` : undefined;
}

/** The JSON of users and addresses, which repeat. */
const known = new Map<string, string>();
const mostKnown = 1000;

function quoted(text: string): string {
  let json = known.get(text);
  if (json === undefined) {
    json = JSON.stringify(text);
    if (known.size >= mostKnown) known.clear();
    known.set(text, json);
  }
  return json;
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

/** An entry as it is stored. */
export interface StoredEntry extends Omit<AuditRow, 'before' | 'after' | 'isCounting'> {
  readonly before: string | Uint8Array | number | null;
  readonly after: string | Uint8Array | number | null;
}

/** A row of `entry_block`. */
export type StoredBlock = readonly [n: number, time: number, count: number, checksum: number, entries: unknown];

export const blockColumns = 'n, time, count, checksum, entries';

/** A condition that JavaScript can represent all numbers of a row of `entry_block`, which somebody may have edited. */
export const areWhole = [
  ...['n', 'last', 'count', 'checksum'].map((column) => isWithin('count', `+${column}`)),
  ...['time', 'last_time'].map((column) => isWithin('time', column)),
].join(' AND ');

export function checksumOf(n: number, time: number, count: number, entries: string): number {
  return crc32(`${n} ${time} ${count}`, crc32(entries));
}

/** Returns whether a block is as it was written. */
export function isWhole([n, time, count, checksum, json]: StoredBlock): boolean {
  return typeof json === 'string' && checksumOf(n, time, count, json) === checksum;
}

/** Returns the entries of a block, oldest first; none if the block is damaged. */
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

/** Somebody may have edited the row, and its checksum too. */
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
