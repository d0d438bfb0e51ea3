// Changes on their way to the disk, column by column: numbers in one buffer that goes from thread to thread without being copied,
// and back to be used again.

/** How many changes one buffer holds, and how many UTF-16 code units of texts go with it. */
export const columnRows = 8000;
const columnUnits = 1_000_000;
/** How many buffers there are at most: those that are filled, that wait, and that the thread has. */
export const maxColumns = 25;
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
