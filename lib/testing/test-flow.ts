// Tests flows from TypeScript: with steps as in flow files, given as data, or with one call per step.

import { resolve } from 'node:path';
import type { AnyConnectionType } from '../connections/connection.ts';
import { loadConnectionTypes } from '../connections/connection-types.ts';
import { checkFlowFiles } from '../flow/check/check.ts';
import { SourceLocation } from '../flow/check/source-location.ts';
import type { FlowTestStep } from '../flow/check/tests/test-schema.ts';
import { checkGiven, checkSteps, type Testable } from '../flow/check/tests/tests.ts';
import type { FlowFile } from '../flow/files/flow-file.ts';
import type { Plan } from '../flow/plan.ts';
import type { Assignment, TestedParameter, TestStep } from '../flow/test-plan.ts';
import { loadFlows } from '../hub/index.ts';
import { formatMistake, MistakeList } from '../json5/mistake.ts';
import { unknownName } from '../json5/nearest-name.ts';
import { formatAddress, parseAddress } from '../model/address.ts';
import { HubError } from '../model/error.ts';
import { readDurationMs } from '../model/time/duration.ts';
import type { Value } from '../model/value.ts';
import { TestRun, withRemotes } from './test-run.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * A running flow whose time passes only during `advance`, `never` and `do`. Errors of every method: `bad-flow` if the steps are invalid;
 * `test-failed`, which contains the timeline.
 */
export interface FlowUnderTest {
  /** The virtual time in milliseconds since the start. */
  readonly nowMs: number;
  /** Returns the value of a parameter, or undefined if the value is unknown or the parameter is a trigger. */
  read(address: string): Value | undefined;
  /** Sets values, keyed by address, one after another. Even parameters that only the outside world sets, such as a key, can be set. */
  set(values: Values): void;
  /** Lets virtual time pass. The duration is in milliseconds or a string such as `'1m30s'`. */
  advance(duration: number | string): void;
  /**
   * Expects the given values, keyed by address. null or undefined means unknown; true for a trigger means that the trigger has fired since
   * the last `expect`.
   */
  expect(values: Values): void;
  /** Lets virtual time pass, and fails if a parameter has its given value at any moment during that time. */
  never(duration: number | string, values: Values): void;
  /** Runs steps in the form used in flow files. The times of the steps count from the start of the test. */
  do(steps: readonly FlowTestStep[]): void;
  /** Returns the timeline of the test so far, in a form suitable for display. */
  timeline(): string;
  stop(): Promise<void>;
}

export interface TestFlowOptions {
  /** The values, keyed by address, that are set before anything is running. These values do not start rules. */
  readonly given?: Values;
  /** The time of day at the start of the test. The default is Monday, 2024-01-01, 0:00 UTC. */
  readonly start?: Date;
  /**
   * The IDs of connections whose devices the steps simulate with `receive` and `sent`. For all other connections, the steps set the
   * parameters directly.
   */
  readonly devices?: readonly string[];
  readonly types?: ReadonlyMap<string, AnyConnectionType>;
}

/**
 * Starts a flow in virtual time, either from files and folders or from data (`{ connections: {…}, rules: […] }`). Errors: `bad-flow` with
 * all errors in the flow.
 */
export async function testFlow(
  flow: readonly string[] | object,
  options: TestFlowOptions = {},
): Promise<FlowUnderTest> {
  const loaded = Array.isArray(flow) ? await loadFlows(flow, options.types) : await planOf(flow, options.types);
  const plan = withRemotes(loaded);
  const played = new Set(options.devices);
  const reader = new StepReader(plan, played);
  const given = reader.given(options.given ?? {});
  const run = await TestRun.start(plan, { given, startMs: options.start?.getTime(), played });
  const unlessFailed = (work: () => void) => {
    throwIfFailed(run);
    work();
    throwIfFailed(run);
  };
  const perform = (steps: readonly FlowTestStep[]) => unlessFailed(() => run.do(reader.steps(steps, run.clock.now())));
  return {
    get nowMs() {
      return run.clock.now();
    },
    read: (address) => run.graph.get(reader.address(address)).value,
    set: (values) => perform([{ set: values }]),
    advance: (duration) => unlessFailed(() => run.advance(readDurationMs(duration))),
    expect: (values) => perform([{ expect: values }]),
    never: (during, values) => perform([{ during, never: values }]),
    do: perform,
    timeline: () => run.timeline.format(),
    stop: () => run.stop(),
  };
}

function throwIfFailed({ isFailed, timeline }: TestRun): void {
  if (isFailed) throw new HubError('test-failed', `the flow did not behave as expected\n${timeline.format()}`);
}

async function planOf(data: object, given?: TestFlowOptions['types']): Promise<Plan> {
  const types = given ?? (await loadConnectionTypes());
  return withoutMistakes((mistakes) => checkFlowFiles([{ ...here, name: 'flow', data }], types, mistakes));
}

// Steps and values in TypeScript tests go through the same checks as those in flow files.

/** A placeholder for the flow file, which a TypeScript test does not have. */
const here: FlowFile = { name: 'test', folder: resolve('.'), data: undefined, positionOf: () => undefined };

/** Reads and checks steps for the parameters in a plan. Errors of every method: `bad-flow` with all errors. */
class StepReader {
  readonly #testable: Testable;
  readonly #played: ReadonlySet<string>;

  constructor({ connections }: Plan, played: ReadonlySet<string>) {
    this.#played = played;
    const playable = connections.filter(({ type }) => type.played !== undefined).map(({ id }) => id);
    for (const id of played)
      if (!playable.includes(id)) throw new HubError('bad-flow', `devices: ${unknownName('device', id, playable)}`);
    const declarations = new Map<string, TestedParameter>(
      connections.flatMap(({ id, parameters }) =>
        parameters.map((parameter) => [formatAddress(id, parameter.id), parameter]),
      ),
    );
    const externals = new Set(connections.filter(({ type }) => type.isExternal).map(({ id }) => id));
    this.#testable = {
      find(location, address) {
        const found = declarations.get(address);
        if (found === undefined) location.add(unknownName('parameter', address, [...declarations.keys()]));
        return found;
      },
      isExternal: (id) => externals.has(id),
      isRemote: () => false,
      connections,
    };
  }

  given(values: Readonly<Record<string, unknown>>): readonly Assignment[] {
    return withoutMistakes((mistakes) => checkGiven(new SourceLocation(here, mistakes), values, this.#testable));
  }

  /** Checks and returns steps, the first of which is at `fromMs` or later. */
  steps(steps: readonly FlowTestStep[], fromMs: number): readonly TestStep[] {
    return withoutMistakes((mistakes) =>
      checkSteps(new SourceLocation(here, mistakes), steps, this.#testable, fromMs, this.#played),
    );
  }

  /** Checks and returns an address. Errors: also `bad-address`. */
  address(address: string): string {
    parseAddress(address);
    withoutMistakes((mistakes) => this.#testable.find(new SourceLocation(here, mistakes), address));
    return address;
  }
}

/** Runs `work` and returns its result. Errors: `bad-flow` with the errors that `work` has added. */
function withoutMistakes<Result>(work: (mistakes: MistakeList) => Result): Result {
  const mistakes = new MistakeList();
  const result = work(mistakes);
  const { items } = mistakes;
  if (items.length > 0) throw new HubError('bad-flow', items.map(formatMistake).join('\n'));
  return result;
}
