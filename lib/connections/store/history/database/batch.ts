// A batch of changes on the history thread. It writes them in the order of the table, so that each page is written once.

import { isTime } from '../../../../model/time/iso-time.ts';
import type { ValueType } from '../../../../model/value.ts';
import { storedText } from '../../thread/database/read-rows.ts';
import { giveWay } from '../../thread/give-way.ts';
import { Columns, columnRows } from '../columns.ts';
import type { Changes, JumpRow, WriterRow } from '../history-messages.ts';
import { hourMs } from '../history-tables.ts';
import type { HistoryDatabase } from './history-database.ts';

/** The parameter of a number in columns. */
export interface KnownParameter {
  readonly address: string;
  readonly type: ValueType;
  readonly rule: number;
  /** Its key in the database, 0: not known yet. */
  id: number;
}

/** Keys of parameters are smaller than this. */
const mostParameters = 2 ** 30;

export class Batch {
  readonly columns: readonly Columns[];
  readonly until: number;
  readonly jumps: readonly JumpRow[];
  readonly #writers: readonly WriterRow[];
  readonly #parameters: readonly (KnownParameter | undefined)[];
  /** Returns whether the single changes of a rule are kept. */
  readonly #isKept: (rule: number) => boolean;
  #writerIds: number[] = [];
  /** The rows in the order of the table. A row is the index of its columns times `columnRows`, plus its index within them. */
  #order: Uint32Array | undefined;
  #written = 0;

  /** `parameters` by their numbers. */
  constructor(
    { columns, writers, until, jumps = [] }: Changes,
    parameters: readonly (KnownParameter | undefined)[],
    isKept: (rule: number) => boolean,
  ) {
    this.columns = columns.map((one) => Columns.handed(one));
    this.until = until;
    this.jumps = jumps;
    this.#writers = writers;
    this.#parameters = parameters;
    this.#isKept = isKept;
  }

  /** The number of rows written. */
  get written(): number {
    return this.#written;
  }

  get isWritten(): boolean {
    return this.#written === this.#order?.length;
  }

  /** The greatest revision of its changes; 0: it has no changes. */
  get lastRevision(): number {
    return this.columns.reduce(
      (last, { revision, length }) => Math.max(last, ...(length > 0 ? [revision[length - 1]!] : [])),
      0,
    );
  }

  /** Resets to `written` rows after a rollback. The names of the transaction are lost too. */
  goBack(written: number): void {
    this.#order = undefined;
    this.#written = written;
    for (const known of this.#parameters) if (known !== undefined) known.id = 0;
  }

  /**
   * Writes the next rows within a transaction: at most `rows`, of at most `parameters`, since each parameter takes separate pages. `base`
   * is added to revisions.
   */
  writeSome(database: HistoryDatabase, rows: number, parameters: number, base: number): void {
    this.#order ??= this.#prepare(database);
    const last = Math.min(this.#order.length, this.#written + rows);
    let parameter = 0;
    let met = 0;
    for (; this.#written < last; this.#written++) {
      giveWay();
      const place: number = this.#order[this.#written]!;
      const columns = this.columns[Math.floor(place / columnRows)]!;
      const row = place % columnRows;
      if (columns.parameter[row] !== parameter && ++met > parameters) return;
      parameter = columns.parameter[row]!;
      try {
        this.#write(database, columns, row, base);
      } catch (error) {
        database.leftOut.note(this.#parameters[parameter]!.address, error);
      }
    }
  }

  /** Calls `add` with the changes of columns in their original order. The value of texts and triggers is NaN. */
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

  /** Finds the keys of all parameters and writers, and sorts the rows. */
  #prepare(database: HistoryDatabase): Uint32Array {
    this.#writerIds = [0, ...this.#writers.map(([kind, name, file]) => database.writerId(kind, name, file))];
    const places = new Map<number, number[]>();
    for (const [index, { parameter, cause, time, length }] of this.columns.entries())
      for (let row = 0, place = index * columnRows; row < length; row++, place++) {
        giveWay();
        const known = this.#named(parameter[row]!, database);
        if (cause[row] !== 0 && this.#named(cause[row]!, database) === undefined) cause[row] = 0;
        if (known === undefined || !isTime(Math.floor(time[row]!))) {
          database.leftOut.note(known?.address ?? 'a parameter', new RangeError(`a change at ${time[row]}`));
          continue;
        }
        if (!this.#isKept(known.rule)) continue;
        const key = Math.floor(time[row]! / hourMs) * mostParameters + known.id;
        const same = places.get(key);
        if (same === undefined) places.set(key, [place]);
        else same.push(place);
      }
    const keys = [...places.keys()].sort((a, b) => a - b);
    return Uint32Array.from(keys.flatMap((key) => places.get(key)!));
  }

  /** Returns a parameter with its key; undefined: the number is unknown. */
  #named(number: number, database: HistoryDatabase): KnownParameter | undefined {
    const known = this.#parameters[number];
    if (known?.id === 0) known.id = database.parameterId(known.address, known.type);
    return known;
  }

  #write(database: HistoryDatabase, columns: Columns, row: number, base: number): void {
    const time = Math.floor(columns.time[row]!);
    const { id, type } = this.#parameters[columns.parameter[row]!]!;
    const value = columns.value[row]!;
    const cause = columns.cause[row]!;
    database.addChange(
      Math.floor(time / hourMs),
      id,
      time,
      base + columns.revision[row]!,
      type === 'F' ? value : type === 'S' ? storedText(columns.texts[value]!) : BigInt(value),
      this.#writerIds[columns.writer[row]!]!,
      this.#writerIds[columns.source[row]!]!,
      cause === 0 ? null : this.#parameters[cause]!.id,
      cause === 0 ? null : Math.floor(columns.causeTime[row]!),
      cause === 0 ? null : base + columns.causeRevision[row]!,
    );
  }
}
