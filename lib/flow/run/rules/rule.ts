// Runs one rule: what its body makes of its sources is written to each destination.

import type { Graph } from '../../../graph/graph.ts';
import type { Parameter } from '../../../model/parameter.ts';
import type { RulePlan } from '../../plan.ts';
import type { RuleContext, RuleRuntime } from './rule-context.ts';
import { createOutput } from './rule-output.ts';
import { RuleSources } from './rule-sources.ts';
import { runExpressions } from './run-expressions.ts';
import { runStream } from './run-stream.ts';

/** A rule that was started. */
export interface StartedRule {
  /** Places it behind all rules that run by now, and anew among those that wait until a turn has settled. */
  moveLast(settleOrder: number): void;
  stop(): void;
}

/** Starts a rule; it observes changes only, not the values that its sources have already. */
export function startRule(plan: RulePlan, runtime: RuleRuntime): StartedRule {
  const { graph, traces } = runtime;
  const sources = new RuleSources(graph, plan.settleOrder);
  const trace = traces.open({ ...plan, copies: copiedBy(plan, graph) });
  const output = createOutput(plan, runtime, trace);
  const context: RuleContext = { plan, runtime, sources, output, trace };
  const { body } = plan;
  const subscription = 'stream' in body ? runStream(body, context) : runExpressions(body, context);
  subscription.add(trace.close);
  return {
    moveLast: (settleOrder) => sources.moveLast(settleOrder),
    stop: () => subscription.unsubscribe(),
  };
}

/** The source of a rule that does nothing but copy. */
function copiedBy({ body }: RulePlan, graph: Graph): Parameter | undefined {
  if ('stream' in body || 'named' in body.from || body.from.any.length > 1) return undefined;
  const isCopy = body.when === undefined && body.map === undefined && body.pipe.length === 0;
  return isCopy ? graph.get(body.from.any[0]!) : undefined;
}
