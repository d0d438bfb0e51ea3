// The parameters that this hub shares, each with a number, and the pages of them that hubs ask for which have missed something. Numbers are
// never given twice; when half of them are out of use, all are given anew under another epoch.

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

/** How many fires are told at most. */
const maxFires = 20_000;

/**
 * Answers a hub that has missed something: with definitions, or with the newest values since a revision. Each answer is a page; who asks
 * again with where it ended gets the next one, so the owner keeps nothing between two pages. Returns the text of the answer, a
 * `WalkAnswer`; undefined: this was no request.
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

/** Tells the present value of a parameter with its context; nothing while it is unknown. */
export function reportState({ lastChange, value }: Parameter, number: number): readonly unknown[] {
  if (lastChange === undefined || value === undefined) return [];
  const { origin, time, cause } = lastChange;
  return [
    { by: encodeOrigin(origin), at: time, ...(cause !== undefined && { why: encodeLinks(cause) }) },
    number,
    value,
  ];
}

/** Tells `"changes"`, and either `"to"` or `"fires"` of an answer. */
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
