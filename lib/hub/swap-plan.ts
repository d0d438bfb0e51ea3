// Swaps what a plan has changed, in a hub that runs.

import type { Plan } from '../flow/plan.ts';
import type { Parts } from './parts.ts';
import type { Reload } from './reload.ts';

/** Connections first, then rules: what connections set as they start, defaults too, starts no new rule. Shadow rules run elsewhere. */
export function swapPlan({ keeping, connections, rules, duty }: Parts, plan: Plan, isSafe: boolean): Reload {
  const swap = connections.compare(plan.connections);
  duty.swap(plan, () => connections.swapGateways(swap));
  keeping.plan(plan);
  const live = plan.rules.filter(({ isShadow }) => !isShadow);
  const plans = isSafe ? live.map((rule) => ({ ...rule, isEnabled: false })) : live;
  const startRules = rules.stopLeaving({ ...plan, rules: plans }, swap.gone);
  return { connections: connections.swapOthers(swap), rules: startRules() };
}
