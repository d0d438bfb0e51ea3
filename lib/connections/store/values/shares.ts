// Who takes how much of the room for values. While there is enough nobody counts. Once it is used up, whoever takes most gives way: a
// writer of long texts loses some of its own, and nobody who takes less loses any.

import { groupDigits } from '../../../model/digits.ts';
import type { Parameter } from '../../../model/parameter.ts';
import { writerOf } from '../../../model/writer.ts';
import type { ValueRow } from '../thread/values/values-messages.ts';

/** Whoever gives way does so until values take this share of what they may: then there is room for the next ones. */
const lessShare = 0.95;
/** When the database was full all the same, values may take less, down to this share of it: snapshots and memories have the rest. */
const leastShare = 0.2;
/** As long as values take less than this share nobody has to be counted. */
const plentyShare = 0.8;

/** How many writers are shown. */
const shownWriters = 3;
/** How many values of a writer that have no room are looked at, whether they have now. */
const lookedAt = 100;

/** What a row takes beside its texts; a long one takes whole pages. */
const rowBytes = 48;
const pageBytes = 4096;
const longBytes = 1000;

export class ValueShares {
  readonly #maxBytes: number;
  #budget: number;
  readonly #kept = new Holdings();
  readonly #refused = new Holdings();
  /** How often a value was refused. */
  refusals = 0;

  /** `maxBytes` is how large the database may become. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#budget = maxBytes;
  }

  /** Whose values are not kept, and how many. */
  *refused(): Iterable<readonly [writer: string, values: number]> {
    for (const [writer, { values }] of this.#refused.byWriter) yield [writer, values.size];
  }

  /** Whether all values are kept, and there is room for more. */
  get isPlenty(): boolean {
    return this.#refused.bytes === 0 && this.#kept.bytes < this.#budget * plentyShare;
  }

  /** The sentence for operators; undefined: all values are kept. */
  get text(): string | undefined {
    const all = [...this.#refused.byWriter].sort(([, one], [, other]) => other.bytes - one.bytes);
    if (all.length === 0) return undefined;
    const reported = all
      .slice(0, shownWriters)
      .map(([writer, { values, bytes }]) => `${groupDigits(values.size)} of ${writer} (${Math.ceil(bytes / 1e6)} MB)`);
    const more = all.length > shownWriters ? ` and of ${all.length - shownWriters} more` : '';
    return `values are not kept, as who wrote them takes most of the room: ${reported.join(', ')}${more}`;
  }

  isRefused(parameter: Parameter): boolean {
    return this.#refused.writerOf(parameter) !== undefined;
  }

  /** The parameter is no more: there may be room again. */
  forget(parameter: Parameter): void {
    this.#refused.delete(parameter);
    this.#kept.delete(parameter);
    this.#budget = this.#maxBytes;
  }

  /**
   * Counts a value that is to be written. Returns the parameters whose values are not kept from now on: this one, or some of who takes most
   * of the room.
   */
  put(parameter: Parameter, row: ValueRow): readonly Parameter[] {
    const writer = writerOf(parameter.lastChange!);
    this.#refused.delete(parameter);
    this.#kept.delete(parameter);
    this.#kept.add(parameter, writer, bytesOf(row));
    const gone: Parameter[] = [];
    while (this.#kept.bytes > this.#budget) {
      if (this.#kept.largest()[0] !== writer) this.#takeFromLargest(gone);
      else {
        this.#refuse(parameter, gone);
        break;
      }
    }
    return gone;
  }

  /** Some values that are not kept, and for which there is room again: so many bytes at most, or one. */
  fitting(maxBytes: number): readonly Parameter[] {
    const fitting: Parameter[] = [];
    let free = Math.min(maxBytes, this.#budget * lessShare - this.#kept.bytes);
    for (const { values } of this.#refused.byWriter.values()) {
      let looked = 0;
      for (const [parameter, bytes] of values) {
        if (free <= 0 || ++looked > lookedAt) break;
        if (bytes > free) continue;
        free -= bytes;
        fitting.push(parameter);
      }
    }
    return fitting;
  }

  /** The database was full: values take less from now on. Returns the parameters whose values are not kept any more. */
  shrink(): readonly Parameter[] {
    const gone: Parameter[] = [];
    this.#budget = Math.max(Math.min(this.#budget, this.#kept.bytes) * lessShare, this.#maxBytes * leastShare);
    while (this.#kept.bytes > this.#budget) this.#takeFromLargest(gone);
    return gone;
  }

  /** Refuses the largest values of who takes most, until there is some room, or somebody else takes more. */
  #takeFromLargest(gone: Parameter[]): void {
    const [writer, holding] = this.#kept.largest();
    let second = 0;
    for (const [one, { bytes }] of this.#kept.byWriter) if (one !== writer && bytes > second) second = bytes;
    for (const [parameter] of [...holding.values].sort(([, one], [, other]) => other - one)) {
      this.#refuse(parameter, gone);
      if (this.#kept.bytes <= this.#budget * lessShare || holding.bytes < second) return;
    }
  }

  #refuse(parameter: Parameter, gone: Parameter[]): void {
    const writer = this.#kept.writerOf(parameter)!;
    this.#refused.add(parameter, writer, this.#kept.delete(parameter));
    this.refusals++;
    gone.push(parameter);
  }
}

/** Values by who wrote them, with how much each takes. */
class Holdings {
  readonly byWriter = new Map<string, { bytes: number; readonly values: Map<Parameter, number> }>();
  readonly #writers = new Map<Parameter, string>();
  bytes = 0;

  writerOf(parameter: Parameter): string | undefined {
    return this.#writers.get(parameter);
  }

  add(parameter: Parameter, writer: string, bytes: number): void {
    const holding = this.byWriter.get(writer) ?? { bytes: 0, values: new Map() };
    this.byWriter.set(writer, holding);
    holding.values.set(parameter, bytes);
    holding.bytes += bytes;
    this.bytes += bytes;
    this.#writers.set(parameter, writer);
  }

  /** Returns how much it took; 0: it was not there. */
  delete(parameter: Parameter): number {
    const writer = this.#writers.get(parameter);
    if (writer === undefined) return 0;
    const holding = this.byWriter.get(writer)!;
    const bytes = holding.values.get(parameter)!;
    holding.values.delete(parameter);
    holding.bytes -= bytes;
    this.bytes -= bytes;
    if (holding.values.size === 0) this.byWriter.delete(writer);
    this.#writers.delete(parameter);
    return bytes;
  }

  /** Who takes most; there is somebody. */
  largest() {
    let largest = this.byWriter.entries().next().value!;
    for (const one of this.byWriter) if (one[1].bytes > largest[1].bytes) largest = one;
    return largest;
  }
}

/** What a row takes in the database, about. */
function bytesOf([address, , value, , causes]: ValueRow): number {
  const text = typeof value === 'string' ? Buffer.byteLength(value) : 8;
  const bytes = Buffer.byteLength(address) + text + causes.length + rowBytes;
  return bytes <= longBytes ? bytes : longBytes + Math.ceil((bytes - longBytes) / pageBytes) * pageBytes;
}
