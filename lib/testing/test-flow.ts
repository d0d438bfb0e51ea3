// Tests of flows from TypeScript: the steps of flow files, as data or one call each.

import { resolve } from 'node:path';
import type { AnyConnectionType } from '../connections/connection.ts';
import { connectionTypes } from '../connections/registry.ts';
import { checkFlowFiles } from '../flow/check/check.ts';
import type { FlowTestStep } from '../flow/check/test-schema.ts';
import { checkGiven, checkSteps, type Testable } from '../flow/check/tests.ts';
import type { FlowFile } from '../flow/files/flow-file.ts';
import type { Plan } from '../flow/plan.ts';
import type { TestedParameter } from '../flow/test-plan.ts';
import { loadFlows } from '../hub.ts';
import { formatMistake, MistakeList, unknownName } from '../json5/mistake.ts';
import { formatAddress, parseAddress } from '../model/address.ts';
import { readDurationMs } from '../model/duration.ts';
import { HubError } from '../model/error.ts';
import type { Value } from '../model/value.ts';
import { TestRun } from './test-run.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * A running flow whose time passes only when told. Errors of every method: `bad-flow` for steps with mistakes,
 * `test-failed` with the timeline.
 */
export interface FlowUnderTest {
  /** Milliseconds since the start. */
  readonly nowMs: number;
  /** The value of a parameter; undefined: unknown, and always of a trigger. */
  read(address: string): Value | undefined;
  /** Sets values by address, one after the other, also of what only a keyboard or another outside world sets. */
  set(values: Values): void;
  /** Lets time pass: milliseconds, or `'1m30s'`. */
  advance(duration: number | string): void;
  /** Expects values by address; null or undefined: unknown; of a trigger that it has fired since the last `expect`. */
  expect(values: Values): void;
  /** Lets time pass, its end not included, in which no parameter may be so at any time. */
  never(duration: number | string, values: Values): void;
  /** Does steps as a flow file has them; their times count from the start. */
  do(steps: readonly FlowTestStep[]): void;
  /** What has happened until now. */
  timeline(): string;
  stop(): Promise<void>;
}

export interface TestFlowOptions {
  /** Values by address before anything runs; they fire no rule. */
  readonly given?: Values;
  readonly types?: ReadonlyMap<string, AnyConnectionType>;
}

const here: FlowFile = { name: 'test', folder: resolve('.'), data: undefined, positionOf: () => undefined };

/**
 * Starts the flow of files and folders, or one that is data (`{ connections: {…}, rules: […] }`), in virtual time.
 * Errors: `bad-flow` with every mistake.
 */
export async function testFlow(
  flow: readonly string[] | object,
  options: TestFlowOptions = {},
): Promise<FlowUnderTest> {
  const plan = Array.isArray(flow) ? await loadFlows(flow, options.types) : planOf(flow, options.types);
  const declarations = new Map<string, TestedParameter>(
    plan.connections.flatMap(({ id, parameters }) =>
      parameters.map((parameter) => [formatAddress(id, parameter.id), parameter]),
    ),
  );
  const externals = new Set(plan.connections.filter(({ type }) => type.isExternal).map(({ id }) => id));
  const find = (mistakes: MistakeList) => (file: FlowFile, path: readonly (string | number)[], address: string) => {
    const found = declarations.get(address);
    if (found === undefined) mistakes.add(file, path, unknownName('parameter', address, [...declarations.keys()]));
    return found;
  };
  const checked = <Result>(check: (hub: Testable, mistakes: MistakeList) => Result): Result => {
    const mistakes = new MistakeList();
    const result = check({ find: find(mistakes), isExternal: (id) => externals.has(id) }, mistakes);
    throwMistakes(mistakes);
    return result;
  };

  const given = checked((hub, mistakes) => checkGiven(here, options.given ?? {}, hub, mistakes));
  const run = await TestRun.start(plan, given);
  const throwIfFailed = () => {
    if (run.isFailed) throw new HubError('test-failed', `the flow did not do as expected\n${run.timeline.format()}`);
  };
  const perform = (steps: readonly FlowTestStep[]) => {
    throwIfFailed();
    run.do(checked((hub, mistakes) => checkSteps(here, steps, hub, mistakes, run.clock.now())));
    throwIfFailed();
  };
  return {
    get nowMs() {
      return run.clock.now();
    },
    read(address) {
      parseAddress(address);
      checked((hub) => hub.find(here, [], address));
      return run.graph.find(address)!.value;
    },
    set: (values) => perform([{ set: values }]),
    advance(duration) {
      throwIfFailed();
      run.advance(readDurationMs(duration));
      throwIfFailed();
    },
    expect: (values) => perform([{ expect: values }]),
    never: (during, values) => perform([{ during, never: values }]),
    do: perform,
    timeline: () => run.timeline.format(),
    stop: () => run.stop(),
  };
}

function planOf(data: object, types = connectionTypes): Plan {
  const mistakes = new MistakeList();
  const plan = checkFlowFiles([{ ...here, name: 'flow', data }], types, mistakes);
  throwMistakes(mistakes);
  return plan;
}

function throwMistakes({ items }: MistakeList): void {
  if (items.length > 0) throw new HubError('bad-flow', items.map(formatMistake).join('\n'));
}
