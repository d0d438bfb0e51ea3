// Runs the tests in flow files, each test with its own hub and clock.
import { setImmediate as nextRound } from 'node:timers/promises';
import type { AnyConnectionType } from '../connections/connection.ts';
import type { ShownPart, TestResults } from '../connections/editing.ts';
import { findFlowFiles } from '../flow/files/find.ts';
import type { ConnectionPlan, Plan } from '../flow/plan.ts';
import type { TestPlan } from '../flow/test-plan.ts';
import { loadFlows } from '../hub/index.ts';
import { formatMistake, MistakeList } from '../json5/mistake.ts';
import { formatAddress } from '../model/address.ts';
import { messageOf } from '../model/error.ts';
import { TestRun, upstreamOf, withRemotes } from './test-run.ts';

export interface FlowTestOptions {
  /** true means that all files form one installation, with addresses across files. By default, each file is a separate installation. */
  readonly isTogether?: boolean;
  readonly types?: ReadonlyMap<string, AnyConnectionType>;
}

export interface FlowTestResult {
  readonly name: string;
  readonly file: string;
  /** The location of the test, such as `demo.json5:7:20`. */
  readonly place: string;
  readonly isPassed: boolean;
  /** The virtual time that the test took, in milliseconds. */
  readonly virtualMs: number;
  /** The test's timeline, with a mark where an expectation failed. Empty if the test passed. */
  readonly timeline: string;
}

/**
 * Runs all tests in flow files and folders, one after another. A file with errors produces one failed test, whose timeline lists the
 * errors.
 */
export async function* runFlowTests(
  paths: readonly string[],
  { isTogether = false, types }: FlowTestOptions = {},
): AsyncGenerator<FlowTestResult, void, void> {
  const mistakes = new MistakeList();
  const files = await findFlowFiles(paths, mistakes);
  for (const mistake of mistakes.items) yield unreadable(mistake.file, formatMistake(mistake));
  for (const group of isTogether ? [files] : files.map((file) => [file])) {
    let plan: Plan;
    try {
      plan = withRemotes(await loadFlows(group, types));
    } catch (error) {
      yield unreadable(group.join(', '), messageOf(error));
      continue;
    }
    for (const test of plan.tests) yield await runTest(plan, test);
  }
}

/** The maximum duration of the tests that run for an edit, in milliseconds. The hub continues to work between two tests. */
const editedTestsMs = 3000;

/** Runs the tests in the given files of a plan, as time allows. `part` limits timelines to what may be shown. */
export async function runTestsOf(plan: Plan, files: ReadonlySet<string>, part?: ShownPart): Promise<TestResults> {
  const tests = plan.tests.filter(({ file }) => files.has(file));
  const whole = withRemotes(plan);
  const endMs = performance.now() + editedTestsMs;
  const failed: FlowTestResult[] = [];
  let passed = 0;
  for (const test of tests) {
    if (performance.now() > endMs) break;
    const result = await runTest(whole, test, part);
    if (result.isPassed) passed++;
    else failed.push(result);
    await nextRound();
  }
  return {
    passed,
    failed: failed.map(({ name, place, timeline }) => ({ name, place, timeline })),
    left: tests.length - passed - failed.length,
  };
}

async function runTest(plan: Plan, test: TestPlan, part?: ShownPart): Promise<FlowTestResult> {
  if (test.unknown.length > 0)
    return { ...unreadable(test.file, whyUnknown(test)), name: test.name, place: test.place() };
  const needed = neededFor(plan, test);
  let run = await runOn(needed, test);
  if (run.isFailed && needed !== plan) run = await runOn(plan, test); // each timeline shows the whole installation
  return {
    name: test.name,
    file: test.file,
    place: test.place(),
    isPassed: !run.isFailed,
    virtualMs: run.clock.now(),
    timeline: run.isFailed ? run.timeline.format(part) : '',
  };
}

async function runOn(plan: Plan, test: TestPlan): Promise<TestRun> {
  const run = await TestRun.start(plan, test);
  try {
    run.do(test.steps);
  } finally {
    await run.stop();
  }
  return run;
}

function whyUnknown({ unknown: [address, ...others] }: TestPlan): string {
  const all = others.length === 0 ? `${address} is` : `${address} and ${others.length} more are`;
  return `${all} assumed to belong to another hub, but the type is unknown: name a file with it in "mirrors" (patchbay types --remote)`;
}

function unreadable(file: string, timeline: string): FlowTestResult {
  return { name: 'loads without errors', file, place: file, isPassed: false, virtualMs: 0, timeline };
}

// A test runs only a part of a large installation: the rules that may lead to the expected values, and the parameters that these rules and
// the test name. Starting thousands of unnecessary rules for each of thousands of tests would take minutes.

/**
 * Returns the plan, reduced to the parts that a test needs. TypeScript rules may depend on any other rules, so a plan that contains such
 * rules is not reduced.
 */
function neededFor(plan: Plan, { given, steps, played }: TestPlan): Plan {
  if (plan.rules.some(({ body }) => 'stream' in body)) return plan;
  const expected = steps.flatMap(({ expect, never }) => [...expect, ...never]).map(({ address }) => address);
  // a write to a device may change any of its parameters
  const ofDevices = plan.connections
    .filter(({ id }) => played.has(id))
    .flatMap(({ id, parameters }) => parameters.map((one) => formatAddress(id, one.id)));
  const upstream = upstreamOf(plan, [...expected, ...ofDevices]);
  const rules = plan.rules.filter(({ to }) => to.some((address) => upstream.has(address)));
  if (rules.length === plan.rules.length) return plan;
  const named = new Set(upstream);
  for (const { address } of [...given, ...steps.flatMap(({ set }) => set)]) named.add(address);
  for (const { addresses } of rules) for (const address of addresses) named.add(address);
  for (const { inputs } of plan.connections) for (const address of Object.values(inputs)) named.add(address);
  return {
    ...plan,
    rules,
    connections: plan.connections.map((one) => (played.has(one.id) ? one : trimmed(one, named))),
  };
}

/** Returns a connection with only those parameters that are named, or the whole connection if it computes parameters. */
function trimmed(connection: ConnectionPlan, named: ReadonlySet<string>): ConnectionPlan {
  const { id, inputs, parameters } = connection;
  const computes = Object.keys(inputs).length > 0 || parameters.some(({ access }) => access === 'read-only');
  if (computes) return connection;
  return { ...connection, parameters: parameters.filter((one) => named.has(formatAddress(id, one.id))) };
}
