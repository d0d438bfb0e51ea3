// The rules that run, and those that are switched off. A swap stops and starts only those that a reload has changed. All
// others keep their subscriptions and what they hold, and rules that share a source go on in the order of the flow files.
// What was switched by hand stays so until its text is another.
import { Subscription } from 'rxjs';
import { unknownName } from '../../../json5/nearest-name.ts';
import { HubError } from '../../../model/error.ts';
import type { Origin, Parameter } from '../../../model/parameter.ts';
import type { RuleRuns, RuleStatus } from '../../../model/reports/rule-status.ts';
import { haveSameText, type Plan, type RulePlan, sourcesOf } from '../../plan.ts';
import { type Difference, differenceOf } from '../difference.ts';
import type { HandSwitch, HandSwitches, Switchable } from '../hand-switches.ts';
import { type StartedRule, startRule } from './rule.ts';
import type { RuleRuntime } from './rule-context.ts';

/** After rules that write so many parameters the next ones begin in another turn. It may hold far more writes: others follow. */
const begunWritesPerTurn = 10_000;

/** A rule from its first plan on; a reload that leaves its text as it is gives it another plan. */
interface RunningRule {
  plan: RulePlan;
  /** undefined: it is switched off, or waits. */
  started: StartedRule | undefined;
  /** An address of another hub that is not there, for which the rule waits. */
  waitsFor: string | undefined;
  /** How it was switched by hand; undefined: it is as its flow file says. */
  switched: HandSwitch | undefined;
}

/** A rule as it shall be. */
interface ComingRule extends Readonly<Pick<RunningRule, 'plan' | 'switched'>> {
  /** The rule that it goes on from. */
  readonly before: RunningRule | undefined;
}

/** What a plan changes, compared before anything is stopped. */
export interface RuleChange {
  /** Top to bottom. */
  readonly coming: readonly ComingRule[];
  /** Those that run and do not run on. */
  readonly leaving: readonly RunningRule[];
  readonly switches: KeptSwitches;
  readonly placeOf: Plan['placeOf'];
}

/** Rules that were switched and are not followed, such as one that was moved to another file. */
interface KeptSwitches {
  /** Among the rules of the plan, by their text. */
  readonly switched: ReadonlyMap<RulePlan, HandSwitch>;
  /** Those of which the text is another, with the rule of their name. */
  readonly released: readonly (readonly [before: SwitchedRule, after: RulePlan])[];
  /** Those of which there is none. */
  readonly absent: readonly SwitchedRule[];
  /** All that were looked for. */
  readonly others: readonly SwitchedRule[];
}

type SwitchedRule = Readonly<Pick<RunningRule, 'plan' | 'switched'>>;

/** How many switched rules are remembered that no flow file has at the moment, such as one that is moved from file to file. */
const maxAbsent = 1000;

export class RunningRules {
  readonly #runtime: RuleRuntime;
  readonly #switches: HandSwitches;
  /** Top to bottom. */
  #rules: readonly RunningRule[] = [];
  #placeOf: Plan['placeOf'];
  /** Why none of them runs; undefined: they run. */
  #held: string | undefined = undefined;
  /** Parameters that other hubs have withdrawn since the rules were compared with what is there. */
  readonly #withdrawn = new Set<string>();
  /** What is missing of lists that many rules share, found out once each time that rules start. */
  readonly #missingOfShared = new Map<readonly string[], string | undefined>();
  /** Rules that were switched, and that no flow file has at the moment. */
  #absent: readonly SwitchedRule[] = [];
  readonly #following = new Subscription();

  constructor(runtime: RuleRuntime, switches: HandSwitches) {
    this.#runtime = runtime;
    this.#switches = switches;
    const { removed$, mirrored$ } = runtime.graph;
    const note = ({ address, remote }: Parameter) => {
      if (remote !== undefined) this.#withdrawn.add(address);
    };
    this.#following.add(removed$.subscribe({ next: note, error: () => {} }));
    this.#following.add(mirrored$.subscribe({ next: () => this.#waitOrStart(), error: () => {} }));
  }

  /** How many rules run, or will once what they wait for is there. */
  get enabledCount(): number {
    return this.#rules.reduce((count, rule) => (isEnabled(rule) ? count + 1 : count), 0);
  }

  /** How each rule is doing, top to bottom. */
  statuses(): RuleStatus[] {
    return [...this.eachStatus()];
  }

  /** The same one by one, as they are asked for. */
  *eachStatus(): Generator<RuleStatus, void, void> {
    for (const rule of this.#rules) yield this.#statusOf(rule);
  }

  /** The last runs of the rules of a name. Errors: `not-found`, with the nearest name. */
  runsOf(name: string): RuleRuns[] {
    const stopped = this.#named(name).filter(({ started }) => started === undefined);
    const running = stopped.length < this.#named(name).length ? this.#runtime.traces.runsOf(name) : [];
    return [
      ...running,
      ...stopped.map(({ plan }) => ({ rule: name, file: plan.file, isAlwaysRecorded: true, runs: [] })),
    ];
  }

  /** Compares a plan with what runs; `gone` has the addresses of parameters that it replaces or takes out. */
  diff({ rules, placeOf }: Pick<Plan, 'rules' | 'placeOf'>, gone: ReadonlySet<string>): RuleChange {
    const followed = followRules(this.#rules, rules, new Set([...gone, ...this.#withdrawn]));
    const switches = this.#keepSwitched(rules, followed);
    const coming = rules.map((plan, index) => ({
      plan,
      before: followed[index],
      switched: switches.switched.get(plan) ?? followed[index]?.switched,
    }));
    return { coming, leaving: this.#leaving(coming), switches, placeOf };
  }

  /** Stops the rules that leave. */
  stopLeaving({ leaving }: RuleChange): void {
    for (const rule of leaving) stopRule(rule);
  }

  /** Starts the rules that come; to be called after `stopLeaving`. */
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

  /** Rules of a plan as they would be after a reload: `isEnabled` of those that were switched by hand is as they are. */
  asSwitched(rules: readonly RulePlan[]): readonly RulePlan[] {
    if (this.#absent.length === 0 && this.#rules.every(({ switched }) => switched === undefined)) return rules;
    const live = rules.filter(({ isShadow }) => !isShadow);
    const followed = followRules(this.#rules, live, new Set());
    const { switched } = this.#keepSwitched(live, followed);
    for (const [index, rule] of live.entries()) {
      const before = followed[index]?.switched;
      if (before !== undefined) switched.set(rule, before);
    }
    return rules.map((rule) => ({ ...rule, isEnabled: switched.get(rule)?.isOn ?? rule.isEnabled }));
  }

  #keepSwitched(rules: readonly RulePlan[], followed: readonly (RunningRule | undefined)[]) {
    const switched = new Map<RulePlan, HandSwitch>();
    const released: (readonly [SwitchedRule, RulePlan])[] = [];
    const absent: SwitchedRule[] = [];
    const isFollowed = new Set(followed);
    const lost = this.#rules.filter((rule) => rule.switched !== undefined && !isFollowed.has(rule));
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
   * Switches a rule on or off, until it is switched again or its text is another. Errors: `not-found` with the nearest name,
   * `conflict` when there are several of the name.
   */
  switch(name: string, file: string | undefined, isEnabled: boolean, by: Origin): RuleStatus {
    const found = this.#find(name, file);
    const switched = isEnabled === found.plan.isEnabled ? undefined : { isOn: isEnabled, by };
    const coming = this.#rules.map((before) => ({
      plan: before.plan,
      before,
      switched: before === found ? switched : before.switched,
    }));
    this.#switches.note(switchableOf(found.plan), switched);
    this.#swap(coming);
    return this.#statusOf(found);
  }

  /** Whether a rule shall run; undefined: there is none of the name. One of the file comes before one of another. */
  isOn({ name, file }: Pick<Switchable, 'name' | 'file'>): boolean | undefined {
    const named = this.#rules.filter(({ plan }) => plan.name === name);
    const found = named.find(({ plan }) => plan.file === file) ?? named[0];
    return found && isWanted(found);
  }

  /** Has no rule run, for a reason, or all that shall run; `begins`: those that run at the start do so now. */
  hold(reason: string | undefined, begins: boolean): void {
    this.#held = reason;
    this.#swap(
      this.#rules.map((before) => ({ ...before, before })),
      begins,
    );
  }

  /** Rules whose parameters another hub has withdrawn wait, and those that waited start once all are there. */
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

  /** An address of the rule that is not there; undefined: all are. */
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
        return placeOf?.(plan) ?? file; // found when somebody asks
      },
      folder,
      enabled: isEnabled({ started, waitsFor }),
      from: sourcesOf(plan),
      to,
      ...state,
      ...(waitsFor !== undefined && { state: 'waiting', reason: `no hub has ${waitsFor} at the moment` }),
      ...(started === undefined && waitsFor === undefined && { state: 'disabled', reason: by }),
    };
  }

  /** The one rule of a name, and of a file if it is given. */
  #find(name: string, file: string | undefined): RunningRule {
    const named = this.#named(name);
    const found = file === undefined ? named : named.filter(({ plan }) => plan.file === file);
    const [rule] = found;
    if (rule === undefined) {
      const files = [...new Set(named.map(({ plan }) => plan.file))];
      throw new HubError('not-found', unknownName(`file of rule "${name}"`, file!, files));
    }
    if (found.length > 1) {
      const expected = file === undefined ? 'the file as well' : 'a name that only one of them has';
      throw new HubError('conflict', `rule: expected ${expected}, there are ${found.length} rules "${name}"`);
    }
    return rule;
  }

  /** The rules of a name. Errors: `not-found`, with the nearest name. */
  #named(name: string): RunningRule[] {
    const found = this.#rules.filter(({ plan }) => plan.name === name);
    if (found.length > 0) return found;
    throw new HubError('not-found', unknownName('rule', name, [...new Set(this.#rules.map(({ plan }) => plan.name))]));
  }

  /** Stops what does not run on, and starts the rest. */
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
   * Starts rules in one turn: all of them listen before the first write is delivered. Then those with `atStart` run, in several turns
   * where there are more of them than one turn may hold.
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

  /** The same rule where it runs on, else one that is started or switched off. */
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

/** Whether a rule shall run: as it was switched, else as its flow file says. */
function isWanted({ plan, switched }: Pick<RunningRule, 'plan' | 'switched'>): boolean {
  return switched?.isOn ?? plan.isEnabled;
}

function switchableOf({ name, file }: RulePlan): Switchable {
  return { kind: 'rule', name, file };
}

// Which rules go on when a plan takes the place of another.

interface Followed {
  readonly plan: RulePlan;
  readonly started: StartedRule | undefined;
}

/**
 * The rules that plans go on from: one that is made of the same and has lost none of its parameters. Where the plans at the start
 * and at the end are the same, these are not compared with others.
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

/** Tells whether one of a list of addresses is gone; of a list that many rules share it has found out once. */
function goneWith(gone: ReadonlySet<string>): (addresses: readonly string[]) => boolean {
  if (gone.size === 0) return () => false;
  const known = new Map<readonly string[], boolean>();
  return (addresses) => {
    const isGone = known.get(addresses) ?? addresses.some((address) => gone.has(address));
    known.set(addresses, isGone);
    return isGone;
  };
}
