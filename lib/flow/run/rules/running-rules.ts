// The rules, running or disabled. A reload stops and starts only the rules that it changes. All other rules keep their subscriptions and
// the values that they hold, and rules that share a source still run in the order of the flow files. A rule that an operator has switched
// remains switched until its source text changes.
import { Subscription } from 'rxjs';
import { unknownName } from '../../../json5/nearest-name.ts';
import { HubError } from '../../../model/error.ts';
import type { Origin, Parameter } from '../../../model/parameter.ts';
import type { RuleRuns, RuleStatus, SwitchTerm } from '../../../model/reports/rule-status.ts';
import { haveSameText, type Plan, type RulePlan, sourcesOf } from '../../plan.ts';
import { type Difference, differenceOf } from '../difference.ts';
import type { ManualSwitch, ManualSwitches, Switchable } from '../manual-switches.ts';
import { type StartedRule, startRule } from './rule.ts';
import type { RuleRuntime } from './rule-context.ts';

/**
 * The number of writes after which further rules begin in another turn. A turn may contain far more writes, but these writes may cause
 * further writes.
 */
const begunWritesPerTurn = 10_000;

/** A rule, starting with its first plan. A reload that does not change the rule's text assigns another plan to the rule. */
interface RunningRule {
  plan: RulePlan;
  /** The rule as started; undefined if the rule is disabled or waiting. */
  started: StartedRule | undefined;
  /** The missing address of another hub for which the rule is waiting; undefined if the rule is not waiting. */
  waitsFor: string | undefined;
  /** How an operator has switched the rule; undefined means that the flow file applies. */
  switched: ManualSwitch | undefined;
}

/** A rule as it will be after a change of plans. */
interface ComingRule extends Readonly<Pick<RunningRule, 'plan' | 'switched'>> {
  /** The running rule that this rule continues; undefined for a new rule. */
  readonly before: RunningRule | undefined;
}

/** The effect of a new plan on the rules, computed before any rule stops. */
export interface RuleChange {
  /** The rules after the change, in the order of the flow files. */
  readonly coming: readonly ComingRule[];
  /** The running rules that no rule in the plan continues. */
  readonly leaving: readonly RunningRule[];
  readonly switches: KeptSwitches;
  readonly placeOf: Plan['placeOf'];
}

/** What becomes of the switched rules that no rule in the new plan continues, such as a rule that was moved to another file. */
interface KeptSwitches {
  /** The switches that continue for rules in the plan with the same text. */
  readonly switched: ReadonlyMap<RulePlan, ManualSwitch>;
  /** Rules whose text has changed, each with the new rule of the same name. */
  readonly released: readonly (readonly [before: SwitchedRule, after: RulePlan])[];
  /** The switched rules that are missing from the plan. */
  readonly absent: readonly SwitchedRule[];
  /** All switched rules that were compared with the rules in the plan. */
  readonly others: readonly SwitchedRule[];
}

type SwitchedRule = Readonly<Pick<RunningRule, 'plan' | 'switched'>>;

/**
 * The maximum number of switched rules that are remembered without a flow file, such as a rule that is being moved from one file to
 * another.
 */
const maxAbsent = 1000;

export class RunningRules {
  readonly #runtime: RuleRuntime;
  readonly #switches: ManualSwitches;
  /** The rules, running or disabled, in the order of the flow files. */
  #rules: readonly RunningRule[] = [];
  #placeOf: Plan['placeOf'];
  /** The reason why no rule is running; undefined if the rules are running. */
  #held: string | undefined = undefined;
  /** The addresses of parameters that other hubs have withdrawn since the last comparison with the graph. */
  readonly #withdrawn = new Set<string>();
  /** The missing address, if any, in each list of addresses that many rules share. Determined once each time rules start. */
  readonly #missingOfShared = new Map<readonly string[], string | undefined>();
  /** The switched rules that are currently not in any flow file. */
  #absent: readonly SwitchedRule[] = [];
  readonly #following = new Subscription();

  constructor(runtime: RuleRuntime, switches: ManualSwitches) {
    this.#runtime = runtime;
    this.#switches = switches;
    const { removed$, mirrored$ } = runtime.graph;
    const note = ({ address, remote }: Parameter) => {
      if (remote !== undefined) this.#withdrawn.add(address);
    };
    this.#following.add(removed$.subscribe({ next: note, error: () => {} }));
    this.#following.add(mirrored$.subscribe({ next: () => this.#waitOrStart(), error: () => {} }));
  }

  /** The number of rules that are running, or will run as soon as the parameters for which they are waiting exist. */
  get enabledCount(): number {
    return this.#rules.reduce((count, rule) => (isEnabled(rule) ? count + 1 : count), 0);
  }

  /** Returns the status of each rule, in the order of the flow files. */
  statuses(): RuleStatus[] {
    return [...this.eachStatus()];
  }

  /** Yields the status of each rule, as `statuses` does, but one at a time on demand. */
  *eachStatus(): Generator<RuleStatus, void, void> {
    for (const rule of this.#rules) yield this.#statusOf(rule);
  }

  /** Returns the most recent runs of the rules with this name. Errors: `not-found`, which suggests the most similar name. */
  runsOf(name: string): RuleRuns[] {
    const stopped = this.#named(name).filter(({ started }) => started === undefined);
    const running = stopped.length < this.#named(name).length ? this.#runtime.traces.runsOf(name) : [];
    return [
      ...running,
      ...stopped.map(({ plan }) => ({ rule: name, file: plan.file, isAlwaysRecorded: true, runs: [] })),
    ];
  }

  /** Returns how a plan changes the rules. `gone` contains the addresses of parameters that the plan replaces or removes. */
  diff({ rules, placeOf }: Pick<Plan, 'rules' | 'placeOf'>, gone: ReadonlySet<string>): RuleChange {
    const followed = followRules(this.#rules, rules, new Set([...gone, ...this.#withdrawn]));
    const switches = this.#keepSwitched(rules, followed);
    const coming = rules.map((plan, index) => ({
      plan,
      before: followed[index],
      switched: this.#lasting(plan) ?? switches.switched.get(plan) ?? followed[index]?.switched,
    }));
    return { coming, leaving: this.#leaving(coming), switches, placeOf };
  }

  /** Returns the names of the rules that a change would stop and start. */
  preview({ coming, leaving }: RuleChange): Difference {
    const come = coming.filter((rule) => this.#shallRun(rule) && rule.before?.started === undefined);
    const names = (rules: readonly { plan: RulePlan }[]) => rules.map(({ plan }) => plan.name);
    return differenceOf(names(leaving), names(come));
  }

  /** Stops the rules that are replaced or removed. */
  stopLeaving({ leaving }: RuleChange): void {
    for (const rule of leaving) stopRule(rule);
  }

  /** Starts the rules that a change adds or replaces. Call this after `stopLeaving`. */
  start({ coming, leaving, switches, placeOf }: RuleChange): Difference {
    const { switched, released, absent, others } = switches;
    for (const { plan: rule } of others) this.#switches.note(switchableOf(rule), undefined);
    for (const [rule, one] of switched) this.#switches.note(switchableOf(rule), one);
    for (const [before, rule] of released)
      this.#switches.release(switchableOf(before.plan), before.switched!, rule.isEnabled, 'its text has changed');
    this.#absent = absent.slice(-maxAbsent);
    this.#placeOf = placeOf;
    return this.#start(coming, leaving, true);
  }

  /** Returns the rules in a plan as they would be after a reload, with `isEnabled` as switched by operators. */
  asSwitched(rules: readonly RulePlan[]): readonly RulePlan[] {
    const isUnchanged = this.#rules.every(({ switched }) => switched === undefined);
    if (this.#absent.length === 0 && isUnchanged && !rules.some((rule) => this.#lasting(rule))) return rules;
    const live = rules.filter(({ isShadow }) => !isShadow);
    const followed = followRules(this.#rules, live, new Set());
    const { switched } = this.#keepSwitched(live, followed);
    for (const [index, rule] of live.entries()) {
      const before = this.#lasting(rule) ?? followed[index]?.switched;
      if (before !== undefined) switched.set(rule, before);
    }
    return rules.map((rule) => ({ ...rule, isEnabled: switched.get(rule)?.isOn ?? rule.isEnabled }));
  }

  /** Returns the operator's switch with a term for a rule, or undefined if there is none. */
  #lasting(plan: RulePlan): ManualSwitch | undefined {
    return this.#switches.lasting(switchableOf(plan));
  }

  /** Makes a rule follow its flow file again after the term of a switch has ended. Does nothing if there is no such rule. */
  release({ name, file }: Switchable): void {
    const found = this.#rules.find(({ plan }) => plan.name === name && plan.file === file);
    if (found !== undefined) this.#switchTo(found, undefined);
  }

  /** Applies switches with a term that arrive late from a store that an earlier run wrote. */
  followTerms(): void {
    for (const rule of this.#rules) {
      const lasting = this.#lasting(rule.plan);
      if (lasting !== undefined && rule.switched?.term === undefined) this.#switchTo(rule, lasting);
    }
  }

  #switchTo(found: RunningRule, switched: ManualSwitch | undefined): void {
    const coming = this.#rules.map((before) => ({
      plan: before.plan,
      before,
      switched: before === found ? switched : before.switched,
    }));
    this.#swap(coming);
  }

  #keepSwitched(rules: readonly RulePlan[], followed: readonly (RunningRule | undefined)[]) {
    const switched = new Map<RulePlan, ManualSwitch>();
    const released: (readonly [SwitchedRule, RulePlan])[] = [];
    const absent: SwitchedRule[] = [];
    const isFollowed = new Set(followed);
    const lost = this.#rules.filter(
      (rule) => rule.switched !== undefined && rule.switched.term === undefined && !isFollowed.has(rule),
    );
    const others = [...this.#absent, ...lost];
    if (others.length === 0) return { switched, released, absent, others };
    const free = new Set(rules.filter((_, index) => followed[index] === undefined));
    const take = (isMeant: (rule: RulePlan) => boolean) => {
      const found = [...free].find(isMeant);
      if (found !== undefined) free.delete(found);
      return found;
    };
    for (const before of others) {
      const same = take((rule) => haveSameText(before.plan, rule));
      if (same !== undefined) {
        switched.set(same, before.switched!);
        continue;
      }
      const { name, file } = before.plan;
      const after = take((rule) => rule.name === name && rule.file === file) ?? take((rule) => rule.name === name);
      if (after === undefined) absent.push(before);
      else released.push([before, after]);
    }
    return { switched, released, absent, others };
  }

  /**
   * Switches a rule on or off until it is switched again or its text changes. Errors: `not-found`, which suggests the most similar name;
   * `conflict` if several rules have this name.
   */
  switch(name: string, file: string | undefined, isEnabled: boolean, by: Origin, term?: SwitchTerm): RuleStatus {
    const found = this.#find(name, file);
    const isAsWritten = isEnabled === found.plan.isEnabled && term === undefined;
    const switched = isAsWritten ? undefined : { isOn: isEnabled, by, term };
    this.#switches.note(switchableOf(found.plan), switched);
    this.#switchTo(found, switched);
    return this.#statusOf(found);
  }

  /**
   * Returns whether a rule should run, or undefined if there is no rule with this name. A rule in the file is preferred to a rule in
   * another file.
   */
  isOn({ name, file }: Pick<Switchable, 'name' | 'file'>): boolean | undefined {
    const named = this.#rules.filter(({ plan }) => plan.name === name);
    const found = named.find(({ plan }) => plan.file === file) ?? named[0];
    return found && isWanted(found);
  }

  /** Holds all rules for a reason, or releases them if the reason is undefined. With `begins`, rules that run at their start then do so. */
  hold(reason: string | undefined, begins: boolean): void {
    this.#held = reason;
    this.#swap(
      this.#rules.map((before) => ({ ...before, before })),
      begins,
    );
  }

  /** Stops rules whose parameters another hub has withdrawn, and starts waiting rules whose parameters all exist. */
  #waitOrStart(): void {
    const isGone = goneWith(new Set(this.#withdrawn));
    this.#withdrawn.clear();
    this.#missingOfShared.clear();
    const isTouched = ({ plan, started, waitsFor }: RunningRule) =>
      started === undefined
        ? waitsFor !== undefined && this.#missing(plan) !== waitsFor
        : isGone(plan.addresses) || isGone(plan.sharedAddresses);
    if (!this.#rules.some(isTouched)) return;
    const coming = this.#rules.map((rule): ComingRule => {
      const { plan, switched } = rule;
      return { plan, switched, before: isTouched(rule) ? undefined : rule };
    });
    this.#swap(coming);
  }

  /** Returns an address that the rule uses and that does not exist, or undefined if all addresses exist. */
  #missing({ addresses, sharedAddresses }: RulePlan): string | undefined {
    const isMissing = (address: string) => this.#runtime.graph.find(address) === undefined;
    if (!this.#missingOfShared.has(sharedAddresses))
      this.#missingOfShared.set(sharedAddresses, sharedAddresses.find(isMissing));
    return addresses.find(isMissing) ?? this.#missingOfShared.get(sharedAddresses);
  }

  stop(): void {
    this.#following.unsubscribe();
    for (const { started } of this.#rules) started?.stop();
    this.#rules = [];
  }

  #statusOf({ plan, started, switched, waitsFor }: RunningRule): RuleStatus {
    const { name, file, folder, to } = plan;
    const placeOf = this.#placeOf;
    const state = this.#runtime.reports.stateOf(plan);
    const by = switched?.isOn === false ? `disabled by ${switched.by.name}` : (this.#held ?? '');
    return {
      name,
      file,
      get place() {
        return placeOf?.(plan) ?? file; // the location is found on demand
      },
      folder,
      enabled: isEnabled({ started, waitsFor }),
      from: sourcesOf(plan),
      to,
      ...(!('stream' in plan.body) && plan.body.written),
      ...(!('stream' in plan.body) && 'named' in plan.body.from && { names: plan.body.from.named }),
      ...state,
      ...(waitsFor !== undefined && { state: 'waiting', reason: `no hub currently has ${waitsFor}` }),
      ...(started === undefined && waitsFor === undefined && { state: 'disabled', reason: by }),
    };
  }

  /**
   * Returns the only rule with this name, within a file if one is given. Errors: `not-found`; `conflict` if several rules have this name.
   */
  #find(name: string, file: string | undefined): RunningRule {
    const named = this.#named(name);
    const found = file === undefined ? named : named.filter(({ plan }) => plan.file === file);
    const [rule] = found;
    if (rule === undefined) {
      const files = [...new Set(named.map(({ plan }) => plan.file))];
      throw new HubError('not-found', unknownName(`file of rule "${name}"`, file!, files));
    }
    if (found.length > 1) {
      const expected = file === undefined ? 'the file as well' : 'a unique name';
      throw new HubError('conflict', `rule: expected ${expected}, but ${found.length} rules are named "${name}"`);
    }
    return rule;
  }

  /** Returns the rules with this name. Errors: `not-found`, which suggests the most similar name. */
  #named(name: string): RunningRule[] {
    const found = this.#rules.filter(({ plan }) => plan.name === name);
    if (found.length > 0) return found;
    throw new HubError('not-found', unknownName('rule', name, [...new Set(this.#rules.map(({ plan }) => plan.name))]));
  }

  /** Stops the rules that are not continued, and starts the coming rules. */
  #swap(coming: readonly ComingRule[], begins = true): void {
    const leaving = this.#leaving(coming);
    for (const rule of leaving) stopRule(rule);
    this.#start(coming, leaving, begins);
  }

  #leaving(coming: readonly ComingRule[]): RunningRule[] {
    const runOn = new Set(coming.filter((rule) => this.#shallRun(rule)).map(({ before }) => before));
    return this.#rules.filter((rule) => rule.started !== undefined && !runOn.has(rule));
  }

  #start(coming: readonly ComingRule[], left: readonly RunningRule[], begins: boolean): Difference {
    this.#missingOfShared.clear();
    const before = this.#rules.filter(({ started }) => started !== undefined);
    const wanted = coming.filter((rule) => this.#shallRun(rule));
    const isOrderKept = wanted.every(
      ({ plan, before: rule }, place) =>
        rule?.started !== undefined && rule === before[place] && rule.plan.settleOrder === plan.settleOrder,
    );
    const come = wanted.filter(({ before: rule }) => rule?.started === undefined);
    const isNew = coming.map(({ before: rule }) => rule?.started === undefined);
    this.#startInTurns(() => {
      this.#rules = coming.map((rule) => this.#run(rule));
      if (!isOrderKept) for (const { plan, started } of this.#rules) started?.moveLast(plan.settleOrder);
      return begins ? this.#rules.filter((_, place) => isNew[place]) : [];
    });
    const names = (rules: readonly { plan: RulePlan }[]) => rules.map(({ plan }) => plan.name);
    return differenceOf(names(left), names(come));
  }

  /**
   * Starts rules in one turn: all rules are listening before the first write is delivered. Then the rules with `atStart` run, in several
   * turns if they do not fit into one turn.
   */
  #startInTurns(start: () => readonly RunningRule[]): void {
    const { graph } = this.#runtime;
    let starting: readonly RunningRule[] = [];
    let begun = 0;
    const beginSome = () => {
      for (let writes = 0; begun < starting.length && writes < begunWritesPerTurn; begun++) {
        const { plan, started } = starting[begun]!;
        if (started?.begin === undefined) continue;
        started.begin();
        writes += Math.max(1, plan.to.length);
      }
    };
    graph.turn(() => {
      starting = start();
      beginSome();
    });
    while (begun < starting.length) graph.turn(beginSome);
  }

  #shallRun(rule: ComingRule): boolean {
    return this.#held === undefined && isWanted(rule);
  }

  /** Returns the rule itself if it continues. Otherwise, returns a rule that is started, waiting or disabled. */
  #run(coming: ComingRule): RunningRule {
    const { plan, switched, before } = coming;
    const rule = before ?? { plan, switched, started: undefined, waitsFor: undefined };
    rule.plan = plan;
    rule.switched = switched;
    rule.waitsFor = undefined;
    if (rule.started !== undefined || !this.#shallRun(coming)) return rule;
    rule.waitsFor = this.#missing(plan);
    if (rule.waitsFor !== undefined) return rule;
    this.#runtime.reports.started(plan);
    rule.started = startRule(plan, this.#runtime);
    return rule;
  }
}

function stopRule(rule: RunningRule): void {
  rule.started!.stop();
  rule.started = undefined;
}

function isEnabled({ started, waitsFor }: Pick<RunningRule, 'started' | 'waitsFor'>): boolean {
  return started !== undefined || waitsFor !== undefined;
}

/** Returns whether a rule should run: as switched by an operator, or otherwise as its flow file specifies. */
function isWanted({ plan, switched }: Pick<RunningRule, 'plan' | 'switched'>): boolean {
  return switched?.isOn ?? plan.isEnabled;
}

function switchableOf({ name, file }: RulePlan): Switchable {
  return { kind: 'rule', name, file };
}

// Determines which rules continue when one plan replaces another.

interface Followed {
  readonly plan: RulePlan;
  readonly started: StartedRule | undefined;
}

/**
 * Finds the rule that each plan continues: a rule with the same text that has lost none of its parameters. Identical plans at the beginning
 * and at the end of both lists are matched without further comparisons.
 */
function followRules<Rule extends Followed>(
  rules: readonly Rule[],
  plans: readonly RulePlan[],
  gone: ReadonlySet<string>,
): readonly (Rule | undefined)[] {
  const isGone = goneWith(gone);
  const isStaying = ({ plan, started }: Rule) =>
    started === undefined || !(isGone(plan.addresses) || isGone(plan.sharedAddresses));
  const longest = Math.min(rules.length, plans.length);
  let start = 0;
  while (start < longest && rules[start]!.plan === plans[start]) start++;
  let end = 0;
  while (end < longest - start && rules.at(-1 - end)!.plan === plans.at(-1 - end)) end++;
  const staysOr = (rule: Rule) => (isStaying(rule) ? rule : undefined);
  const others = Map.groupBy(rules.slice(start, rules.length - end).filter(isStaying), ({ plan }) => plan.key);
  return [
    ...rules.slice(0, start).map(staysOr),
    ...plans.slice(start, plans.length - end).map(({ key }) => others.get(key)?.shift()),
    ...rules.slice(rules.length - end).map(staysOr),
  ];
}

/** Returns a function that checks whether any address in a list is in `gone`. A list shared by many rules is checked only once. */
function goneWith(gone: ReadonlySet<string>): (addresses: readonly string[]) => boolean {
  if (gone.size === 0) return () => false;
  const known = new Map<readonly string[], boolean>();
  return (addresses) => {
    const isGone = known.get(addresses) ?? addresses.some((address) => gone.has(address));
    known.set(addresses, isGone);
    return isGone;
  };
}
