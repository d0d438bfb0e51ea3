// A batch of changes on the history thread. The changes are written in the order of the table, so that each page of the database is written
// only once.

import { isTime } from '../../../../model/time/iso-time.ts';
import type { ValueType } from '../../../../model/value.ts';
import type { Rename } from '../../../persistence.ts';
import { storedText } from '../../thread/database/read-rows.ts';
import { giveWay } from '../../thread/give-way.ts';
import { Packing } from '../blocks.ts';
import { Columns, columnRows } from '../columns.ts';
import type { AbsenceRow, Changes, JumpRow, WriterRow } from '../history-messages.ts';
import { hourMs } from '../history-tables.ts';
import type { HistoryDatabase } from './history-database.ts';

/** A parameter that the columns refer to by a number. */
export interface KnownParameter {
  address: string;
  readonly type: ValueType;
  readonly rule: number;
  /** The key of the parameter in the database; 0 if the key is not known yet. */
  id: number;
}

/** The number of rows that take as much space as one block. */
const blockRows = 16;
/** The changes to one parameter within an hour, as a linked list of their positions. */
interface Chain {
  readonly id: number;
  readonly first: number;
  last: number;
  count: number;
}

export class Batch {
  readonly columns: readonly Columns[];
  readonly until: number;
  readonly jumps: readonly JumpRow[];
  readonly absences: readonly AbsenceRow[];
  /** The renames that have not been carried out yet. */
  renames: readonly Rename[];
  readonly #writers: readonly WriterRow[];
  readonly #parameters: readonly (KnownParameter | undefined)[];
  /** Returns whether the rule with this index keeps individual changes. */
  readonly #isKept: (rule: number) => boolean;
  #writerIds: number[] = [];
  /**
   * The positions of the rows in the order of the table. A position is the index of the columns times `columnRows`, plus the index of the
   * row within these columns.
   */
  #order: Uint32Array | undefined;
  #written = 0;
  /** Whether the database may already contain part of the batch. */
  #isAgain = false;
  readonly #packing = new Packing();

  /** `parameters` is indexed by the numbers in the columns; `isKept` returns whether a rule keeps individual changes. */
  constructor(
    { columns, writers, until, renames = [], jumps = [], absences = [] }: Changes,
    parameters: readonly (KnownParameter | undefined)[],
    isKept: (rule: number) => boolean,
  ) {
    this.columns = columns.map((one) => Columns.handed(one));
    this.until = until;
    this.jumps = jumps;
    this.absences = absences;
    this.renames = renames;
    this.#writers = writers;
    this.#parameters = parameters;
    this.#isKept = isKept;
  }

  /** The number of changes that have been written. */
  get written(): number {
    return this.#written;
  }

  get isWritten(): boolean {
    return this.#written === this.#order?.length;
  }

  /** The highest revision in the batch; 0 if the batch is empty. */
  get lastRevision(): number {
    return this.columns.reduce(
      (last, { revision, length }) => Math.max(last, ...(length > 0 ? [revision[length - 1]!] : [])),
      0,
    );
  }

  /** Starts over after the database was reopened, because the database may already contain part of the batch. */
  beginAgain(): void {
    this.goBack(0);
    this.#isAgain = true;
  }

  /** Resets the batch to `written` rows after a rollback, which also undoes the names added in the transaction. */
  goBack(written: number): void {
    this.#order = undefined;
    this.#written = written;
    for (const known of this.#parameters) if (known !== undefined) known.id = 0;
  }

  /**
   * Writes the next changes within a transaction: at most about `rows` rows of at most `parameters` parameters, because each parameter
   * takes separate pages. `base` is added to all revisions; changes with a revision up to `known` may already be in the database.
   */
  writeSome(database: HistoryDatabase, rows: number, parameters: number, base: number, known: number): void {
    this.#order ??= this.#prepare(database);
    let parameter = 0;
    let met = 0;
    for (let left = rows; left > 0 && this.#written < this.#order.length; ) {
      giveWay();
      const place: number = this.#order[this.#written]!;
      const columns = this.columns[Math.floor(place / columnRows)]!;
      const row = place % columnRows;
      if (columns.parameter[row] !== parameter && ++met > parameters) return;
      parameter = columns.parameter[row]!;
      const packed = this.#writeBlock(database, base, known);
      left -= packed === 0 ? 1 : blockRows;
      this.#written += Math.max(1, packed);
      if (packed > 0) continue;
      try {
        this.#write(database, columns, row, base, known);
      } catch (error) {
        database.leftOut.note(this.#parameters[parameter]!.address, error);
      }
    }
  }

  /** Returns the database keys of a connection's parameters, as far as they are known. */
  idsOf(connection: string): ReadonlySet<number> {
    const own = this.#parameters.filter((known) => known?.address.startsWith(`${connection}/`) && known.id > 0);
    return new Set(own.map((known) => known!.id));
  }

  /** Calls `add` for each valid change in the columns, in the original order. Strings and triggers are passed as NaN. */
  forEachRow(
    { parameter, time, value, revision, length }: Columns,
    add: (rule: number, id: number, time: number, value: number, revision: number) => void,
  ): void {
    for (let row = 0; row < length; row++) {
      giveWay();
      const known = this.#parameters[parameter[row]!];
      if (known === undefined || !isTime(Math.floor(time[row]!))) continue;
      const { id, type, rule } = known;
      const number = type === 'S' || type === 'T' ? Number.NaN : value[row]!;
      add(rule, id, Math.floor(time[row]!), number, revision[row]!);
    }
  }

  /** Looks up the keys of all parameters and writers, and returns the positions of the rows in the order of the table. */
  #prepare(database: HistoryDatabase): Uint32Array {
    this.#writerIds = [0, ...this.#writers.map(([kind, name, file]) => database.writerId(kind, name, file))];
    const next = new Uint32Array(this.columns.length * columnRows);
    const hours = new Map<number, Map<number, Chain>>();
    let hour = Number.NaN;
    let chains = new Map<number, Chain>();
    let count = 0;
    for (const [index, { parameter, cause, time, length }] of this.columns.entries())
      for (let row = 0, place = index * columnRows; row < length; row++, place++) {
        giveWay();
        const number = parameter[row]!;
        const known = this.#named(number, database);
        if (cause[row] !== 0 && this.#named(cause[row]!, database) === undefined) cause[row] = 0;
        const timeMs = Math.floor(time[row]!);
        if (known === undefined || !isTime(timeMs)) {
          database.leftOut.note(known?.address ?? 'a parameter', new RangeError(`a change at ${time[row]}`));
          continue;
        }
        if (!this.#isKept(known.rule)) continue;
        if (Math.floor(timeMs / hourMs) !== hour) {
          hour = Math.floor(timeMs / hourMs);
          chains = hours.get(hour) ?? new Map();
          hours.set(hour, chains);
        }
        const chain = chains.get(number);
        if (chain === undefined) chains.set(number, { id: known.id, first: place, last: place, count: 1 });
        else {
          next[chain.last] = place;
          chain.last = place;
          chain.count++;
        }
        count++;
      }
    const order = new Uint32Array(count);
    let at = 0;
    for (const [, ofHour] of [...hours].sort(([one], [other]) => one - other))
      for (const { first, count } of [...ofHour.values()].sort((one, other) => one.id - other.id))
        for (let left = count, place = first; left > 0; left--, place = next[place]!) order[at++] = place;
    return order;
  }

  /** Returns the parameter with a number, including its database key; undefined if the number is unknown. */
  #named(number: number, database: HistoryDatabase): KnownParameter | undefined {
    const known = this.#parameters[number];
    if (known?.id === 0) known.id = database.parameterId(known.address, known.type);
    return known;
  }

  /** Writes the next changes to one parameter as a block if at least two fit. Returns the number of changes written. */
  #writeBlock(database: HistoryDatabase, base: number, known: number): number {
    const order = this.#order!;
    if (this.#isAgain || this.#numberAt(this.#written) !== this.#numberAt(this.#written + 1)) return 0;
    const packing = this.#packing;
    let number = 0;
    let hour = 0;
    for (let at = this.#written; at < order.length; at++) {
      const place = order[at]!;
      const columns = this.columns[Math.floor(place / columnRows)]!;
      const row = place % columnRows;
      const time = Math.floor(columns.time[row]!);
      const { id, type } = this.#parameters[columns.parameter[row]!]!;
      if (at === this.#written) {
        number = columns.parameter[row]!;
        hour = Math.floor(time / hourMs);
        packing.begin(database.endOfBlocks(hour, id));
      } else if (columns.parameter[row] !== number || time >= (hour + 1) * hourMs) break;
      const value = packedValue(columns, row, type);
      const revision = base + columns.revision[row]!;
      const cause = columns.cause[row]!;
      const causeTime = cause === 0 ? 0 : columns.causeTime[row]!;
      const causeRevision = cause === 0 ? 0 : columns.causeRevision[row]!;
      if (value === undefined || revision <= known) break;
      if (!Number.isFinite(causeTime) || !Number.isFinite(causeRevision)) break;
      const isAdded = packing.add(
        time,
        revision,
        value,
        type === 'F',
        this.#writerIds[columns.writer[row]!]!,
        this.#writerIds[columns.source[row]!]!,
        cause === 0 ? 0 : this.#parameters[cause]!.id,
        Math.floor(causeTime),
        base + causeRevision,
      );
      if (!isAdded) break;
    }
    if (packing.count < 2) return 0;
    packing.end();
    const { id } = this.#parameters[number]!;
    database.addBlock(hour, id, packing);
    return packing.count;
  }

  /** Returns the number of the parameter in a row; undefined if there are no more rows. */
  #numberAt(at: number): number | undefined {
    const place = this.#order![at];
    return place === undefined
      ? undefined
      : this.columns[Math.floor(place / columnRows)]!.parameter[place % columnRows];
  }

  #write(database: HistoryDatabase, columns: Columns, row: number, base: number, known: number): void {
    const time = Math.floor(columns.time[row]!);
    const { id, type } = this.#parameters[columns.parameter[row]!]!;
    const revision = base + columns.revision[row]!;
    const mayBeInBlock = this.#isAgain || revision <= known;
    if (mayBeInBlock && database.isInBlock(Math.floor(time / hourMs), id, { time, revision })) return;
    const value = columns.value[row]!;
    const cause = columns.cause[row]!;
    database.addChange(
      Math.floor(time / hourMs),
      id,
      time,
      revision,
      type === 'F' ? value : type === 'S' ? storedText(columns.texts[value]!) : BigInt(value),
      this.#writerIds[columns.writer[row]!]!,
      this.#writerIds[columns.source[row]!]!,
      cause === 0 ? null : this.#parameters[cause]!.id,
      cause === 0 ? null : Math.floor(columns.causeTime[row]!),
      cause === 0 ? null : base + columns.causeRevision[row]!,
    );
  }
}

/**
 * Returns a value in the form in which a block stores it, with strings as JSON; undefined if SQLite would read a different value from the
 * block; the change then needs its own row.
 */
function packedValue({ value, texts }: Columns, row: number, type: ValueType): number | string | undefined {
  const stored = value[row]!;
  if (type === 'S') {
    const text = texts[stored]!;
    return text.includes('\0') || !text.isWellFormed() ? undefined : JSON.stringify(text);
  }
  const isFraction = type === 'F' && Number.isFinite(stored) && !Number.isInteger(stored);
  return isFraction || Number.isSafeInteger(stored) ? stored : undefined;
}
