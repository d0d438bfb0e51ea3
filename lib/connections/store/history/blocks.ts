// Many changes of one parameter within an hour share a row of `change_block`, so that a hub that records thousands of changes per second
// writes only a few rows. A block contains its changes as JSON, so that SQLite can show each change; a checksum detects damage.

import { crc32 } from 'node:zlib';
import { isTime } from '../../../model/time/iso-time.ts';
import { JsonBytes } from '../packed-rows.ts';
import { isWithin, readList } from '../thread/database/read-rows.ts';

/** The maximum size of the JSON in a block, in bytes. A page of the table then holds four blocks. */
const blockBytes = 900;

/** The position of a change among all changes to the same parameter. */
export interface Place {
  readonly time: number;
  readonly revision: number;
}

/** The position before all changes. */
export const noBlock: Place = { time: Number.NEGATIVE_INFINITY, revision: 0 };

/**
 * Packs changes to one parameter into a block. A change is `[time, revision, value]`, with the time and the revision relative to the first
 * change in the block. A change with a cause also contains the position of the cause, relative to the change: `[…, time, revision]`. A
 * change whose writer, source or cause parameter differs from those of the first change contains all three: `[…, writer, source,
 * parameter]`. Call `end` before reading `json`.
 */
export class Packing {
  count = 0;
  time = 0;
  revision = 0;
  lastTime = 0;
  lastRevision = 0;
  writer = 0;
  source = 0;
  /** The database key of the parameter that caused the first change; 0 if there is no cause. */
  cause = 0;
  readonly #json = new JsonBytes(4 * blockBytes);

  /** Begins a block whose changes follow the given position. */
  begin({ time, revision }: Place): void {
    this.count = 0;
    this.lastTime = time;
    this.lastRevision = revision;
    this.#json.length = 0;
  }

  get json(): string {
    return this.#json.written.toString();
  }

  get checksum(): number {
    const { time, revision, count, writer, source, cause } = this;
    return checksumOf(time, revision, count, writer, source, cause, this.#json.written);
  }

  /** Ends the list of changes in the block. */
  end(): void {
    this.#json.put(code[']']);
  }

  /**
   * Adds a change to the block. The value is JSON or a finite number; `isReal` marks a float. Returns false if the change does not follow
   * the last change or does not fit.
   */
  add(
    time: number,
    revision: number,
    value: number | string,
    isReal: boolean,
    writer: number,
    source: number,
    cause: number,
    causeTime: number,
    causeRevision: number,
  ): boolean {
    if (time < this.lastTime || (time === this.lastTime && revision <= this.lastRevision)) return false;
    if (typeof value === 'string' && value.length > blockBytes) return false;
    const isFirst = this.count === 0;
    if (isFirst) {
      this.time = time;
      this.revision = revision;
      this.writer = writer;
      this.source = source;
      this.cause = cause;
    }
    const json = this.#json;
    const start = json.length;
    json.reserve(10);
    json.put(isFirst ? code['['] : code[',']);
    json.put(code['[']);
    json.putInteger(time - this.time);
    putNext(json, revision - this.revision);
    json.put(code[',']);
    if (typeof value === 'number') json.putNumber(value, isReal);
    else json.putText(value);
    const isLikeFirst = writer === this.writer && source === this.source && cause === this.cause;
    if (cause !== 0 || !isLikeFirst) {
      putNext(json, cause === 0 ? 0 : time - causeTime);
      putNext(json, cause === 0 ? 0 : revision - causeRevision);
    }
    if (!isLikeFirst) {
      putNext(json, writer);
      putNext(json, source);
      putNext(json, cause);
    }
    json.put(code[']']);
    if (json.length >= blockBytes) {
      json.length = start;
      return false;
    }
    this.count++;
    this.lastTime = time;
    this.lastRevision = revision;
    return true;
  }
}

function putNext(json: JsonBytes, integer: number): void {
  json.put(code[',']);
  json.putInteger(integer);
}

const code = { '[': 0x5b, ']': 0x5d, ',': 0x2c } as const;

/** A stored value: a number, a string, 0 or 1. A string that contains a NUL character is stored as UTF-8 bytes. */
export type Stored = number | string | Uint8Array;

/** A recorded change with the database keys of its writer, its source and the parameter that caused it. */
export type EventRow = readonly [
  time: number,
  value: Stored,
  revision: number,
  writer: number,
  source: number,
  causeParameter: number | null,
  causeTime: number | null,
  causeRevision: number | null,
];

/** The columns of a row in `change_block`, except the hour and the parameter. */
export type StoredBlock = readonly [
  time: number,
  revision: number,
  count: number,
  writer: number,
  source: number,
  cause: number | null,
  changes: unknown,
  checksum: number,
];

export const blockColumns = 'time, revision, count, writer, source, cause, changes, checksum';

/** An SQL condition that is true if JavaScript can represent all numbers in a row of `change_block`. A user may have edited the row. */
export const areWhole = [
  isWithin('time', 'time'),
  isWithin('time', 'last_time'),
  ...['parameter', 'count', 'writer', 'source', 'coalesce(cause, 0)', 'checksum'].map((one) => isWithin('count', one)),
  ...['revision', 'last_revision'].map((one) => isWithin('integer', one)),
].join(' AND ');

function checksumOf(
  time: number,
  revision: number,
  count: number,
  writer: number,
  source: number,
  cause: number | null,
  json: string | Uint8Array,
): number {
  return crc32(`${time} ${revision} ${count} ${writer} ${source} ${cause ?? 0}`, crc32(json));
}

/** Returns whether the checksum of a block is correct. */
export function isWhole([time, revision, count, writer, source, cause, json, checksum]: StoredBlock): boolean {
  return typeof json === 'string' && checksumOf(time, revision, count, writer, source, cause, json) === checksum;
}

/** Returns the changes in a block, oldest first; an empty list if the block is damaged. */
export function unpackBlock(block: StoredBlock): readonly EventRow[] {
  if (!isWhole(block)) return [];
  const [time, revision, count, writer, source, cause, json] = block;
  const rows = readList(json as string);
  if (rows.length !== count) return [];
  const events: EventRow[] = [];
  for (const row of rows) {
    if (!isRow(row)) return [];
    const [later, further, value, older = 0, before = 0, by = writer, from = source, of = cause ?? 0] = row;
    const [at, number] = [time + later, revision + further];
    if (!isTime(at)) return [];
    if (of === 0) events.push([at, value, number, by, from, null, null, null]);
    else events.push([at, value, number, by, from, of, at - older, number - before]);
  }
  return events;
}

type Row = readonly [
  later: number,
  further: number,
  value: number | string,
  older?: number,
  before?: number,
  writer?: number,
  source?: number,
  cause?: number,
];

/** Returns whether an item in a block is a valid change. A user may have edited the block, including its checksum. */
function isRow(row: unknown): row is Row {
  if (!Array.isArray(row) || (row.length !== 3 && row.length !== 5 && row.length !== 8)) return false;
  for (let index = 0; index < row.length; index++)
    if (index === 2 ? typeof row[2] !== 'string' && !Number.isFinite(row[2]) : !Number.isSafeInteger(row[index]))
      return false;
  return true;
}
