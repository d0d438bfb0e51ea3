// Checks the steps of a test: their times, and the values that they set and expect.

import type { z } from 'zod';
import { unreadable } from '../../../json5/mistake.ts';
import { parseAddress } from '../../../model/address.ts';
import { describe } from '../../../model/error.ts';
import { readDurationMs } from '../../../model/time/duration.ts';
import type { Assignment, Expectation, TestedParameter, TestStep } from '../../test-plan.ts';
import type { Spot } from '../spot.ts';
import { expectation, readTested, rejection } from './expectations.ts';
import type { testStepSchema } from './test-schema.ts';

type Values = Readonly<Record<string, unknown>>;

/** What of a hub tests can reach. */
export interface Testable {
  /** Finds the parameter of an address that stands at a spot, or undefined after it has added the mistake. */
  find(spot: Spot, address: string): TestedParameter | undefined;
  /** Whether the test stands for the outside world of a connection. */
  isExternal(connectionId: string): boolean;
  /** Whether a connection is taken for one of another hub. */
  isRemote(connectionId: string): boolean;
}

export class StepCheck {
  readonly #hub: Testable;
  /** Addresses of other hubs of which nothing else is known. */
  readonly unknown: string[] = [];

  constructor(hub: Testable) {
    this.#hub = hub;
  }

  given(spot: Spot, values: Values): Assignment[] {
    return this.#each(spot, values, (address, input, parameter) => {
      if (parameter.type === 'T') throw new Error(`expected a parameter with a state, "${address}" is a trigger`);
      return this.#assignment(address, input, parameter);
    });
  }

  /** `isWhole`: no setting was left out because it is unknown. */
  steps(spot: Spot, steps: readonly z.output<typeof testStepSchema>[], fromMs: number, isWhole = true): TestStep[] {
    let lastMs = fromMs;
    return steps.map((step, index) => {
      const checked = this.#step(spot.at(index), step, lastMs, isWhole);
      lastMs = Math.max(lastMs, checked.atMs ?? lastMs);
      return checked;
    });
  }

  #step(spot: Spot, step: z.output<typeof testStepSchema>, leastMs: number, isWhole: boolean): TestStep {
    const { at, during, set, expect, never } = step;
    const atMs = readDuration(spot.at('at'), at);
    if (atMs !== undefined && atMs < leastMs)
      spot.at('at').add(`expected a time of at least ${leastMs} ms, when the step before it is, got ${describe(at)}`);
    if (isWhole && (during === undefined) !== (never === undefined))
      spot.add('expected `during` and `never` together, got one of them');
    if (isWhole && set === undefined && expect === undefined && never === undefined)
      spot.add('expected `set`, `expect` or `never` in a step, got none of them');
    return {
      atMs,
      set: this.#each(spot.at('set'), set, this.#assignment.bind(this)),
      expect: this.#each<Expectation>(spot.at('expect'), expect, expectation),
      never: this.#each<Expectation>(spot.at('never'), never, rejection),
      duringMs: readDuration(spot.at('during'), during) ?? 0,
    };
  }

  /** Makes an item of each value whose address is known; an error is a mistake at that value. */
  #each<Item>(
    spot: Spot,
    values: Values | undefined,
    make: (address: string, input: unknown, parameter: TestedParameter, place: () => string) => Item,
  ): Item[] {
    return Object.entries(values ?? {}).flatMap(([address, input]) => {
      if (input === unreadable) return [];
      const itemSpot = spot.at(address);
      const before = itemSpot.mistakeCount;
      const parameter = this.#hub.find(itemSpot, address);
      if (parameter === undefined && itemSpot.mistakeCount === before && this.#isRemote(address))
        this.unknown.push(address);
      const item = parameter && itemSpot.attempt(() => make(address, input, parameter, itemSpot.place));
      return item === undefined ? [] : [item];
    });
  }

  #isRemote(address: string): boolean {
    return this.#hub.isRemote(parseAddress(address).connectionId);
  }

  #assignment(address: string, input: unknown, parameter: TestedParameter): Assignment {
    if (parameter.access === 'read-only' && !this.#hub.isExternal(parseAddress(address).connectionId))
      throw new Error(`expected a parameter that a test can set, "${address}" is read-only and set by its connection`);
    return { address, value: readTested(parameter, input) };
  }
}

function readDuration(spot: Spot, input: unknown): number | undefined {
  return input === undefined ? undefined : spot.attempt(() => readDurationMs(input));
}
