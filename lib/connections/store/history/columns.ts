// Changes on their way to the disk, stored by column: the numbers are in one buffer, which is transferred between threads without copying
// and is returned for reuse.
import type { ClockJump } from '../../../model/time/wall-clock.ts';

/** The maximum number of changes in a buffer, and the maximum number of UTF-16 code units in its strings. */
export const columnRows = 8000;
const columnUnits = 1_000_000;
/** The maximum number of buffers: the buffer that is being filled, the waiting buffers and the buffers that the thread holds. */
const maxColumns = 25;
/** The maximum number of changes that may wait for the disk. Further changes are lost. */
export const maxWaitingChanges = columnRows * maxColumns;

const floats = 5;
const integers = 4;
const bufferBytes = columnRows * (floats * Float64Array.BYTES_PER_ELEMENT + integers * Uint32Array.BYTES_PER_ELEMENT);

/** A period in which changes were lost. The gaps in `Columns` precede the changes there. */
export interface Gap {
  readonly start: number;
  readonly end: number;
  readonly lost: number;
  readonly reason: string;
}

/** The contents of `Columns` in a message between threads. */
export interface HandedColumns {
  readonly buffer: ArrayBuffer;
  readonly length: number;
  readonly texts: readonly string[];
  readonly gaps: readonly Gap[];
}

/**
 * Changes, one column per property. Parameters and writers are stored as numbers that the thread knows, or 0. Booleans are stored as 0 or
 * 1, triggers as 1, and strings as their index in `texts`.
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

  /** Adds a string to `texts` and returns its index. */
  addText(text: string): number {
    this.#units += text.length;
    return this.texts.push(text) - 1;
  }

  hand(): HandedColumns {
    const { buffer, length, texts, gaps } = this;
    return { buffer, length, texts, gaps };
  }
}

// The bounded queue of changes that wait for the disk. When the queue is full, further changes are lost and become a gap.

/** An ongoing loss of changes: its start, the last revision before it, and the number of lost changes. */
interface Losing {
  start: number;
  readonly revision: number;
  lost: number;
  /** The parts of the loss that were ended by a clock jump. */
  readonly earlier: Pick<Gap, 'start' | 'end' | 'lost'>[];
}

/** The maximum number of parts that clock jumps split off from a loss. Afterwards, the rest of the loss is one part. */
const mostEarlier = 100;

export class ColumnQueue {
  /** The number of changes lost since the start. */
  lost = 0;
  readonly #onHalfFull: () => void;
  #columns = new Columns();
  readonly #full: Columns[] = [];
  readonly #spare: ArrayBuffer[] = [];
  /** The number of buffers that the thread currently holds. */
  #handed = 0;
  #losing: Losing | undefined;

  /** `onHalfFull` is called when so many changes are waiting that they should be sent to the thread. */
  constructor(onHalfFull: () => void) {
    this.#onHalfFull = onHalfFull;
  }

  /** Whether there are neither waiting changes nor unreported losses. */
  get isEmpty(): boolean {
    return this.#full.length === 0 && this.#columns.length === 0 && this.#losing === undefined;
  }

  get isLosing(): boolean {
    return this.#losing !== undefined;
  }

  get isHalfFull(): boolean {
    return this.#full.length >= maxColumns / 2;
  }

  /** Returns the columns to which a change can be added; undefined if the queue is full and the change is lost. */
  roomFor(time: number, revision: number): Columns | undefined {
    if (this.#losing === undefined && (!this.#columns.isFull || this.#makeRoom())) return this.#columns;
    this.lost++;
    this.#losing ??= { start: time, revision: revision - 1, lost: 0, earlier: [] };
    this.#losing.lost++;
    return undefined;
  }

  /**
   * Ends a loss if the queue has space again, and returns the last revision before the loss; undefined if there is no loss or no space.
   * `reason` is the reason for the gap.
   */
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

  /** Splits an ongoing loss at a clock jump: the gap ends at the old time, and another gap begins at the new time. */
  jump({ before, after }: ClockJump): void {
    const losing = this.#losing;
    if (losing === undefined || losing.earlier.length === mostEarlier) return;
    losing.earlier.push({ start: losing.start, end: before, lost: losing.lost });
    losing.start = after;
    losing.lost = 0;
  }

  /** Removes and returns all waiting changes, oldest first. The caller later returns the buffers with `giveBack`. */
  take(): readonly Columns[] {
    const isUsed = this.#columns.length + this.#columns.gaps.length > 0;
    if (isUsed) this.#begin();
    const columns = this.#full.splice(0).filter(({ length, gaps }) => length + gaps.length > 0);
    this.#handed += columns.length;
    return columns;
  }

  /** Accepts buffers from `take` for reuse. */
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
