// Checks the tests of flow files: shape, times, addresses, and that values convert to the types of their parameters.
// Valid tests become plans; a test that cannot fail is an error.
import { z } from 'zod';
import { unreadable } from '../../../json5/mistake.ts';
import { parseAddress } from '../../../model/address.ts';
import { describe } from '../../../model/error.ts';
import { readDurationMs } from '../../../model/time/duration.ts';
import { convert, type Value } from '../../../model/value.ts';
import {
  type Assignment,
  type Expectation,
  formatValue,
  type TestedParameter,
  type TestPlan,
  type TestStep,
  timesFired,
} from '../../test-plan.ts';
import type { SourceLocation } from '../source-location.ts';
import { type FlowTestStep, testSchema, testStepSchema } from './test-schema.ts';

/** Checks the list of tests of one file. */
export function checkTests(location: SourceLocation, tests: readonly unknown[], hub: Testable): readonly TestPlan[] {
  return tests.flatMap((item, index) => {
    const check = new StepCheck(hub);
    const testLocation = location.at(index);
    const before = testLocation.mistakeCount;
    const test = testLocation.parse(testSchema, item);
    if (test === undefined) return [];
    const isWhole = testLocation.mistakeCount === before;
    const given = check.given(testLocation.at('given'), test.given);
    const stepsLocation = testLocation.at('steps');
    const steps = check.steps(stepsLocation, test.steps, 0, isWhole);
    if (isWhole && test.steps.every(({ expect, never }) => isEmpty(expect) && isEmpty(never)))
      stepsLocation.add('expected at least one `expect` or `never`, got none: the test cannot fail');
    return [
      {
        name: test.name,
        file: location.file.name,
        place: testLocation.place,
        startMs: test.start,
        given,
        steps,
        unknown: [...new Set(check.unknown)],
      },
    ];
  });
}

/** Checks steps that are in no file, the first of them at `fromMs` or later. */
export function checkSteps(
  location: SourceLocation,
  steps: readonly FlowTestStep[],
  hub: Testable,
  fromMs: number,
): readonly TestStep[] {
  const stepsLocation = location.at('steps');
  const parsed = stepsLocation.parse(z.array(testStepSchema), steps) ?? [];
  return new StepCheck(hub).steps(stepsLocation, parsed, fromMs);
}

/** Checks given values that are in no file. */
export function checkGiven(
  location: SourceLocation,
  given: Readonly<Record<string, unknown>>,
  hub: Testable,
): readonly Assignment[] {
  return new StepCheck(hub).given(location.at('given'), given);
}

function isEmpty(values: object = {}): boolean {
  return Object.keys(values).length === 0;
}

// Checks the steps of a test: their times, and the values that they set and expect.

type Values = Readonly<Record<string, unknown>>;

/** The parts of a hub that tests can reach. */
export interface Testable {
  /** Finds the parameter of an address at a location, or returns undefined after adding the error. */
  find(location: SourceLocation, address: string): TestedParameter | undefined;
  /** Whether the test stands for the outside world of a connection. */
  isExternal(connectionId: string): boolean;
  /** Whether a connection is assumed to belong to another hub. */
  isRemote(connectionId: string): boolean;
}

class StepCheck {
  readonly #hub: Testable;
  /** Addresses of other hubs of which nothing else is known. */
  readonly unknown: string[] = [];

  constructor(hub: Testable) {
    this.#hub = hub;
  }

  given(location: SourceLocation, values: Values): Assignment[] {
    return this.#each(location, values, (address, input, parameter) => {
      if (parameter.type === 'T') throw new Error(`expected a parameter with a state, "${address}" is a trigger`);
      return this.#assignment(address, input, parameter);
    });
  }

  /** `isWhole`: no setting was dropped as unknown. */
  steps(
    location: SourceLocation,
    steps: readonly z.output<typeof testStepSchema>[],
    fromMs: number,
    isWhole = true,
  ): TestStep[] {
    let lastMs = fromMs;
    return steps.map((step, index) => {
      const checked = this.#step(location.at(index), step, lastMs, isWhole);
      lastMs = Math.max(lastMs, checked.atMs ?? lastMs);
      return checked;
    });
  }

  #step(location: SourceLocation, step: z.output<typeof testStepSchema>, leastMs: number, isWhole: boolean): TestStep {
    const { at, during, set, expect, never } = step;
    const atMs = readDuration(location.at('at'), at);
    if (atMs !== undefined && atMs < leastMs)
      location
        .at('at')
        .add(`expected a time of at least ${leastMs} ms, the time of the previous step, got ${describe(at)}`);
    if (isWhole && (during === undefined) !== (never === undefined))
      location.add('expected `during` and `never` together, got only one of them');
    if (isWhole && set === undefined && expect === undefined && never === undefined)
      location.add('expected `set`, `expect` or `never` in a step, got none of them');
    return {
      atMs,
      set: this.#each(location.at('set'), set, this.#assignment.bind(this)),
      expect: this.#each<Expectation>(location.at('expect'), expect, expectation),
      never: this.#each<Expectation>(location.at('never'), never, rejection),
      duringMs: readDuration(location.at('during'), during) ?? 0,
    };
  }

  /** Makes an item of each value whose address is known; an error of `make` is added at that value. */
  #each<Item>(
    location: SourceLocation,
    values: Values | undefined,
    make: (address: string, input: unknown, parameter: TestedParameter, place: () => string) => Item,
  ): Item[] {
    return Object.entries(values ?? {}).flatMap(([address, input]) => {
      if (input === unreadable) return [];
      const itemLocation = location.at(address);
      const before = itemLocation.mistakeCount;
      const parameter = this.#hub.find(itemLocation, address);
      if (parameter === undefined && itemLocation.mistakeCount === before && this.#isRemote(address))
        this.unknown.push(address);
      const item = parameter && itemLocation.attempt(() => make(address, input, parameter, itemLocation.place));
      return item === undefined ? [] : [item];
    });
  }

  #isRemote(address: string): boolean {
    return this.#hub.isRemote(parseAddress(address).connectionId);
  }

  #assignment(address: string, input: unknown, parameter: TestedParameter): Assignment {
    if (parameter.access === 'read-only' && !this.#hub.isExternal(parseAddress(address).connectionId))
      throw new Error(
        `expected a parameter that a test can set, "${address}" is read-only: only its connection sets it`,
      );
    return { address, value: readTested(parameter, input) };
  }
}

function readDuration(location: SourceLocation, input: unknown): number | undefined {
  return input === undefined ? undefined : location.attempt(() => readDurationMs(input));
}

// What the tests of flow files expect of a parameter, read according to the type of the parameter.

/** Numbers that differ by no more than this fraction of them are equal, so that 0.1 + 0.2 is 0.3. */
const tolerance = 1e-9;

/** Converts a value of a test to the type of its parameter. Errors: `not-convertible`, `out-of-range`. */
function readTested({ type, accept }: TestedParameter, input: unknown): Value {
  return accept === undefined ? convert(type, input) : accept(input);
}

/** Reads an expected value, or null for unknown. For a trigger it is true, false, or how often it fired. */
function expectation(address: string, input: unknown, parameter: TestedParameter, place: () => string): Expectation {
  const isTrigger = parameter.type === 'T';
  return { address, isTrigger, place, ...(isTrigger ? expectedFiring(input) : expectedValue(input, parameter)) };
}

/** Reads a forbidden value, like `expectation`. A trigger can only be forbidden to fire. */
function rejection(address: string, input: unknown, parameter: TestedParameter, place: () => string): Expectation {
  if (parameter.type === 'T' && input !== true)
    throw new Error(`expected true, meaning that the trigger fired, got ${describe(input)}`);
  return expectation(address, input, parameter, place);
}

type Expected = Pick<Expectation, 'text' | 'isMetBy'>;

function expectedFiring(input: unknown): Expected {
  if (typeof input === 'boolean')
    return { text: input ? 'fired' : 'not fired', isMetBy: (count) => (count !== 0) === input };
  if (typeof input !== 'number' || !Number.isSafeInteger(input) || input < 0)
    throw new Error(`expected true, false or how often the trigger fired, got ${describe(input)}`);
  return { text: timesFired(input), isMetBy: (count) => count === input };
}

function expectedValue(input: unknown, parameter: TestedParameter): Expected {
  if (input === null || input === undefined) return { text: 'unknown', isMetBy: (actual) => actual === undefined };
  const wanted = readTested(parameter, input);
  return { text: formatValue(wanted), isMetBy: (actual) => isEqual(actual, wanted) };
}

function isEqual(actual: Value | undefined, wanted: Value): boolean {
  if (typeof actual !== 'number' || typeof wanted !== 'number') return actual === wanted;
  return Math.abs(actual - wanted) <= tolerance * Math.max(Math.abs(actual), Math.abs(wanted));
}
