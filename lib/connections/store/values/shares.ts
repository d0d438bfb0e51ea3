// Counts the space that each writer's values take. The count begins when the space is used up. From then on, some values of the largest
// writer are not stored, whereas all values of smaller writers are.

import { groupDigits } from '../../../model/digits.ts';
import type { Parameter } from '../../../model/parameter.ts';
import { writerOf } from '../../../model/writer.ts';
import type { ValueRow } from '../thread/values/values-messages.ts';

/** The share of the budget to which the values of the largest writer are reduced, so that there is space for further values. */
const lessShare = 0.95;
/**
 * The share of the database below which the budget never shrinks. The budget shrinks while the database is full, because snapshots and
 * memories take the rest.
 */
const leastShare = 0.2;
/** The share of the budget below which there is plenty of space, so that counting ends. */
const plentyShare = 0.8;

/** The maximum number of writers that the message names. */
const shownWriters = 3;
/** The maximum number of refused values per writer that `fitting` examines. */
const lookedAt = 100;

/** The size of a row without its strings, in bytes. A row that is larger than `longBytes` takes whole pages. */
const rowBytes = 48;
const pageBytes = 4096;
const longBytes = 1000;

export class ValueShares {
  readonly #maxBytes: number;
  #budget: number;
  readonly #kept = new Holdings();
  readonly #refused = new Holdings();
  /** The number of values refused so far. */
  refusals = 0;

  /** `maxBytes` is the maximum size of the database, in bytes. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#budget = maxBytes;
  }

  /** Yields the writers of values that are not stored, with the number of these values. */
  *refused(): Iterable<readonly [writer: string, values: number]> {
    for (const [writer, { values }] of this.#refused.byWriter) yield [writer, values.size];
  }

  /** Whether all values are stored and there is plenty of space for more. */
  get isPlenty(): boolean {
    return this.#refused.bytes === 0 && this.#kept.bytes < this.#budget * plentyShare;
  }

  /** The message for operators about values that are not stored; undefined if all values are stored. */
  get text(): string | undefined {
    const all = [...this.#refused.byWriter].sort(([, one], [, other]) => other.bytes - one.bytes);
    if (all.length === 0) return undefined;
    const reported = all
      .slice(0, shownWriters)
      .map(([writer, { values, bytes }]) => `${groupDigits(values.size)} of ${writer} (${Math.ceil(bytes / 1e6)} MB)`);
    const more = all.length > shownWriters ? ` and of ${all.length - shownWriters} more` : '';
    return `values are not stored, because their writers use most of the space: ${reported.join(', ')}${more}`;
  }

  isRefused(parameter: Parameter): boolean {
    return this.#refused.writerOf(parameter) !== undefined;
  }

  /** Removes the value of a parameter, which may free space for other values. */
  forget(parameter: Parameter): void {
    this.#refused.delete(parameter);
    this.#kept.delete(parameter);
    this.#budget = this.#maxBytes;
  }

  /**
   * Counts a value before it is written. Returns the parameters whose values are no longer stored: either this parameter or some parameters
   * of the largest writer.
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

  /** Returns the parameters of refused values that fit again, with at most `maxBytes` in total. */
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

  /** Reduces the budget because the database was full. Returns the parameters whose values are no longer stored. */
  shrink(): readonly Parameter[] {
    const gone: Parameter[] = [];
    this.#budget = Math.max(Math.min(this.#budget, this.#kept.bytes) * lessShare, this.#maxBytes * leastShare);
    while (this.#kept.bytes > this.#budget) this.#takeFromLargest(gone);
    return gone;
  }

  /**
   * Refuses the largest values of the largest writer until there is some space or another writer is larger. Adds their parameters to
   * `gone`.
   */
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

/** The values of each writer, with their sizes in bytes. */
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

  /** Removes a value and returns its size in bytes; 0 if there was no value. */
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

  /** Returns the writer whose values take the most space. There must be at least one writer. */
  largest() {
    let largest = this.byWriter.entries().next().value!;
    for (const one of this.byWriter) if (one[1].bytes > largest[1].bytes) largest = one;
    return largest;
  }
}

/** Returns the approximate size of a row in the database, in bytes. */
function bytesOf([address, , value, , causes]: ValueRow): number {
  const text = typeof value === 'string' ? Buffer.byteLength(value) : 8;
  const bytes = Buffer.byteLength(address) + text + causes.length + rowBytes;
  return bytes <= longBytes ? bytes : longBytes + Math.ceil((bytes - longBytes) / pageBytes) * pageBytes;
}
