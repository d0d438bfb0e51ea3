// Runs one rule: what its body makes of its sources is written to each destination.

import type { Subscription } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import type { Parameter } from '../../../model/parameter.ts';
import type { RulePlan } from '../../plan.ts';
import { type RunningBody, runExpressions } from './expressions/run-expressions.ts';
import type { RuleContext, RuleRuntime } from './rule-context.ts';
import { GraphOutput } from './rule-output.ts';
import { RuleSources } from './rule-sources.ts';
import { runStream } from './streams/run-stream.ts';

/** A rule that was started. */
export class StartedRule {
  readonly #sources: RuleSources;
  readonly #subscription: Subscription;
  /** Runs it once with what is known, in its place of this turn; undefined: it does not run when it starts. */
  readonly begin: (() => void) | undefined;

  constructor(sources: RuleSources, { subscription, begin }: RunningBody) {
    this.#sources = sources;
    this.#subscription = subscription;
    this.begin = begin;
  }

  /** Places it behind all rules that run by now, and anew among those that wait until a turn has settled. */
  moveLast(settleOrder: number): void {
    this.#sources.moveLast(settleOrder);
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }
}

/** Starts a rule. It observes changes; the values that its sources have already it sees when `begin` is called. */
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

/** The source of a rule that does nothing but copy. */
function copiedBy({ body }: RulePlan, graph: Graph): Parameter | undefined {
  if ('stream' in body || 'named' in body.from || body.from.any.length > 1) return undefined;
  const { when, map, pipe, split, hearsWrites, runsAtStart } = body;
  const hasMore = pipe.length > 0 || hearsWrites || runsAtStart;
  const isCopy = when === undefined && map === undefined && split === undefined && !hasMore;
  return isCopy ? graph.get(body.from.any[0]!) : undefined;
}
