// Checks the tests in flow files: their shape, times and addresses, and whether their values convert to the types of their parameters.
// Valid tests become plans. A test that cannot fail is an error.
import { resolve } from 'node:path';
import { z } from 'zod';
import type { PlayedMessages, WrittenMessage } from '../../../connections/connection.ts';
import { unreadable } from '../../../json5/mistake.ts';
import { unknownName } from '../../../json5/nearest-name.ts';
import { parseAddress } from '../../../model/address.ts';
import { describe } from '../../../model/error.ts';
import { readDurationMs } from '../../../model/time/duration.ts';
import { convert, type Value } from '../../../model/value.ts';
import type { ConnectionPlan } from '../../plan.ts';
import {
  type Assignment,
  type DevicePart,
  type Expectation,
  formatValue,
  type TestedParameter,
  type TestPlan,
  type TestStep,
  timesFired,
} from '../../test-plan.ts';
import type { SourceLocation } from '../source-location.ts';
import { type FlowTestStep, testSchema, testStepSchema } from './test-schema.ts';

/** Checks the list of tests in one flow file. `own` contains the IDs of the connections in this file. */
export function checkTests(
  location: SourceLocation,
  tests: readonly unknown[],
  hub: Testable,
  own: ReadonlySet<string>,
): readonly TestPlan[] {
  const devices = new Devices(hub.connections, own);
  return tests.flatMap((item, index) => {
    const testLocation = location.at(index);
    const before = testLocation.mistakeCount;
    const test = testLocation.parse(testSchema, item);
    if (test === undefined) return [];
    const played = devices.namedIn(test.steps);
    const check = new StepCheck(hub, devices, played);
    const isWhole = testLocation.mistakeCount === before;
    const given = check.given(testLocation.at('given'), test.given);
    const stepsLocation = testLocation.at('steps');
    const steps = check.steps(stepsLocation, test.steps, 0, isWhole);
    if (isWhole && !test.steps.some(canFail))
      stepsLocation.add('expected at least one `expect` or `never`, got none: the test cannot fail');
    return [
      {
        name: test.name,
        file: location.file.name,
        place: testLocation.place,
        startMs: test.start,
        given,
        steps,
        played,
        unknown: [...new Set(check.unknown)],
      },
    ];
  });
}

const testSteps = z.array(testStepSchema);

/**
 * Checks steps that do not come from a file, the first of which is at `fromMs` or later. The steps may simulate the devices in `played`.
 */
export function checkSteps(
  location: SourceLocation,
  steps: readonly FlowTestStep[],
  hub: Testable,
  fromMs: number,
  played: ReadonlySet<string>,
): readonly TestStep[] {
  const stepsLocation = location.at('steps');
  const parsed = stepsLocation.parse(testSteps, steps) ?? [];
  const devices = new Devices(hub.connections.filter(({ id }) => played.has(id)));
  return new StepCheck(hub, devices, played).steps(stepsLocation, parsed, fromMs);
}

/** Checks initial parameter values, keyed by address, that do not come from a file. */
export function checkGiven(
  location: SourceLocation,
  given: Readonly<Record<string, unknown>>,
  hub: Testable,
): readonly Assignment[] {
  return new StepCheck(hub, new Devices([]), new Set()).given(location.at('given'), given);
}

function canFail({ expect, never, wanted, sent, stale }: FlowTestStep): boolean {
  return !isEmpty(expect) || !isEmpty(never) || !isEmpty(wanted) || sent !== undefined || stale !== undefined;
}

function isEmpty(values: object = {}): boolean {
  return Object.keys(values).length === 0;
}

// Checks the steps of a test: their times, and the values that they set and expect.

type Values = Readonly<Record<string, unknown>>;

/** The facts about a hub that the check of tests needs: the hub's parameters and connections. */
export interface Testable {
  /** Returns the parameter at an address. If there is none, adds an error at the location and returns undefined. */
  find(location: SourceLocation, address: string): TestedParameter | undefined;
  /** Returns whether the test simulates the outside world of a connection. */
  isExternal(connectionId: string): boolean;
  /** Returns whether a connection is assumed to belong to another hub. */
  isRemote(connectionId: string): boolean;
  readonly connections: readonly Pick<ConnectionPlan, 'id' | 'type' | 'settings' | 'folder'>[];
}

/** The devices that a test can simulate: those in its own file, or those in all files. */
class Devices {
  readonly #connections: Testable['connections'];
  readonly #known: readonly string[];
  /** The only device in the file, or in all files. Undefined unless there is exactly one device. */
  readonly #only: string | undefined;
  /** The connections in the file that have errors, any of which might be a device. */
  readonly #faulty: ReadonlySet<string>;

  constructor(connections: Testable['connections'], ownIds: ReadonlySet<string> = new Set()) {
    this.#connections = connections;
    const devices = connections.filter(({ type }) => type.played !== undefined);
    const own = devices.filter(({ id }) => ownIds.has(id));
    const [only, ...others] = own.length === 0 ? devices : own;
    this.#known = devices.map(({ id }) => id);
    this.#only = others.length === 0 ? only?.id : undefined;
    this.#faulty = new Set([...ownIds].filter((id) => !connections.some((one) => one.id === id)));
  }

  /** Returns the Connection IDs of the devices that steps name. */
  namedIn(steps: readonly z.output<typeof testStepSchema>[]): ReadonlySet<string> {
    const named = new Set<string>();
    for (const { link, receive, sent, stale, wanted = {} } of steps) {
      for (const part of [link, receive, sent, stale])
        if (part === undefined) continue;
        else if (isByDevice(part)) for (const id of Object.keys(part)) named.add(id);
        else if (this.#only !== undefined) named.add(this.#only);
      for (const address of Object.keys(wanted)) named.add(address.slice(0, address.indexOf('/')));
    }
    return new Set([...named].filter((id) => this.#known.includes(id)));
  }

  /** Splits a step's setting into the parts for the individual devices, each with its location. Adds errors for wrong Connection IDs. */
  partsOf<Part>(
    location: SourceLocation,
    setting: Part | Readonly<Record<string, Part>> | undefined,
  ): { readonly id: string; readonly part: Part; readonly location: SourceLocation }[] {
    if (setting === undefined) return [];
    if (isByDevice(setting))
      return Object.entries(setting as Readonly<Record<string, Part>>).flatMap(([id, part]) => {
        if (this.#faulty.has(id)) return [];
        const whyNot = this.#whyNot(id);
        if (whyNot !== undefined) location.at(id).add(whyNot);
        return whyNot === undefined ? [{ id, part, location: location.at(id) }] : [];
      });
    const id = this.#only;
    if (this.#faulty.size > 0) return []; // this may be the device that is meant, and its errors are reported
    if (id !== undefined) return [{ id, part: setting as Part, location }];
    location.add(
      this.#known.length === 0
        ? 'expected a connection to a device, such as type "device", in the flow files of the test, got none'
        : `expected { <Connection ID>: … }, because there are several devices: ${this.#known.join(', ')}`,
    );
    return [];
  }

  /**
   * Returns how a device's messages are written. Returns undefined if the device description has errors, which are reported with the
   * connection.
   */
  messagesOf(id: string): PlayedMessages | undefined {
    const { type, settings, folder } = this.#connections.find((one) => one.id === id)!;
    try {
      return type.played!.messages(settings, (path) => resolve(folder, path));
    } catch {
      return undefined;
    }
  }

  #whyNot(id: string): string | undefined {
    if (this.#known.includes(id)) return undefined;
    const other = this.#connections.find((one) => one.id === id);
    if (other === undefined) return unknownName('device', id, this.#known);
    return `expected a connection to a device, but "${id}" is of type ${other.type.type}`;
  }
}

/** Returns whether a setting has a separate part for each of several devices. */
function isByDevice(setting: unknown): boolean {
  if (typeof setting !== 'object' || setting === null || Array.isArray(setting)) return false;
  const [[name, value] = ['', undefined], ...others] = Object.entries(setting);
  return others.length > 0 || typeof value !== 'string' || !['text', 'hex'].includes(name);
}

class StepCheck {
  readonly #hub: Testable;
  readonly #devices: Devices;
  readonly #played: ReadonlySet<string>;
  /** The tested addresses that belong to other hubs and whose types are not known. */
  readonly unknown: string[] = [];

  constructor(hub: Testable, devices: Devices, played: ReadonlySet<string>) {
    this.#hub = hub;
    this.#devices = devices;
    this.#played = played;
  }

  given(location: SourceLocation, values: Values): Assignment[] {
    return this.#each(location, values, (address, input, parameter) => {
      if (parameter.type === 'T') throw new Error(`expected a parameter with a state, but "${address}" is a trigger`);
      return this.#assignment(address, input, parameter);
    });
  }

  /** Checks the steps of a test. `isWhole` states whether no setting was dropped as unknown. */
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
    const { at, during, set, expect, never, link, receive, sent, stale, wanted } = step;
    const atMs = readDuration(location.at('at'), at);
    if (atMs !== undefined && atMs < leastMs)
      location
        .at('at')
        .add(`expected a time of at least ${leastMs} ms, the time of the previous step, got ${describe(at)}`);
    if (isWhole && (during === undefined) !== (never === undefined))
      location.add('expected `during` and `never` together, got only one of them');
    if (isWhole && [set, expect, never, link, receive, sent, stale, wanted].every((part) => part === undefined))
      location.add('expected `set`, `expect` or `never` in a step, got none of them');
    return {
      atMs,
      set: this.#each(location.at('set'), set, this.#assignment.bind(this)),
      expect: this.#each<Expectation>(location.at('expect'), expect, expectation),
      never: this.#each<Expectation>(location.at('never'), never, rejection),
      duringMs: readDuration(location.at('during'), during) ?? 0,
      link: this.#devices
        .partsOf(location.at('link'), link)
        .map((one) => ({ ...partOf(one), isUp: one.part === 'up' })),
      receive: this.#messages(location.at('receive'), receive, 'in').flatMap(({ read, ...part }) =>
        read.map(({ bytes }) => ({ ...part, bytes })),
      ),
      sent: this.#messages(location.at('sent'), sent, 'out').map(({ read, ...part }) => ({
        ...part,
        frames: read.flatMap(({ frames }) => frames),
      })),
      stale: this.#devices
        .partsOf(location.at('stale'), stale)
        .map((one) => ({ ...partOf(one), isStale: one.part === true })),
      wanted: this.#each<Expectation>(location.at('wanted'), wanted, this.#pending.bind(this)),
    };
  }

  /** Reads the messages in a step. Each error is added at the location of its message. */
  #messages(location: SourceLocation, written: z.output<typeof testStepSchema>['receive'], direction: 'in' | 'out') {
    return this.#devices.partsOf<WrittenMessage | WrittenMessage[]>(location, written).map((one) => {
      const messages = this.#devices.messagesOf(one.id);
      const list = Array.isArray(one.part)
        ? one.part.map((part, index) => ({ part, at: one.location.at(index) }))
        : [{ part: one.part, at: one.location }];
      const read = list.flatMap(({ part, at }) => at.attempt(() => messages?.read(part, direction)) ?? []);
      return { ...partOf(one), read };
    });
  }

  #pending(address: string, input: unknown, parameter: TestedParameter, place: () => string): Expectation {
    if (!this.#played.has(parseAddress(address).connectionId) || parameter.type === 'T')
      throw new Error(`expected a device parameter that has a state, got "${address}"`);
    const { isMetBy, text } = expectation(address, input, parameter, place);
    const none = input === null || input === undefined;
    return { address, isTrigger: false, place, isMetBy, text: none ? 'no pending write' : `the pending write ${text}` };
  }

  /** Creates an item from each value with a known address. An error thrown by `make` is added at the location of the value. */
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
    const { connectionId } = parseAddress(address);
    const isPlayed = this.#played.has(connectionId);
    if (parameter.access === 'read-only' && (isPlayed || !this.#hub.isExternal(connectionId)))
      throw new Error(
        `expected a parameter that a test can set, but "${address}" is read-only: only its ${isPlayed ? 'device can set it, with `receive`' : 'connection can set it'}`,
      );
    return { address, value: readTested(parameter, input) };
  }
}

function partOf({ id, location }: { readonly id: string; readonly location: SourceLocation }): DevicePart {
  return { connectionId: id, place: location.place };
}

function readDuration(location: SourceLocation, input: unknown): number | undefined {
  return input === undefined ? undefined : location.attempt(() => readDurationMs(input));
}

// The expectations that tests have of a parameter, read according to the parameter's type.

/** The relative tolerance within which numbers count as equal, so that 0.1 + 0.2 is 0.3. */
const tolerance = 1e-9;

/** Converts a value in a test to the type of the tested parameter. Errors: `not-convertible`, `out-of-range`. */
function readTested({ type, accept }: TestedParameter, input: unknown): Value {
  return accept === undefined ? convert(type, input) : accept(input);
}

/** Reads an expected value; null means unknown. For a trigger, the value is true, false, or the number of firings. */
function expectation(address: string, input: unknown, parameter: TestedParameter, place: () => string): Expectation {
  const isTrigger = parameter.type === 'T';
  return { address, isTrigger, place, ...(isTrigger ? expectedFiring(input) : expectedValue(input, parameter)) };
}

/** Reads a forbidden value, like `expectation`. For a trigger, only firing can be forbidden. */
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
    throw new Error(`expected true, false or the number of times the trigger fired, got ${describe(input)}`);
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
