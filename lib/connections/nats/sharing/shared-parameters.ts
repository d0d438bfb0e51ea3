// The parameters that this hub shares, each with a number. Numbers are never given twice; when half of them are out of use, all are given
// anew under another epoch.

import { randomUUID } from 'node:crypto';
import type { Parameter } from '../../../model/parameter.ts';
import type { Definition } from '../wire/messages.ts';

/** So many numbers may be out of use before half of them are looked at. */
const leastUnused = 10_000;

export class SharedParameters {
  readonly #run: string;
  #generation = 0;
  #list: (Parameter | undefined)[] = [];
  #numbers = new Map<Parameter, number>();
  /** How often parameters have come or gone in this epoch. */
  structure = 0;

  /** `hub` names this run of the hub, which may share more than once: each time has numbers of its own. */
  constructor(hub: string) {
    this.#run = `${hub}.${randomUUID()}`;
  }

  /** Names the count of revisions and of numbers. */
  get epoch(): string {
    return `${this.#run}.${this.#generation}`;
  }

  /** Whether an epoch is one of these parameters, now or before all numbers were given anew. */
  isOwn(epoch: string): boolean {
    return epoch.startsWith(`${this.#run}.`);
  }

  get size(): number {
    return this.#numbers.size;
  }

  parameters(): Iterable<Parameter> {
    return this.#numbers.keys();
  }

  numberOf(parameter: Parameter): number | undefined {
    return this.#numbers.get(parameter);
  }

  at(number: number): Parameter | undefined {
    return this.#list[number];
  }

  add(parameter: Parameter): Definition {
    const number = this.#list.push(parameter) - 1;
    this.#numbers.set(parameter, number);
    return definitionOf(number, parameter);
  }

  /** Takes a parameter out; returns its number, undefined if it was not shared. */
  delete(parameter: Parameter): number | undefined {
    const number = this.#numbers.get(parameter);
    if (number === undefined) return undefined;
    this.#numbers.delete(parameter);
    this.#list[number] = undefined;
    return number;
  }

  /** Gives all numbers anew when too many are out of use; returns whether it did. */
  tidy(): boolean {
    const unused = this.#list.length - this.#numbers.size;
    if (unused < leastUnused || unused < this.#numbers.size) return false;
    this.#list = [...this.#numbers.keys()];
    this.#numbers = new Map(this.#list.map((parameter, number) => [parameter!, number]));
    this.#generation++;
    this.structure = 0;
    return true;
  }

  /** Definitions from a number on, so many bytes of them at least, and where the next ones begin. */
  page(from: number, bytes: number): { definitions: Definition[]; next: number | undefined } {
    const definitions: Definition[] = [];
    let length = 0;
    for (let number = from; number < this.#list.length; number++) {
      const parameter = this.#list[number];
      if (parameter === undefined) continue;
      if (length > bytes) return { definitions, next: number };
      definitions.push(definitionOf(number, parameter));
      length += Buffer.byteLength(parameter.address) + 30;
    }
    return { definitions, next: undefined };
  }
}

function definitionOf(number: number, { address, type, access }: Parameter): Definition {
  return [number, address, type, access];
}
