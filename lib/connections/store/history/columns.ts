// Changes on their way to the disk, stored by column: the numbers are in one buffer, which is transferred between threads without copying
// and is returned for reuse.
import type { ClockJump } from '../../../model/time/wall-clock.ts';

/** The maximum number of changes in a buffer, and of UTF-16 code units in its strings. */
export const columnRows = 8000;
const columnUnits = 1_000_000;
/** The maximum number of buffers: the buffer in use, the waiting buffers and the buffers that the thread holds. */
const maxColumns = 25;
/** The maximum number of changes that may wait for the disk. Further changes are lost. */
export const maxWaitingChanges = columnRows * maxColumns;

const floats = 5;
const integers = 4;
const bufferBytes = columnRows * (floats * Float64Array.BYTES_PER_ELEMENT + integers * Uint32Array.BYTES_PER_ELEMENT);

/** A period in which changes were lost. The gaps in columns precede their changes. */
export interface Gap {
  readonly start: number;
  readonly end: number;
  readonly lost: number;
  readonly reason: string;
}

/** Columns in a message between threads. */
export interface HandedColumns {
  readonly buffer: ArrayBuffer;
  readonly length: number;
  readonly texts: readonly string[];
  readonly gaps: readonly Gap[];
}

/**
 * Parameters and writers are stored as numbers that the thread knows, or 0. Booleans are stored as 0 or 1, triggers as 1, and strings as
 * their index in `texts`.
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

// The bounded queue of changes that wait for the disk, stored in columns. When the queue is full, further changes are lost and become a
// gap.

/** The start of an ongoing loss, and the last revision before the loss. */
interface Losing {
  start: number;
  readonly revision: number;
  lost: number;
  /** The parts of the loss that precede a clock jump. */
  readonly earlier: Pick<Gap, 'start' | 'end' | 'lost'>[];
}

/** The maximum number of parts into which clock jumps split a loss. After this many jumps, the remaining loss is one part. */
const mostEarlier = 100;

export class ColumnQueue {
  /** The number of lost changes. */
  lost = 0;
  readonly #onHalfFull: () => void;
  #columns = new Columns();
  readonly #full: Columns[] = [];
  readonly #spare: ArrayBuffer[] = [];
  /** The number of columns that the thread currently holds. */
  #handed = 0;
  #losing: Losing | undefined;

  /** `onHalfFull` is called when it is time to send the changes. */
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

  /** Returns the columns in which to store a change; undefined if the queue is full and the change is lost. */
  roomFor(time: number, revision: number): Columns | undefined {
    if (this.#losing === undefined && (!this.#columns.isFull || this.#makeRoom())) return this.#columns;
    this.lost++;
    this.#losing ??= { start: time, revision: revision - 1, lost: 0, earlier: [] };
    this.#losing.lost++;
    return undefined;
  }

  /** Resumes recording after a loss if the queue has space again, and returns the last revision before the loss. */
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

  /** Handles a clock jump: ends an ongoing gap and starts another one at the new time. */
  jump({ before, after }: ClockJump): void {
    const losing = this.#losing;
    if (losing === undefined || losing.earlier.length === mostEarlier) return;
    losing.earlier.push({ start: losing.start, end: before, lost: losing.lost });
    losing.start = after;
    losing.lost = 0;
  }

  /** Takes all waiting changes, oldest first. The caller returns the buffers with `giveBack` later. */
  take(): readonly Columns[] {
    const isUsed = this.#columns.length + this.#columns.gaps.length > 0;
    if (isUsed) this.#begin();
    const columns = this.#full.splice(0).filter(({ length, gaps }) => length + gaps.length > 0);
    this.#handed += columns.length;
    return columns;
  }

  /** Takes buffers back for reuse. */
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
