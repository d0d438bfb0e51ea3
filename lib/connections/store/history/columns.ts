// Changes on their way to the disk, column by column: numbers in one buffer that goes from thread to thread without being copied,
// and back to be used again.
import type { ClockJump } from '../../../model/time/wall-clock.ts';

/** How many changes one buffer holds, and how many UTF-16 code units of texts go with it. */
export const columnRows = 8000;
const columnUnits = 1_000_000;
/** How many buffers there are at most: those that are filled, that wait, and that the thread has. */
const maxColumns = 25;
/** So many changes wait for the disk at most; what comes then is lost. */
export const maxWaitingChanges = columnRows * maxColumns;

const floats = 5;
const integers = 4;
const bufferBytes = columnRows * (floats * Float64Array.BYTES_PER_ELEMENT + integers * Uint32Array.BYTES_PER_ELEMENT);

/** What was not recorded before the first of the changes. */
export interface Gap {
  readonly start: number;
  readonly end: number;
  readonly lost: number;
  readonly reason: string;
}

/** Columns as threads hand them to each other. */
export interface HandedColumns {
  readonly buffer: ArrayBuffer;
  readonly length: number;
  readonly texts: readonly string[];
  readonly gaps: readonly Gap[];
}

/**
 * Parameters and writers are numbers that the thread was told, 0: none. The value of a boolean is 0 or 1, of a trigger 1, of a text
 * its place in `texts`.
 */
export class Columns {
  readonly buffer: ArrayBuffer;
  readonly time: Float64Array;
  readonly revision: Float64Array;
  readonly value: Float64Array;
  readonly causeTime: Float64Array;
  readonly causeRevision: Float64Array;
  readonly parameter: Uint32Array;
  readonly writer: Uint32Array;
  readonly source: Uint32Array;
  readonly cause: Uint32Array;
  texts: string[] = [];
  length = 0;
  gaps: readonly Gap[] = [];
  #units = 0;

  constructor(buffer = new ArrayBuffer(bufferBytes)) {
    this.buffer = buffer;
    let offset = 0;
    const column = <Kind extends Float64Array | Uint32Array>(kind: {
      new (buffer: ArrayBuffer, offset: number, length: number): Kind;
      readonly BYTES_PER_ELEMENT: number;
    }): Kind => {
      const from = offset;
      offset += columnRows * kind.BYTES_PER_ELEMENT;
      return new kind(buffer, from, columnRows);
    };
    this.time = column(Float64Array);
    this.revision = column(Float64Array);
    this.value = column(Float64Array);
    this.causeTime = column(Float64Array);
    this.causeRevision = column(Float64Array);
    this.parameter = column(Uint32Array);
    this.writer = column(Uint32Array);
    this.source = column(Uint32Array);
    this.cause = column(Uint32Array);
  }

  static handed({ buffer, length, texts, gaps }: HandedColumns): Columns {
    const columns = new Columns(buffer);
    columns.length = length;
    columns.texts = texts as string[];
    columns.gaps = gaps;
    return columns;
  }

  get isFull(): boolean {
    return this.length === columnRows || this.#units >= columnUnits;
  }

  /** Returns the place of the text. */
  addText(text: string): number {
    this.#units += text.length;
    return this.texts.push(text) - 1;
  }

  hand(): HandedColumns {
    const { buffer, length, texts, gaps } = this;
    return { buffer, length, texts, gaps };
  }
}

// Changes that wait for the disk, in columns, up to a bound. What comes while there is no room is lost, and becomes a gap.

/** Since when changes are lost, and which revision was the last that is not. */
interface Losing {
  start: number;
  readonly revision: number;
  lost: number;
  /** The times before the clock jumped meanwhile. */
  readonly earlier: Pick<Gap, 'start' | 'end' | 'lost'>[];
}

/** A clock that jumps again and again while changes are lost has the times before it told as one from here on. */
const mostEarlier = 100;

export class ColumnQueue {
  /** How many changes were lost. */
  lost = 0;
  readonly #onHalfFull: () => void;
  #columns = new Columns();
  readonly #full: Columns[] = [];
  readonly #spare: ArrayBuffer[] = [];
  /** How many columns the thread has. */
  #handed = 0;
  #losing: Losing | undefined;

  /** `onHalfFull` is called when it is time to hand over. */
  constructor(onHalfFull: () => void) {
    this.#onHalfFull = onHalfFull;
  }

  /** Whether nothing waits here, and nothing was lost that is not told yet. */
  get isEmpty(): boolean {
    return this.#full.length === 0 && this.#columns.length === 0 && this.#losing === undefined;
  }

  get isLosing(): boolean {
    return this.#losing !== undefined;
  }

  get isHalfFull(): boolean {
    return this.#full.length >= maxColumns / 2;
  }

  /** The columns that a change is to be written to; undefined: there is no room, it is lost. */
  roomFor(time: number, revision: number): Columns | undefined {
    if (this.#losing === undefined && (!this.#columns.isFull || this.#makeRoom())) return this.#columns;
    this.lost++;
    this.#losing ??= { start: time, revision: revision - 1, lost: 0, earlier: [] };
    this.#losing.lost++;
    return undefined;
  }

  /** Goes on after changes were lost, if there is room again: returns the last revision that was not. */
  goOn(now: number, reason: string): number | undefined {
    const losing = this.#losing;
    if (losing === undefined || this.#handed + this.#full.length > maxColumns / 2) return undefined;
    const { start, lost, revision, earlier } = losing;
    this.#begin();
    const all = [...earlier, { start, end: now, lost }];
    this.#columns.gaps = all.map(({ start, end, lost }) => ({ start, end: Math.max(start, end), lost, reason }));
    this.#losing = undefined;
    return revision;
  }

  /** The clock has jumped: a gap that is open ends, and goes on at the new time. */
  jump({ before, after }: ClockJump): void {
    const losing = this.#losing;
    if (losing === undefined || losing.earlier.length === mostEarlier) return;
    losing.earlier.push({ start: losing.start, end: before, lost: losing.lost });
    losing.start = after;
    losing.lost = 0;
  }

  /** Takes everything that waits, oldest first. The buffers come back later. */
  take(): readonly Columns[] {
    const isUsed = this.#columns.length + this.#columns.gaps.length > 0;
    if (isUsed) this.#begin();
    const columns = this.#full.splice(0).filter(({ length, gaps }) => length + gaps.length > 0);
    this.#handed += columns.length;
    return columns;
  }

  /** Takes buffers back. */
  giveBack(buffers: readonly ArrayBuffer[]): void {
    this.#handed -= buffers.length;
    this.#spare.push(...buffers);
    this.#spare.splice(3);
  }

  #makeRoom(): boolean {
    if (this.#full.length + this.#handed + 1 >= maxColumns) return false;
    this.#begin();
    if (this.isHalfFull) this.#onHalfFull();
    return true;
  }

  #begin(): void {
    this.#full.push(this.#columns);
    this.#columns = new Columns(this.#spare.pop());
  }
}
