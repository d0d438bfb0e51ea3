// Collects the values that changed since a revision. The hub keeps parameters in the order of their changes, so this needs no listener
// and no queue. Long values follow short ones, a few at a time, so a writer of many long values does not delay others.

import type { Parameter } from '../../../model/parameter.ts';
import { writerOf } from '../../../model/writer.ts';
import type { Parameters } from '../../hub-port.ts';
import type { ValueRow } from '../thread/values/values-messages.ts';
import type { CausesWriter } from './kept-causes.ts';

/** Bounds of one transaction. The next one writes the rest. */
const maxBatchValues = 10_000;
const maxBatchCharacters = 4 * 1024 * 1024;
/** Longer texts wait. One transaction writes up to `maxLongCharacters` of them. */
const longCharacters = 4096;
const maxLongCharacters = 512 * 1024;

/** Long values that are not on disk yet. Their writers take turns, so many values of one writer do not delay those of another. */
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

  /** Yields one value per writer, then a second one per writer, and so on. */
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
  /** The parameters of the values. */
  readonly parameters: readonly Parameter[];
  /** All changes up to this revision are in the batch or wait as long values. */
  readonly revision: number;
  /** Whether more values are waiting. */
  readonly isFull: boolean;
}

/**
 * Collects the newest value, with its causes, of each parameter that changed after the revision, oldest change first. Long values wait in
 * `long` until they are written; the caller then deletes them.
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

/** Returns whether the value is a default. Defaults are not kept, so an edited default takes effect. */
export function isDefault({ address, lastChange }: Parameter): boolean {
  const { kind, name, reportedBy } = lastChange!.origin;
  return kind === 'connection' && reportedBy === undefined && address.startsWith(`${name}/`);
}

/** Writes values as JSON: `[["desk/level","F",2.0,1795966000000,[{"kind":"client",…}]],…]`, `null` instead of unknown causes. */
export function recentRows(rows: readonly ValueRow[]): string {
  let text = '';
  for (const [address, type, value, time, causes] of rows) {
    const isWholeFloat = type === 'F' && Number.isSafeInteger(value);
    const json = typeof value === 'string' ? JSON.stringify(value) : isWholeFloat ? `${value}.0` : `${value}`;
    text += `${text === '' ? '[' : ','}[${JSON.stringify(address)},"${type}",${json},${time},${causes === '' ? 'null' : causes}]`;
  }
  return `${text}]`;
}
