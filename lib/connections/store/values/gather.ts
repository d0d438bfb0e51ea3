// Collects the values that have changed since a revision. The hub keeps parameters in the order of their changes, so neither a listener nor
// a queue is needed. Long values follow the short ones, a few at a time, so that a writer with many long values does not delay other
// writers.

import type { Parameter } from '../../../model/parameter.ts';
import { writerOf } from '../../../model/writer.ts';
import type { Parameters } from '../../hub-port.ts';
import type { ValueRow } from '../thread/values/values-messages.ts';
import type { CausesWriter } from './kept-causes.ts';

/** The maximum number of values in one transaction, and the maximum number of characters. The next transaction writes the rest. */
const maxBatchValues = 10_000;
const maxBatchCharacters = 4 * 1024 * 1024;
/**
 * The length above which a string has to wait, in characters. One transaction writes up to `maxLongCharacters` characters of long strings.
 */
const longCharacters = 4096;
const maxLongCharacters = 512 * 1024;

/** The long values that are not on disk yet. The writers take turns, so that a writer with many values does not delay other writers. */
export class LongValues {
  readonly #byWriter = new Map<string, Set<Parameter>>();
  readonly #writers = new Map<Parameter, string>();

  get size(): number {
    return this.#writers.size;
  }

  add(parameter: Parameter): void {
    const writer = writerOf(parameter.lastChange!);
    if (this.#writers.get(parameter) === writer) return;
    this.delete(parameter);
    const values = this.#byWriter.get(writer) ?? new Set();
    this.#byWriter.set(writer, values.add(parameter));
    this.#writers.set(parameter, writer);
  }

  delete(parameter: Parameter): void {
    const writer = this.#writers.get(parameter);
    if (writer === undefined) return;
    this.#writers.delete(parameter);
    const values = this.#byWriter.get(writer)!;
    values.delete(parameter);
    if (values.size === 0) this.#byWriter.delete(writer);
  }

  clear(): void {
    this.#writers.clear();
    this.#byWriter.clear();
  }

  /** Yields one value of each writer, then another value of each writer, and so on. */
  *inTurns(): Iterable<Parameter> {
    let turns = [...this.#byWriter.values()].map((values) => values.keys());
    while (turns.length > 0) {
      const next = turns.map((turn) => [turn, turn.next()] as const);
      for (const [, { value }] of next) if (value !== undefined) yield value;
      turns = next.filter(([, { done }]) => !done).map(([turn]) => turn);
    }
  }
}

export interface Gathered {
  readonly values: readonly ValueRow[];
  /** The parameters to which the values belong, in the same order. */
  readonly parameters: readonly Parameter[];
  /** The revision up to which all changes are in the batch, on disk, or waiting as long values. */
  readonly revision: number;
  /** Whether more values are waiting. */
  readonly isFull: boolean;
}

/**
 * Collects the newest value, with its causes, of each parameter that has changed after the revision `since`, oldest change first. Long
 * values wait in `long` until they are written; the caller then deletes them from `long`.
 */
export function gather(
  hub: Parameters,
  since: number,
  isKept: (parameter: Parameter) => boolean,
  writer: CausesWriter,
  long = new LongValues(),
): Gathered {
  const batch = new Batch(writer);
  for (const parameter of hub.changedSince(since)) {
    if (!isKept(parameter) || isDefault(parameter)) continue;
    const { value, lastChange } = parameter;
    if (typeof value === 'string' && value.length > longCharacters) {
      long.add(parameter);
      continue;
    }
    batch.add(parameter);
    if (batch.isFull) return { ...batch.gathered, revision: lastChange!.revision, isFull: true };
  }
  const most = batch.characters + maxLongCharacters;
  let left = long.size;
  for (const parameter of long.inTurns()) {
    if (batch.characters >= most || batch.isFull) break;
    left--;
    if (isKept(parameter) && !isDefault(parameter)) batch.add(parameter);
    else long.delete(parameter);
  }
  return { ...batch.gathered, revision: hub.revision, isFull: left > 0 };
}

class Batch {
  characters = 0;
  readonly #writer: CausesWriter;
  readonly #values: ValueRow[] = [];
  readonly #parameters: Parameter[] = [];

  constructor(writer: CausesWriter) {
    this.#writer = writer;
  }

  get isFull(): boolean {
    return this.#values.length >= maxBatchValues || this.characters >= maxBatchCharacters;
  }

  get gathered(): Pick<Gathered, 'values' | 'parameters'> {
    return { values: this.#values, parameters: this.#parameters };
  }

  add(parameter: Parameter): void {
    const row = rowOf(parameter, this.#writer);
    const [address, , value, , causes] = row;
    this.#values.push(row);
    this.#parameters.push(parameter);
    this.characters += address.length + causes.length + (typeof value === 'string' ? value.length : 0);
  }
}

/** Returns the value of a parameter as a row. The parameter must have a value. */
export function rowOf({ address, type, value, lastChange }: Parameter, writer: CausesWriter): ValueRow {
  return [address, type, value!, Math.trunc(lastChange!.time), writer.write(lastChange!)];
}

/** Returns whether the value of a parameter is a default. Defaults are not stored, so that an edited default takes effect. */
export function isDefault({ address, lastChange }: Parameter): boolean {
  const { kind, name, reportedBy } = lastChange!.origin;
  return kind === 'connection' && reportedBy === undefined && address.startsWith(`${name}/`);
}

/** Encodes values as JSON: `[["desk/level","F",2.0,1795966000000,[{"kind":"client",…}]],…]`, with `null` for unknown causes. */
export function recentRows(rows: readonly ValueRow[]): string {
  let text = '';
  for (const [address, type, value, time, causes] of rows) {
    const isWholeFloat = type === 'F' && Number.isSafeInteger(value);
    const json = typeof value === 'string' ? JSON.stringify(value) : isWholeFloat ? `${value}.0` : `${value}`;
    text += `${text === '' ? '[' : ','}[${JSON.stringify(address)},"${type}",${json},${time},${causes === '' ? 'null' : causes}]`;
  }
  return `${text}]`;
}
