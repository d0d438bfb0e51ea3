// Runs one rule: on what its source says, `when`, then `map`, then the steps of `pipe`, then a write to each destination.
// A rule in TypeScript is a stream instead; when it fails it is logged and started again with backoff.

import { defer, retry, type SchedulerLike, Subject, Subscription, timer } from 'rxjs';
import type { Graph } from '../graph/graph.ts';
import { messageOf } from '../model/error.ts';
import type { Origin } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import type { ExpressionBody, RulePlan, StreamBody } from './plan.ts';
import { bindExpression, type ExpressionRuntime, type RuleExpression } from './rule-expression.ts';
import { listenToAny, listenToNamed, nodeOf } from './source.ts';

const firstBackoffMs = 1000;
const longestBackoffMs = 30_000;

/** Tells that a rule failed on one value, or as a whole; it goes on with the next, or starts again. */
export type ReportFault = (rule: RulePlan, message: string) => void;

export interface RuleRuntime {
  readonly graph: Graph;
  /** The clock of time-based steps and of restarts. */
  readonly scheduler: SchedulerLike;
  readonly reportFault: ReportFault;
}

/** Starts a rule; it hears changes only, not the values that its sources have already. Unsubscribing stops it. */
export function runRule(plan: RulePlan, runtime: RuleRuntime): Subscription {
  const origin: Origin = { kind: 'rule', name: plan.name };
  const { graph } = runtime;
  const destinations = plan.to.map((address) => nodeOf(graph, address));
  const fail = (error: unknown) => runtime.reportFault(plan, messageOf(error).split('\n', 1)[0]!);
  const write = (value: unknown) => {
    for (const destination of destinations) {
      try {
        graph.writeTo(destination, value, origin);
      } catch (error) {
        fail(error);
      }
    }
  };
  return 'stream' in plan.body
    ? runStream(plan, plan.body, runtime, write, fail)
    : runExpressions(plan, plan.body, runtime, write, fail);
}

type Write = (value: unknown) => void;
type Fail = (error: unknown) => void;

function runStream(plan: RulePlan, body: StreamBody, { graph, scheduler }: RuleRuntime, write: Write, fail: Fail) {
  let attempts = 0;
  return defer(() => {
    body.connect(graph, plan.settleOrder);
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
  plan: RulePlan,
  body: ExpressionBody,
  { graph, scheduler }: RuleRuntime,
  write: Write,
  fail: Fail,
): Subscription {
  let isComplete = true;
  const lookup: ExpressionRuntime = {
    now: () => graph.now(),
    valueOf: (address) => nodeOf(graph, address).value,
    reportFault: (error) => {
      if (isComplete) fail(error); // with unknown names an expression that needs them has no result yet
    },
  };
  const bind = (expression: RuleExpression) => bindExpression(expression, lookup);
  const subscription = new Subscription();
  const emit = body.pipe.length === 0 ? write : createPipe();
  const when = body.when && bind(body.when);
  const map = body.map && bind(body.map);
  const run = (scope: Record<string, Value>, value: Value | undefined) => {
    if (when !== undefined && when(scope) !== true) return;
    const result = map === undefined ? value : map(scope);
    if (result !== undefined) emit(result);
  };

  const { from } = body;
  if ('any' in from) subscription.add(listenToAny(graph, from.any, createChangeListener(graph, from.any, run)));
  else
    subscription.add(
      listenToNamed(graph, from.named, plan.settleOrder, (values, isAllKnown) => {
        if (!isAllKnown && from.requiresAll) return;
        isComplete = isAllKnown;
        run(values, undefined);
        isComplete = true;
      }),
    );
  return subscription;

  function createPipe(): (value: Value) => void {
    const input = new Subject<Value>();
    const output = body.pipe.reduce(
      (stream, step) => stream.pipe(step.create({ scheduler, bind })),
      input.asObservable(),
    );
    subscription.add(output.subscribe({ next: write, error: fail }));
    return (value) => input.next(value);
  }
}

/** Keeps one scope for all runs, with `value` and `previous`: the value before, known from the start where there is one. */
function createChangeListener(
  graph: Graph,
  addresses: readonly string[],
  run: (scope: Record<string, Value>, value: Value) => void,
): (value: Value) => void {
  const scope: Record<string, Value> = { value: 0 };
  let last = addresses.length === 1 ? nodeOf(graph, addresses[0]!).value : undefined;
  return (value) => {
    scope.value = value;
    if (last !== undefined) scope.previous = last;
    last = value;
    run(scope, value);
  };
}
