// The rules that run, and those that are switched off. A swap stops and starts only those that a reload has changed; all
// others keep their subscriptions and all that they hold, and rules that share a source go on in the order of the flow
// files. What was switched by hand stays so until its flow file is another.

import { unknownName } from '../../../json5/mistake.ts';
import { HubError } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import type { RuleRuns } from '../../../model/rule-run.ts';
import type { RuleStatus } from '../../../model/rule-status.ts';
import { type RulePlan, sourcesOf } from '../../plan.ts';
import { type Difference, differenceOf } from '../difference.ts';
import { type RuleRuntime, type RunningRule, runRule } from './rule.ts';
import type { RuleStates } from './rule-states.ts';

interface Entry {
  readonly plan: RulePlan;
  /** undefined: it is switched off. */
  readonly rule: RunningRule | undefined;
  /** Who has switched it otherwise than its flow file says. */
  readonly switchedBy: Origin | undefined;
}

/** An entry to come: what is known of it before it is started. */
interface Next extends Pick<Entry, 'plan' | 'switchedBy'> {
  /** The entry that it goes on from. */
  readonly before: Entry | undefined;
}

export class RunningRules {
  #entries: readonly Entry[] = [];
  readonly #runtime: RuleRuntime;
  readonly #states: RuleStates;

  constructor(runtime: RuleRuntime, states: RuleStates) {
    this.#runtime = runtime;
    this.#states = states;
  }

  /** Stops the rules that the plans lack, or whose parameters `gone` has; returns what starts the others of the plans. */
  stopLeaving(plans: readonly RulePlan[], gone: ReadonlySet<string>): () => Difference {
    const staying = new Map<string, Entry[]>();
    for (const entry of this.#entries) {
      if (entry.plan.addresses.some((address) => gone.has(address)) && entry.rule !== undefined) continue;
      const same = staying.get(entry.plan.key);
      if (same === undefined) staying.set(entry.plan.key, [entry]);
      else same.push(entry);
    }
    const next = plans.map((plan): Next => {
      const before = staying.get(plan.key)?.shift();
      const isSameFile = before?.plan.fileVersion === plan.fileVersion;
      return { plan, before, switchedBy: isSameFile ? before?.switchedBy : undefined };
    });
    return this.#stopFor(next);
  }

  /**
   * Switches a rule on or off, until it is switched again or its flow file is another. Errors: `not-found` with the nearest
   * name, `conflict` when there are several of the name.
   */
  switch(name: string, file: string | undefined, isEnabled: boolean, by: Origin): RuleStatus {
    const named = this.#named(name);
    const found = file === undefined ? named : named.filter(({ plan }) => plan.file === file);
    const [entry] = found;
    if (entry === undefined) {
      const files = [...new Set(named.map(({ plan }) => plan.file))];
      throw new HubError('not-found', unknownName(`file of rule "${name}"`, file!, files));
    }
    if (found.length > 1) {
      const expected = file === undefined ? 'the file as well' : 'a name that only one of them has';
      throw new HubError('conflict', `rule: expected ${expected}, there are ${found.length} rules "${name}"`);
    }
    const switchedBy = isEnabled === entry.plan.isEnabled ? undefined : by;
    const isOther = (other: Entry) => other !== entry;
    this.#stopFor(
      this.#entries.map((before) => ({
        ...before,
        before,
        switchedBy: isOther(before) ? before.switchedBy : switchedBy,
      })),
    )();
    return this.statuses().find((_, place) => this.#entries[place]!.plan === entry.plan)!;
  }

  /** How each rule is doing, top to bottom. */
  statuses(): RuleStatus[] {
    return this.#entries.map(({ plan, rule, switchedBy }) => {
      const { name, file, folder, to } = plan;
      const state = this.#states.stateOf(plan);
      const by = switchedBy === undefined ? '' : `disabled by ${switchedBy.name}`;
      return {
        name,
        file,
        folder,
        enabled: rule !== undefined,
        from: sourcesOf(plan),
        to,
        ...(rule === undefined ? { ...state, state: 'disabled', reason: by } : state),
      };
    });
  }

  /** The last runs of the rules of a name. Errors: `not-found`, with the nearest name. */
  runsOf(name: string): RuleRuns[] {
    const stopped = this.#named(name).filter(({ rule }) => rule === undefined);
    const running = stopped.length < this.#named(name).length ? this.#runtime.traces.runsOf(name) : [];
    return [
      ...running,
      ...stopped.map(({ plan }) => ({ rule: name, file: plan.file, isAlwaysRecorded: true, runs: [] })),
    ];
  }

  stop(): void {
    for (const { rule } of this.#entries) rule?.stop();
    this.#entries = [];
  }

  /** The rules of a name. Errors: `not-found`, with the nearest name. */
  #named(name: string): Entry[] {
    const found = this.#entries.filter(({ plan }) => plan.name === name);
    if (found.length > 0) return found;
    throw new HubError(
      'not-found',
      unknownName('rule', name, [...new Set(this.#entries.map(({ plan }) => plan.name))]),
    );
  }

  /** Stops what does not run on; returns what starts the rest. */
  #stopFor(next: readonly Next[]): () => Difference {
    const runOn = new Set(next.filter(isWanted).map(({ before }) => before));
    const leaving = this.#entries.filter((entry) => entry.rule !== undefined && !runOn.has(entry));
    for (const { rule } of leaving) rule!.stop();
    return () => this.#start(next, leaving);
  }

  #run(plan: RulePlan): RunningRule {
    this.#states.started(plan);
    return runRule(plan, this.#runtime);
  }

  #start(next: readonly Next[], left: readonly Entry[]): Difference {
    const before = this.#entries.filter(({ rule }) => rule !== undefined);
    const wanted = next.filter(isWanted);
    const isSame = wanted.every(
      ({ plan, before: entry }, place) =>
        entry?.rule !== undefined && entry === before[place] && entry.plan.settleOrder === plan.settleOrder,
    );
    this.#entries = next.map((one) => {
      const { plan, switchedBy, before: entry } = one;
      return { plan, switchedBy, rule: isWanted(one) ? (entry?.rule ?? this.#run(plan)) : undefined };
    });
    if (!isSame) for (const { plan, rule } of this.#entries) rule?.moveLast(plan.settleOrder);
    const come = wanted.filter(({ before: entry }) => entry?.rule === undefined);
    const names = (plans: readonly { plan: RulePlan }[]) => plans.map(({ plan }) => plan.name);
    return differenceOf(names(left), names(come));
  }
}

/** Whether a rule is to run: as its flow file says, or the other way round when it was switched. */
function isWanted({ plan, switchedBy }: Next): boolean {
  return plan.isEnabled === (switchedBy === undefined);
}
