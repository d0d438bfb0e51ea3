// Runs one rule: writes the results of its body to each destination.

import { resolve } from 'node:path';
import type { Subscription } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { LoopError } from '../../../graph/turn.ts';
import { messageOf } from '../../../model/error.ts';
import type { Origin, Parameter, RemoteWrite } from '../../../model/parameter.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import type { RulePlan } from '../../plan.ts';
import { ownName } from '../../programs/flow-code.ts';
import { describeThrown, formatPlace, placeIn, stackOf } from '../../programs/stack.ts';
import { type RunningBody, runExpressions } from './expressions/run-expressions.ts';
import type { RuleContext, RuleOutput, RuleRuntime } from './rule-context.ts';
import type { RuleReports } from './rule-reports.ts';
import { RuleSources } from './rule-sources.ts';
import { runStream } from './streams/run-stream.ts';
import type { RuleTrace } from './trace.ts';

/** A rule that has started and is listening to its sources. */
export class StartedRule {
  readonly #sources: RuleSources;
  readonly #subscription: Subscription;
  /** Runs the rule once with the known values, at its position in this turn. Undefined if the rule does not run when it starts. */
  readonly begin: (() => void) | undefined;

  constructor(sources: RuleSources, { subscription, begin }: RunningBody) {
    this.#sources = sources;
    this.#subscription = subscription;
    this.begin = begin;
  }

  /** Moves the rule behind all running rules, and to a new position among the rules that wait until a turn has settled. */
  moveLast(settleOrder: number): void {
    this.#sources.moveLast(settleOrder);
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }
}

/** Starts a rule, which then observes changes. The current values of the rule's sources are read only when `begin` is called. */
export function startRule(plan: RulePlan, runtime: RuleRuntime): StartedRule {
  const { graph, traces } = runtime;
  const sources = new RuleSources(graph, plan.settleOrder);
  const trace = traces.open(plan, copiedBy(plan, graph));
  const output = new GraphOutput(plan, runtime, trace);
  const context: RuleContext = { plan, runtime, sources, output, trace };
  const { body } = plan;
  const running: RunningBody =
    'stream' in body ? { subscription: runStream(body, context) } : runExpressions(body, context);
  running.subscription.add(trace);
  return new StartedRule(sources, running);
}

/** Returns the source of a rule that only copies one parameter, or undefined for any other rule. */
function copiedBy({ body }: RulePlan, graph: Graph): Parameter | undefined {
  if ('stream' in body || 'named' in body.from || body.from.any.length > 1) return undefined;
  const { when, map, pipe, split, listensToWrites, runsAtStart } = body;
  const hasMore = pipe.length > 0 || listensToWrites || runsAtStart;
  const isCopy = when === undefined && map === undefined && split === undefined && !hasMore;
  return isCopy ? graph.get(body.from.any[0]!) : undefined;
}

// Receives the values and faults of one rule.

class GraphOutput implements RuleOutput {
  readonly #plan: RulePlan;
  readonly #graph: Graph;
  readonly #trace: RuleTrace;
  readonly #origin: Origin;
  readonly #destinations: readonly ParameterNode[];
  /** The types of the values for the destinations: one type per destination, or a single type for all destinations. */
  readonly #types: readonly (ValueType | undefined)[];
  /** The destination if there is only one, because a list would cost one more cache miss. */
  readonly #only: ParameterNode | undefined;
  readonly #reports: RuleReports;
  /** The pending writes to parameters of other hubs, collected until all writes of a run are known. */
  #remotes: RemoteWrite[] | undefined = undefined;

  constructor(plan: RulePlan, { graph, reports }: Pick<RuleRuntime, 'graph' | 'reports'>, trace: RuleTrace) {
    this.#plan = plan;
    this.#graph = graph;
    this.#trace = trace;
    this.#origin = { kind: 'rule', name: plan.name, file: plan.file };
    this.#destinations = plan.to.map((address) => graph.get(address));
    this.#types = typesOf(plan);
    this.#only = this.#destinations.length === 1 ? this.#destinations[0] : undefined;
    this.#reports = reports;
  }

  write(value: unknown): void {
    const only = this.#only;
    if (only === undefined) {
      this.#graph.turn(() => this.#writeAll(value));
      return;
    }
    if (this.#trace.isRecorded) this.#trace.result(value);
    if (this.#hasEnded()) return;
    this.#writeTo(only, value, 0);
    if (this.#remotes !== undefined) this.#sendRemotes(this.#remotes);
  }

  writeEach(values: readonly (Value | undefined)[]): void {
    this.#trace.results(values);
    this.#graph.turn(() => {
      if (this.#hasEnded()) return;
      for (const [index, value] of values.entries())
        if (value !== undefined) this.#writeTo(this.#destinations[index]!, value, index);
      if (this.#remotes !== undefined) this.#sendRemotes(this.#remotes);
    });
  }

  fail(error: unknown, destination?: string): void {
    const message =
      'stream' in this.#plan.body && destination === undefined ? faultText(error, this.#plan) : lineOf(error);
    this.#trace.fail(message, destination);
    this.#reports.failed(this.#plan, destination === undefined ? message : refusalOf(message, destination));
  }

  #writeAll(value: unknown): void {
    if (this.#trace.isRecorded) this.#trace.result(value);
    if (this.#hasEnded()) return;
    for (const destination of this.#destinations) this.#writeTo(destination, value, 0);
    if (this.#remotes !== undefined) this.#sendRemotes(this.#remotes);
  }

  /** Sends the writes to the owning hubs, in one turn per hub. The results arrive later. */
  #sendRemotes(writes: readonly RemoteWrite[]): void {
    this.#remotes = undefined;
    for (const [remote, ofOne] of Map.groupBy(writes, ({ parameter }) => parameter.remote!))
      void this.#graph.writeRemote(remote, ofOne, this.#origin).then((results) => {
        for (const [index, result] of results.entries())
          if (result instanceof Error && !(result instanceof LoopError))
            this.#reports.failed(this.#plan, refusalOf(lineOf(result), ofOne[index]!.parameter.address));
      });
  }

  /** Returns whether the hub's rules may no longer act, in which case this rule has ended. */
  #hasEnded(): boolean {
    const { mayAct } = this.#graph;
    return mayAct !== undefined && !mayAct();
  }

  /**
   * Returns the input for a destination that converts writes in its own way, or that another hub owns. The firing of a trigger becomes
   * `true`, because a firing is 1 only where a number is expected (D-07). If the type is not known, as with a list of sources or a stream,
   * the 1 from a trigger counts as a firing.
   */
  #inputFor(destination: ParameterNode, value: unknown, place: number): unknown {
    if (value !== 1 || destination.type === 'S') return value;
    const type = this.#types[place];
    const isFire = type === 'T' || (type === undefined && this.#graph.cause?.parameter.type === 'T');
    return isFire ? true : value;
  }

  #writeTo(destination: ParameterNode, value: unknown, place: number): void {
    try {
      if (destination.remote === undefined) {
        const input = destination.accept === undefined ? value : this.#inputFor(destination, value, place);
        this.#graph.writeTo(destination, input, this.#origin);
      } else {
        this.#remotes ??= [];
        this.#remotes.push({ parameter: destination, input: this.#inputFor(destination, value, place) });
      }
    } catch (error) {
      this.fail(error, destination.address);
    }
  }
}

/** Returns the types of the values for the destinations: one type per destination, or one type for all destinations. */
function typesOf({ body }: RulePlan): readonly (ValueType | undefined)[] {
  if ('stream' in body) return [undefined];
  return body.split?.map(({ type }) => type) ?? [body.result];
}

/** Returns the message for a refused write, prefixed with its destination unless the message already begins with it. */
function refusalOf(message: string, destination: string): string {
  return message.startsWith(`${destination}: `) ? message : `${destination}: ${message}`;
}

function lineOf(error: unknown): string {
  return messageOf(error).split('\n', 1)[0]!;
}

/** Describes a stream's fault, with the location in the author's files if known. */
function faultText(error: unknown, { file }: RulePlan): string {
  const flow = { path: resolve(file), name: file };
  const place = placeIn(stackOf(error), (path) => ownName(path, flow));
  return place === undefined ? describeThrown(error) : `${describeThrown(error)} (${formatPlace(place)})`;
}
