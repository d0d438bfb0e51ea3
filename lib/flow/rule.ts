// Runs one rule: on what its source says, `when`, then `map`, then the steps of `pipe`, then a write to each destination.
// A rule in TypeScript is a stream instead; when it fails it is logged and started again with backoff.

import { defer, retry, type SchedulerLike, Subject, Subscription, timer } from 'rxjs';
import type { Graph } from '../graph/graph.ts';
import { messageOf } from '../model/error.ts';
import type { Origin } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import { Ears } from './ears.ts';
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

/** A rule that runs. */
export interface RunningRule {
  /** Places it behind all rules that run by now, and anew among those that wait until a turn has settled. */
  moveLast(settleOrder: number): void;
  stop(): void;
}

/** Starts a rule; it hears changes only, not the values that its sources have already. */
export function runRule(plan: RulePlan, runtime: RuleRuntime): RunningRule {
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
  const ears = new Ears(graph, plan.settleOrder);
  const subscription =
    'stream' in plan.body
      ? runStream(ears, plan.body, runtime, write, fail)
      : runExpressions(ears, plan.body, runtime, write, fail);
  return {
    moveLast(settleOrder) {
      ears.settleOrder = settleOrder;
      ears.listenLast();
    },
    stop: () => subscription.unsubscribe(),
  };
}

type Write = (value: unknown) => void;
type Fail = (error: unknown) => void;

function runStream(ears: Ears, body: StreamBody, { scheduler }: RuleRuntime, write: Write, fail: Fail): Subscription {
  let attempts = 0;
  return defer(() => {
    body.connect(ears);
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
  ears: Ears,
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
  if ('any' in from) subscription.add(listenToAny(ears, from.any, createChangeListener(graph, from.any, run)));
  else
    subscription.add(
      listenToNamed(ears, from.named, (values, isAllKnown) => {
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
