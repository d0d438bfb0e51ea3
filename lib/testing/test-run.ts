// A flow under test: a hub with the real connections of the flow files on a virtual clock. Connections that reach out of the
// process (network, keyboard, files) do not run: they only declare their parameters, and the test sets them.

import type { Subscription } from 'rxjs';
import type { Plan } from '../flow/plan.ts';
import { type Assignment, type Expectation, formatValue, type TestStep, timesFired } from '../flow/test-plan.ts';
import type { Graph } from '../graph/graph.ts';
import type { ParameterNode } from '../graph/parameter-node.ts';
import { Journal } from '../hub/journal.ts';
import { Hub, type HubLog, type RunOptions, simulated } from '../hub.ts';
import { messageOf } from '../model/error.ts';
import type { Change, Origin } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import { formatOrigin, formatTime, Timeline } from './timeline.ts';
import { upstreamOf } from './upstream.ts';
import { VirtualClock } from './virtual-clock.ts';

/** What the time of day is when a test starts that does not say so: midnight of a Monday, UTC. */
const testEpochMs = Date.UTC(2024, 0, 1);

const given: Origin = { kind: 'client', name: 'given' };
const test: Origin = { kind: 'client', name: 'test' };

/** What must never be, as long as the time is before `untilMs`. */
interface Watch {
  readonly expectation: Expectation;
  readonly untilMs: number;
}

export class TestRun {
  readonly clock = new VirtualClock();
  readonly timeline = new Timeline();
  /** Whether something was not as expected; then no further step is done. */
  isFailed = false;
  graph!: Graph;
  readonly #plan: Plan;
  readonly #epochMs: number;
  readonly #fires = new Map<string, number>();
  #watches: Watch[] = [];
  #hub: Hub | undefined;
  #changes: Subscription | undefined;

  private constructor(plan: Plan, epochMs: number) {
    this.#plan = plan;
    this.#epochMs = epochMs;
  }

  /** Starts the hub with given values, at a time of day; the time stands at 0, and nothing that is due has run. */
  static async start(plan: Plan, assignments: readonly Assignment[], epochMs = testEpochMs): Promise<TestRun> {
    const run = new TestRun(plan, epochMs);
    const options: RunOptions = {
      log: Journal.ungated(run.#createLog()), // a gate would measure real seconds
      scheduler: run.clock,
      now: () => epochMs + run.clock.now(),
      prepare: (graph) => run.#prepare(graph, assignments),
    };
    run.#hub = await run.clock.asDefault(() =>
      Hub.run({ ...plan, connections: plan.connections.map(simulated) }, options),
    );
    return run;
  }

  /** Does the steps and lets the time of the last `during` pass. A failure ends it early and is marked in the timeline. */
  do(steps: readonly TestStep[]): void {
    try {
      this.clock.asDefault(() => this.#doAll(steps));
    } catch (error) {
      this.#fail('', messageOf(error));
    }
  }

  /** Lets time pass. */
  advance(durationMs: number): void {
    this.do([{ atMs: this.clock.now() + durationMs, set: [], expect: [], never: [], duringMs: 0 }]);
  }

  async stop(): Promise<void> {
    this.#changes?.unsubscribe();
    await this.#hub?.stop();
  }

  #prepare(graph: Graph, assignments: readonly Assignment[]): void {
    this.graph = graph;
    for (const { address, value } of graph.changedSince(0)) this.timeline.addKnown(address, value!);
    this.#changes = graph.changes$.subscribe({
      next: (change) => this.#note(change),
      error: (error) => this.#fail('', messageOf(error)),
    });
    for (const assignment of assignments) this.#write(assignment, given);
  }

  #doAll(steps: readonly TestStep[]): void {
    for (const step of steps) {
      this.#advanceTo(step.atMs ?? this.clock.now());
      if (this.isFailed) return;
      this.#step(step);
    }
    this.#advanceTo(Math.max(this.clock.now(), ...this.#watches.map(({ untilMs }) => untilMs)));
  }

  #step({ set, expect, never, duringMs }: TestStep): void {
    for (const assignment of set) this.#write(assignment, test);
    this.#advanceTo(this.clock.now());
    for (const expectation of expect) {
      const { address, isTrigger } = expectation;
      const actual = isTrigger ? (this.#fires.get(address) ?? 0) : this.#node(address).value;
      if (!expectation.isMetBy(actual)) this.#fail(address, this.#explain(expectation, actual));
    }
    if (expect.length > 0) this.#fires.clear();
    if (this.isFailed) return;
    const watches = never.map((expectation) => ({ expectation, untilMs: this.clock.now() + duringMs }));
    for (const { expectation } of watches)
      if (!expectation.isTrigger) this.#reject(expectation, this.#node(expectation.address).value);
    this.#watches.push(...watches);
  }

  #advanceTo(timeMs: number): void {
    this.clock.advanceTo(timeMs, () => this.isFailed);
    this.#watches = this.#watches.filter(({ untilMs }) => untilMs > this.clock.now());
  }

  /** Writes as a client would, or, to a read-only parameter, as its connection would, which is not running. */
  #write({ address, value }: Assignment, origin: Origin): void {
    const node = this.#node(address);
    this.graph.writeTo(node, value, node.access === 'read-only' ? node.owner : origin);
  }

  #note(change: Change): void {
    const { address, type } = change.parameter;
    this.timeline.addChange(this.clock.now(), change);
    if (type === 'T') this.#fires.set(address, (this.#fires.get(address) ?? 0) + 1);
    for (const { expectation, untilMs } of this.#watches)
      if (expectation.address === address && this.clock.now() < untilMs) this.#reject(expectation, change.value);
  }

  #reject(expectation: Expectation, actual: Value | undefined): void {
    const { address, text, place } = expectation;
    if (expectation.isMetBy(actual)) this.#fail(address, `expected never ${text}, got it (${place()})`);
  }

  #explain({ address, isTrigger, text, place }: Expectation, actual: Value | undefined): string {
    const last = this.#node(address).lastChange;
    const since = last === undefined ? '' : `, since ${this.#timeOf(last)} by ${formatOrigin(last.origin)}`;
    const got = isTrigger ? timesFired(actual as number) : `${formatValue(actual)}${since}`;
    return `expected ${text}, got ${got} (${place()})`;
  }

  #timeOf({ time }: Change): string {
    return formatTime(time - this.#epochMs);
  }

  #fail(address: string, text: string): void {
    this.isFailed = true;
    const relevant = address === '' ? undefined : upstreamOf(this.#plan, [address]);
    this.timeline.addMark(this.clock.now(), address, text, relevant);
    for (const { name, to, state, reason } of this.#hub?.rules() ?? [])
      if (state === 'waiting' && to.some((one) => relevant?.has(one) ?? true))
        this.timeline.addNote(this.clock.now(), `rule "${name}" ${reason}`);
  }

  #node(address: string): ParameterNode {
    return this.graph.find(address)!;
  }

  /** A log whose warnings and errors are notes of the timeline. */
  #createLog(): HubLog {
    const note = (_: object, message: string) => this.timeline.addNote(this.clock.now(), message);
    const log = { debug: () => {}, info: () => {}, warn: note, error: note };
    return { ...log, child: () => log };
  }
}
