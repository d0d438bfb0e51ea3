// The rules that run. A swap stops and starts only those that a reload has changed; all others keep their subscriptions
// and all that they hold, and rules that share a source go on in the order of the flow files.

import { type Difference, differenceOf } from './difference.ts';
import type { RulePlan } from './plan.ts';
import { type RuleRuntime, type RunningRule, runRule } from './rule.ts';

interface Entry {
  readonly plan: RulePlan;
  readonly rule: RunningRule;
}

export class RunningRules {
  #entries: readonly Entry[] = [];
  readonly #runtime: RuleRuntime;

  constructor(runtime: RuleRuntime) {
    this.#runtime = runtime;
  }

  /** Stops the rules that the plans lack, or whose parameters `gone` has; returns what starts the others of the plans. */
  stopLeaving(plans: readonly RulePlan[], gone: ReadonlySet<string>): () => Difference {
    const staying = new Map<string, Entry[]>();
    const leaving = new Set(this.#entries);
    for (const entry of this.#entries) {
      if (entry.plan.addresses.some((address) => gone.has(address))) continue;
      const same = staying.get(entry.plan.key);
      if (same === undefined) staying.set(entry.plan.key, [entry]);
      else same.push(entry);
    }
    const next = plans.map((plan) => {
      const entry = staying.get(plan.key)?.shift();
      if (entry !== undefined) leaving.delete(entry);
      return { plan, entry };
    });
    for (const { rule } of leaving) rule.stop();
    return () => this.#start(next, leaving);
  }

  /** The plans of the rules that run, top to bottom. */
  get plans(): readonly RulePlan[] {
    return this.#entries.map(({ plan }) => plan);
  }

  stop(): void {
    for (const { rule } of this.#entries) rule.stop();
    this.#entries = [];
  }

  #start(next: readonly { plan: RulePlan; entry: Entry | undefined }[], left: ReadonlySet<Entry>): Difference {
    const before = this.#entries;
    const isSame = next.every(
      ({ plan, entry }, place) =>
        entry !== undefined && entry === before[place] && entry.plan.settleOrder === plan.settleOrder,
    );
    this.#entries = next.map(({ plan, entry }) => ({ plan, rule: entry?.rule ?? runRule(plan, this.#runtime) }));
    if (!isSame) for (const { plan, rule } of this.#entries) rule.moveLast(plan.settleOrder);
    const come = next.filter(({ entry }) => entry === undefined);
    const names = (plans: readonly { plan: RulePlan }[]) => plans.map(({ plan }) => plan.name);
    return differenceOf(names([...left]), names(come));
  }
}
