// Runs one rule: on what its source says, `when`, then `map`, then the steps of `pipe`, then a write to each destination.
// A rule in TypeScript is a stream instead; when it fails it is logged and started again with backoff.

import { resolve } from 'node:path';
import { defer, retry, type SchedulerLike, Subject, Subscription, timer } from 'rxjs';
import { createCausalScheduler } from '../../../graph/causal-scheduler.ts';
import type { Graph } from '../../../graph/graph.ts';
import { messageOf } from '../../../model/error.ts';
import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';
import type { ExpressionBody, RulePlan, StreamBody } from '../../plan.ts';
import { formatPlace, ownName, placeIn, stackOf, wordsOf } from '../../programs/flow-code.ts';
import type { RuleExpression } from '../../rule-expression.ts';
import { bindExpression, type ExpressionRuntime } from './bind-expression.ts';
import { RuleSources } from './rule-sources.ts';
import type { RuleTrace, Traces } from './trace.ts';

const firstBackoffMs = 1000;
const longestBackoffMs = 30_000;

/** Tells that a rule failed on one value, or as a whole; it goes on with the next, or starts again. */
export type ReportFault = (rule: RulePlan, message: string) => void;

/** Tells that a rule does nothing for now, and asks whether that is so still. */
export type ReportWaiting = (rule: RulePlan, message: string, isUnknown: () => boolean) => void;

export interface RuleRuntime {
  readonly graph: Graph;
  /** The clock of time-based steps and of restarts. */
  readonly scheduler: SchedulerLike;
  readonly traces: Traces;
  readonly reportFault: ReportFault;
  /** Tells that a step has dropped a value because it holds as many as it may. */
  readonly reportLimit: ReportFault;
  readonly reportWaiting: ReportWaiting;
}

/** A rule that runs. */
export interface RunningRule {
  /** Places it behind all rules that run by now, and anew among those that wait until a turn has settled. */
  moveLast(settleOrder: number): void;
  stop(): void;
}

/** Starts a rule; it hears changes only, not the values that its sources have already. */
export function runRule(plan: RulePlan, runtime: RuleRuntime): RunningRule {
  const origin: Origin = { kind: 'rule', name: plan.name, file: plan.file };
  const { graph } = runtime;
  const destinations = plan.to.map((address) => graph.get(address));
  const trace = runtime.traces.open({ ...plan, copies: copiedBy(plan, graph) });
  const fail = (error: unknown, destination?: string) => {
    const message = 'stream' in plan.body && destination === undefined ? faultText(error, plan) : lineOf(error);
    trace.fail(message, destination);
    runtime.reportFault(plan, message);
  };
  const write = (value: unknown) => {
    if (trace.isRecorded) trace.result(value);
    for (const destination of destinations) {
      try {
        graph.writeTo(destination, value, origin);
      } catch (error) {
        fail(error, destination.address);
      }
    }
  };
  const sources = new RuleSources(graph, plan.settleOrder);
  const subscription =
    'stream' in plan.body
      ? runStream(sources, plan.body, runtime, write, fail)
      : runExpressions(sources, plan.body, plan, runtime, trace, write, fail);
  subscription.add(trace.close);
  return {
    moveLast: (settleOrder) => sources.moveLast(settleOrder),
    stop: () => subscription.unsubscribe(),
  };
}

function lineOf(error: unknown): string {
  return messageOf(error).split('\n', 1)[0]!;
}

/** What a stream failed with, and where in the author's own files. */
function faultText(error: unknown, { file }: RulePlan): string {
  const flow = { path: resolve(file), name: file };
  const place = placeIn(stackOf(error), (path) => ownName(path, flow));
  return place === undefined ? wordsOf(error) : `${wordsOf(error)} (${formatPlace(place)})`;
}

/** The source of a rule that does nothing but copy. */
function copiedBy({ body }: RulePlan, graph: Graph): Parameter | undefined {
  if ('stream' in body || 'named' in body.from || body.from.any.length > 1) return undefined;
  const isCopy = body.when === undefined && body.map === undefined && body.pipe.length === 0;
  return isCopy ? graph.get(body.from.any[0]!) : undefined;
}

type Write = (value: unknown) => void;
type Fail = (error: unknown) => void;

function runStream(
  sources: RuleSources,
  body: StreamBody,
  { scheduler }: RuleRuntime,
  write: Write,
  fail: Fail,
): Subscription {
  let attempts = 0;
  return defer(() => {
    body.connect(sources);
    return body.stream;
  })
    .pipe(
      retry({
        delay: (error) => {
          fail(error);
          return timer(Math.min(firstBackoffMs * 2 ** attempts++, longestBackoffMs), scheduler);
        },
      }),
    )
    .subscribe({
      next: (value) => {
        attempts = 0;
        write(value);
      },
      error: fail,
    });
}

function runExpressions(
  sources: RuleSources,
  body: ExpressionBody,
  plan: RulePlan,
  { graph, scheduler, reportLimit, reportWaiting }: RuleRuntime,
  trace: RuleTrace,
  write: Write,
  fail: Fail,
): Subscription {
  let isComplete = true;
  let heard: Change | undefined;
  const told = new Set<string>();
  const waitFor = (address: string) => {
    const node = graph.get(address);
    const isUnknown = () => node.value === undefined;
    const message = `waits for ${address}, which is ${node.type === 'T' ? 'a trigger and has no value' : 'unknown'}`;
    trace.wait(message);
    if (told.has(address)) return;
    told.add(address);
    reportWaiting(plan, message, isUnknown);
  };
  const overflow = (message: string) => {
    trace.limit(message);
    reportLimit(plan, message);
  };
  const lookup: ExpressionRuntime = {
    now: () => graph.now(),
    valueOf: (address) => graph.get(address).value,
    reportUnknown: waitFor,
    reportFault: (error) => {
      if (isComplete) fail(error); // with unknown names an expression that needs them has no result yet
    },
  };
  const bind = (expression: RuleExpression) => bindExpression(expression, lookup);
  const subscription = new Subscription();
  const emit = body.pipe.length === 0 ? write : createPipe();
  const when = body.when && bind(body.when);
  const map = body.map && bind(body.map);
  const compute = (scope: Record<string, Value>, value: Value | undefined) => {
    if (when !== undefined && when(scope) !== true) return trace.stop();
    const result = map === undefined ? value : map(scope);
    if (result !== undefined) emit(result);
  };
  const copy = (value: Value) => {
    if (!trace.isRecorded) return write(value);
    trace.begin();
    write(value);
    trace.end();
  };
  const run = (scope: Record<string, Value>, value: Value | undefined) => {
    trace.begin();
    compute(scope, value);
    trace.end();
  };

  const { from } = body;
  if (trace.rule.copies !== undefined) subscription.add(sources.any([trace.rule.copies.address], copy));
  else if ('any' in from) subscription.add(sources.any(from.any, createChangeListener(graph, from.any, run)));
  else
    subscription.add(
      sources.named(from.named, (values, isAllKnown) => {
        if (!isAllKnown && from.requiresAll) return;
        isComplete = isAllKnown;
        run(values, undefined);
        isComplete = true;
      }),
    );
  return subscription;

  function createPipe(): (value: Value) => void {
    const input = new Subject<Value>();
    const causalScheduler = createCausalScheduler(graph, scheduler);
    const output = body.pipe.reduce(
      (stream, step) => stream.pipe(step.create({ scheduler, causalScheduler, bind, overflow })),
      input.asObservable(),
    );
    const writeNowOrLater = (value: Value) => {
      if (graph.cause === undefined) graph.onBehalfOf(heard, () => write(value));
      else write(value);
    };
    subscription.add(output.subscribe({ next: writeNowOrLater, error: fail }));
    return (value) => {
      heard = graph.cause;
      input.next(value);
    };
  }
}

/** Keeps one scope for all runs, with `value` and `previous`: the value before, known from the start where there is one. */
function createChangeListener(
  graph: Graph,
  addresses: readonly string[],
  run: (scope: Record<string, Value>, value: Value) => void,
): (value: Value) => void {
  const scope: Record<string, Value> = { value: 0 };
  let last = addresses.length === 1 ? graph.get(addresses[0]!).value : undefined;
  return (value) => {
    scope.value = value;
    if (last !== undefined) scope.previous = last;
    last = value;
    run(scope, value);
  };
}
