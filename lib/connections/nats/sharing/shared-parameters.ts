// The numbered parameters that this hub shares, and pages with these parameters for hubs that have missed changes. Numbers are never
// reused. When half of the numbers are unused, all parameters are renumbered in a new epoch.

import { randomUUID } from 'node:crypto';
import type { Parameter } from '../../../model/parameter.ts';
import type { Parameters } from '../../hub-port.ts';
import { encodeLinks, encodeOrigin } from '../wire/causes.ts';
import {
  type Definition,
  messageBytes,
  read,
  type WalkAnswer,
  type WalkRequest,
  walkRequest,
} from '../wire/domain-messages.ts';

/** The minimum number of unused numbers for a renumbering. */
const leastUnused = 10_000;

export class SharedParameters {
  readonly #run: string;
  #generation = 0;
  #list: (Parameter | undefined)[] = [];
  #numbers = new Map<Parameter, number>();
  /** The number of times that parameters have been added or removed in this epoch. */
  structure = 0;

  /** `hub` identifies this run of the hub. A run may begin to share several times, with new numbers each time. */
  constructor(hub: string) {
    this.#run = `${hub}.${randomUUID()}`;
  }

  /** The identifier of the numbering of revisions and parameters. */
  get epoch(): string {
    return `${this.#run}.${this.#generation}`;
  }

  /** Returns whether these parameters have this epoch or had it before a renumbering. */
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

  /** Removes a parameter. Returns its number, or undefined if the parameter was not shared. */
  delete(parameter: Parameter): number | undefined {
    const number = this.#numbers.get(parameter);
    if (number === undefined) return undefined;
    this.#numbers.delete(parameter);
    this.#list[number] = undefined;
    return number;
  }

  /** Renumbers all parameters if too many numbers are unused. Returns whether they were renumbered. */
  tidy(): boolean {
    const unused = this.#list.length - this.#numbers.size;
    if (unused < leastUnused || unused < this.#numbers.size) return false;
    this.#list = [...this.#numbers.keys()];
    this.#numbers = new Map(this.#list.map((parameter, number) => [parameter!, number]));
    this.#generation++;
    this.structure = 0;
    return true;
  }

  /**
   * Returns a page of definitions that begins with a number and has at least `bytes` bytes if there are enough definitions. Also returns
   * the number with which the next page begins.
   */
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

/** The maximum number of triggers whose firings are reported. */
const maxFires = 20_000;

/**
 * Creates the answer to a hub that has missed data: a page of definitions or of the latest values since a revision. The hub requests the
 * next page by sending the end of the previous page, so that the owner keeps no state in between. Returns the JSON of a `WalkAnswer`, or
 * undefined if the message is not a request.
 */
export function answerWalk(
  data: Uint8Array,
  head: Pick<WalkAnswer, 'hub' | 'epoch' | 'term' | 'rev' | 'clock'>,
  shared: SharedParameters,
  hub: Parameters,
  fires: ReadonlyMap<Parameter, number>,
): string | undefined {
  let request: WalkRequest;
  try {
    request = read(walkRequest, data);
  } catch {
    return undefined;
  }
  const answer = { ...head, structure: shared.structure };
  if ('from' in request) return JSON.stringify({ ...answer, ...shared.page(request.from, messageBytes) });
  const text = JSON.stringify(answer);
  if (request.epoch !== head.epoch || request.structure !== shared.structure) return text;
  return `${text.slice(0, -1)},${changesSince(request.since, shared, hub, fires)}}`;
}

/** Encodes a parameter's current value with its context. Encodes nothing while the value is unknown. */
export function reportState({ lastChange, value }: Parameter, number: number): readonly unknown[] {
  if (lastChange === undefined || value === undefined) return [];
  const { origin, time, cause } = lastChange;
  return [
    { by: encodeOrigin(origin), at: time, ...(cause !== undefined && { why: encodeLinks(cause) }) },
    number,
    value,
  ];
}

/** Returns the JSON of the properties `"changes"` and either `"to"` or `"fires"` of an answer. */
function changesSince(
  since: number,
  shared: SharedParameters,
  hub: Parameters,
  fires: ReadonlyMap<Parameter, number>,
): string {
  const changes: string[] = [];
  let bytes = 0;
  for (const parameter of hub.changedSince(since)) {
    const number = shared.numberOf(parameter);
    if (number === undefined) continue;
    const change = JSON.stringify(reportState(parameter, number)).slice(1, -1);
    changes.push(change);
    bytes += Buffer.byteLength(change);
    if (bytes > messageBytes) return `"changes":[${changes}],"to":${parameter.lastChange!.revision}`;
  }
  const fired = [...fires].slice(0, maxFires).flatMap(([parameter, count]) => {
    const number = shared.numberOf(parameter);
    return number === undefined ? [] : [number, count];
  });
  return `"changes":[${changes}],"fires":[${fired}]`;
}
