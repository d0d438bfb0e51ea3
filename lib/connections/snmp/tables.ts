// The walk through a table, such as the interfaces of a switch: a sequence of GetBulk requests, each for the next rows of all columns. The
// rows that are found become parameters; the parameters of rows that have disappeared are withdrawn.

import { parameterIdMistake } from '../../model/address.ts';
import {
  asked,
  compareOids,
  encodeVarbinds,
  errorSentence,
  type Pdu,
  tags,
  textOf,
  tooBig,
  type Varbind,
  verbs,
} from './message.ts';
import { type Item, maxParameters, rowItem, type Table } from './objects.ts';
import type { Job } from './writes.ts';

export interface TableEvents {
  /** Returns when an answer was created, in milliseconds. */
  time(upTime: Varbind | undefined): number;
  set(item: Item, varbind: Varbind, atMs: number): void;
  /** Reports the items that are new or have another label, and those that have disappeared. */
  rows(found: readonly (readonly [item: Item, label: string | undefined])[], gone: readonly Item[]): void;
  /** Reports why the table cannot be read; undefined if it can be read. */
  fault(sentence: string | undefined): void;
  turn(work: () => void): void;
  /** Continues the walk after the waiting requests. */
  read(reader: TableReader): void;
}

/** The maximum number of rows in an answer. */
const maxRepetitions = 50;
/** The object before the uptime, because a walk asks for the next object. */
const beforeUpTime = '1.3.6.1.2.1.1.3';

interface Walk {
  /** The index of the last row that each column has reported; '' before the first row, and undefined after the last row. */
  readonly cursors: (string | undefined)[];
  readonly rows: Map<string, (Varbind | undefined)[]>;
  atMs: number | undefined;
  isCut: boolean;
}

export class TableReader {
  readonly everyMs: number;
  readonly #table: Table;
  readonly #events: TableEvents;
  readonly #hasRates: boolean;
  readonly #maxObjects: number;
  /** The IDs of all parameters of the connection. */
  readonly #ids: Set<string>;
  readonly #items = new Map<string, { readonly item: Item; readonly label: string | undefined }>();
  #repetitions = maxRepetitions;
  #walk: Walk | undefined;
  /** Whether the table is waiting to be read, or is being read. */
  isQueued = false;

  constructor(table: Table, maxObjects: number, ids: Set<string>, events: TableEvents) {
    this.#table = table;
    this.everyMs = table.everyMs;
    this.#maxObjects = maxObjects;
    this.#ids = ids;
    this.#events = events;
    this.#hasRates = table.columns.some(({ draft }) => draft.settings.rate);
  }

  /** Forgets an unfinished walk. */
  restart(): void {
    this.#walk = undefined;
    this.isQueued = false;
    this.#repetitions = maxRepetitions;
  }

  /** Returns the next request of the walk. */
  job(): Job {
    const { columns } = this.#table;
    this.#walk ??= { cursors: columns.map(() => ''), rows: new Map(), atMs: undefined, isCut: false };
    const walk = this.#walk;
    const active = columns.flatMap((_, place) => (walk.cursors[place] === undefined ? [] : [place]));
    const oids = active.map((place) =>
      [columns[place]!.oid, walk.cursors[place]].filter((part) => part !== '').join('.'),
    );
    const others = this.#hasRates ? [beforeUpTime] : [];
    const repetitions = Math.max(1, Math.min(this.#repetitions, Math.floor(this.#maxObjects / active.length)));
    return {
      ...{
        verb: verbs.bulk,
        error: others.length,
        index: repetitions,
        list: encodeVarbinds(asked([...others, ...oids])),
      },
      take: (answer) => this.#take(walk, active, answer, repetitions),
      fail: () => this.restart(),
      ...(repetitions > 1 && { shrink: () => this.#shrink(walk, repetitions) }),
    };
  }

  #take(walk: Walk, active: readonly number[], { error, varbinds }: Pdu, repetitions: number): void {
    if (walk !== this.#walk) return;
    const { columns } = this.#table;
    if (error === tooBig && repetitions > 1) {
      this.#shrink(walk, repetitions);
      return;
    }
    if (error !== 0) {
      this.#end(`the device cannot list ${columns[active[0]!]!.oid}: ${errorSentence(error)}`);
      return;
    }
    const [upTime] = this.#hasRates ? varbinds : [];
    walk.atMs ??= this.#events.time(upTime);
    const cells = this.#hasRates ? varbinds.slice(1) : varbinds;
    for (const [index, varbind] of cells.entries()) {
      const place = active[index % active.length]!;
      const fault = this.#takeCell(walk, place, varbind);
      if (fault === undefined) continue;
      this.#end(fault);
      return;
    }
    if (cells.length > 0 && walk.cursors.some((cursor) => cursor !== undefined)) this.#events.read(this.#again());
    else this.#finish(walk);
  }

  #shrink(walk: Walk, repetitions: number): void {
    if (walk !== this.#walk) return;
    this.#repetitions = repetitions >> 1;
    this.#events.read(this.#again());
  }

  #again(): this {
    this.isQueued = false;
    return this;
  }

  /** Takes the next cell of a column. If the device does not list its objects in order, returns a sentence that says so. */
  #takeCell(walk: Walk, place: number, varbind: Varbind): string | undefined {
    const { columns, maxRows } = this.#table;
    const { cursors, rows } = walk;
    const start = `${columns[place]!.oid}.`;
    const cursor = cursors[place];
    if (cursor === undefined) return undefined; // the answer continues after the end of the column
    if (varbind.tag === tags.endOfMibView || !varbind.oid.startsWith(start)) {
      cursors[place] = undefined;
      return undefined;
    }
    const index = varbind.oid.slice(start.length);
    if (cursor !== '' && compareOids(index, cursor) <= 0)
      return `the device does not list ${columns[place]!.oid} in order: ${index} follows ${cursor}`;
    let row = rows.get(index);
    if (row === undefined && rows.size >= maxRows) {
      walk.isCut = true;
      cursors[place] = undefined;
      return undefined;
    }
    if (row === undefined) {
      row = Array.from({ length: columns.length });
      rows.set(index, row);
    }
    row[place] = varbind;
    cursors[place] = index;
    return undefined;
  }

  #end(fault: string | undefined): void {
    this.#walk = undefined;
    this.isQueued = false;
    this.#events.fault(fault);
  }

  #finish({ rows, atMs, isCut }: Walk): void {
    const { columns, labels, maxRows } = this.#table;
    const labelPlace = columns.findIndex(({ name }) => name === labels);
    const found: (readonly [Item, string | undefined])[] = [];
    const values: (readonly [Item, Varbind])[] = [];
    const there = new Set<string>();
    let fault = isCut ? `the table has more than ${maxRows} rows; further rows are left out` : undefined;
    for (const [index, cells] of rows) {
      const cell = cells[labelPlace];
      const label = cell?.tag === tags.octets ? textOf(cell.bytes) || undefined : undefined;
      for (const [place, varbind] of cells.entries()) {
        if (varbind === undefined) continue;
        const fresh = rowItem(this.#table, columns[place]!, index);
        const { id } = fresh;
        const known = this.#items.get(id);
        if (known === undefined) {
          const mistake = parameterIdMistake(id);
          const isFull = this.#ids.size >= maxParameters;
          if (mistake !== undefined || isFull || this.#ids.has(id)) {
            fault ??=
              mistake ??
              (isFull
                ? `expected at most ${maxParameters} parameters in the connection; further rows are left out`
                : `${id}: the tables define two parameters with this ID; the second one is left out`);
            continue;
          }
          this.#ids.add(id);
        }
        const item = known?.item ?? fresh;
        if (known === undefined || known.label !== label) {
          this.#items.set(id, { item, label });
          found.push([item, label]);
        }
        there.add(id);
        values.push([item, varbind]);
      }
    }
    const gone = [...this.#items.values()].flatMap(({ item }) => (there.has(item.id) ? [] : [item]));
    for (const { id } of gone) {
      this.#items.delete(id);
      this.#ids.delete(id);
    }
    this.#end(fault);
    if (found.length > 0 || gone.length > 0) this.#events.rows(found, gone);
    this.#events.turn(() => {
      for (const [item, varbind] of values) this.#events.set(item, varbind, atMs!);
    });
  }
}
