// The numbers that stand for parameters and writers in columns, and what the thread has yet to be told of them.

import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import { writerName } from '../../../model/writer.ts';
import type { Changes, ParameterRow, WriterRow } from './messages.ts';

/** A chain of causes is longer than this only when something is wrong with it; the graph keeps fewer. */
const longestChain = 256;

export class Numbering {
  #parameterRows: ParameterRow[] = [];
  #writerRows: WriterRow[] = [];
  readonly #writers = new Map<Origin, number>();
  /** Numbers of parameters that are no more: they may be used again once the thread has what was recorded of them. */
  #retired: number[] = [];
  readonly #free: number[] = [];
  #numbers = 0;

  /** Gives a parameter a number; `rule` is the place of its rule, -1: it is not recorded. */
  name({ address, type }: Parameter, rule: number): number {
    const number = this.#free.pop() ?? ++this.#numbers;
    this.#parameterRows.push([number, address, type, rule]);
    return number;
  }

  /** The parameter of this number is no more. */
  retire(number: number): void {
    this.#retired.push(number);
  }

  /** The number of a writer, until names are taken. */
  numberOf(origin: Origin): number {
    return this.#writers.get(origin) ?? this.#nameWriter(origin);
  }

  /** The number of who wrote the first change of a chain. */
  numberOfSource(change: Change): number {
    let first = change;
    for (let link = 0; first.cause !== undefined && link < longestChain; link++) first = first.cause;
    return this.numberOf(first.origin);
  }

  /** What the thread has to be told, together with everything that was recorded up to now. */
  take(): Pick<Changes, 'parameters' | 'writers'> {
    const names = { parameters: this.#parameterRows, writers: this.#writerRows };
    this.#parameterRows = [];
    this.#writerRows = [];
    this.#writers.clear();
    this.#free.push(...this.#retired.splice(0));
    return names;
  }

  #nameWriter(origin: Origin): number {
    const number = this.#writerRows.push([origin.kind, writerName(origin), origin.file ?? '']);
    this.#writers.set(origin, number);
    return number;
  }
}
