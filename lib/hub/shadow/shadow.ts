// What runs in shadow beside a hub: rules of which flow files say so, or what a reload in shadow has read. Nothing of it can write,
// fire or loop where it is live, since it has a graph of its own; and where nothing is in shadow, nothing is done.

import type { SchedulerLike } from 'rxjs';
import type { Plan } from '../../flow/plan.ts';
import type { Graph } from '../../graph/graph.ts';
import type { Change } from '../../model/parameter.ts';
import type { ShadowReport } from '../../model/reports/reload-report.ts';
import type { RuleRuns, RuleStatus } from '../../model/reports/rule-status.ts';
import type { HubLog, Journal } from '../journal.ts';
import { monotonicScheduler } from '../scheduler.ts';
import { type DependencyClosure, dependencyClosureOf, nameOf, ShadowRun } from './shadow-run.ts';

export interface ShadowOptions {
  readonly graph: Graph;
  readonly scheduler: SchedulerLike;
  readonly log: Journal;
  /** A plan with what was switched by hand as it is. */
  readonly asSwitched: (plan: Plan) => Plan;
}

export class Shadow {
  readonly #graph: Graph;
  readonly #asSwitched: ShadowOptions['asSwitched'];
  readonly #scheduler: SchedulerLike;
  readonly #log: HubLog;
  #plan: Plan | undefined;
  /** Whether time is virtual: then nothing is later than it should be. */
  readonly #isVirtual: boolean;
  /** What a reload in shadow has read. */
  #next: Plan | undefined;
  #run: ShadowRun | undefined;

  constructor({ graph, scheduler, log, asSwitched }: ShadowOptions) {
    this.#graph = graph;
    this.#asSwitched = asSwitched;
    this.#scheduler = scheduler;
    this.#isVirtual = scheduler !== monotonicScheduler;
    this.#log = shadowLog(log);
  }

  /** Takes over what is live now; a reload in shadow is over. */
  follow(plan: Plan): void {
    this.#plan = plan;
    this.#next = undefined;
    this.#renew();
  }

  /** Whether what is saved goes into shadow. */
  get isReloaded(): boolean {
    return this.#next !== undefined;
  }

  /** Runs in shadow what a plan would change; `takenOver` is live already. */
  reload(plan: Plan, takenOver: Plan['connections']): ShadowReport {
    const live = this.#plan!;
    const connections = live.connections.map((one) => takenOver.find(({ id }) => id === one.id) ?? one);
    this.#plan = { ...live, connections };
    this.#next = plan;
    this.#renew();
    return this.report()!;
  }

  /** undefined: nothing is in shadow. */
  report(): ShadowReport | undefined {
    const run = this.#run;
    if (run === undefined && this.#next === undefined) return undefined;
    run?.deviations.endMoments(this.#isVirtual ? Number.POSITIVE_INFINITY : this.#graph.now());
    const { changed = [], replaced = [] } = run?.closure ?? {};
    const names = new Set(changed.map(nameOf));
    const { connections = [] } = this.#next ?? {};
    const live = new Map(this.#plan?.connections.map(({ id, key }) => [id, key]));
    const notInShadow = connections.filter(({ id, key, type }) => type.isExternal && live.get(id) !== key);
    return {
      since: run?.since.time ?? this.#graph.now(),
      kind: this.#next === undefined ? 'rules' : 'reload',
      rules: changed.map(({ name }) => name),
      left: replaced.filter((rule) => !names.has(nameOf(rule))).map(({ name }) => name),
      notInShadow: notInShadow.map(({ id }) => id),
      parameters: run?.deviations.counts() ?? [],
      count: run?.deviations.count ?? 0,
      deviations: run?.deviations.list() ?? [],
    };
  }

  /** The last change of a parameter in shadow, where it was made there or the value is not what is live; undefined: it is the same. */
  wouldBe(address: string): Change | undefined {
    const node = this.#run?.twin.graph.find(address);
    if (node?.lastChange === undefined) return undefined;
    const differs = this.#run!.closure.written.has(address) && node.value !== this.#graph.find(address)?.value;
    return differs || this.#run!.isOwn(node.lastChange) ? node.lastChange : undefined;
  }

  /** How the rules are doing that run in shadow alone. */
  statuses(): RuleStatus[] {
    const names = new Set(this.#run?.closure.changed.map(nameOf));
    const running = this.#run?.twin.rules.statuses().filter((rule) => names.has(nameOf(rule))) ?? [];
    return running.map((rule) => ({ ...rule, shadow: true }));
  }

  /** The last runs of the rules of a name that run in shadow alone. */
  runsOf(name: string): readonly RuleRuns[] {
    const isHere = this.#run?.closure.changed.some((rule) => rule.name === name) ?? false;
    return isHere ? this.#run!.twin.rules.runsOf(name) : [];
  }

  stop(): void {
    this.#run?.stop();
    this.#run = undefined;
  }

  /** Takes over what was switched by hand. */
  followSwitches(): void {
    if (this.#plan !== undefined) this.#renew();
  }

  #renew(): void {
    const closure = dependencyClosureOf(this.#asSwitched(this.#plan!), this.#next && this.#asSwitched(this.#next));
    if (closure !== undefined && this.#run !== undefined && isSame(closure, this.#run.closure)) return;
    this.stop();
    if (closure === undefined) return;
    const runtime = { graph: this.#graph, scheduler: this.#scheduler, log: this.#log };
    this.#run = new ShadowRun(closure, { ...runtime, isVirtual: this.#isVirtual });
  }
}

/** Whether what runs in shadow runs on. */
function isSame(closure: DependencyClosure, other: DependencyClosure): boolean {
  const keys = ({ plan, left }: DependencyClosure) =>
    JSON.stringify([plan.rules.map(({ key }) => key), plan.connections.map(({ key }) => key), [...left]]);
  return keys(closure) === keys(other);
}

/** The log of what runs in shadow: its warnings and errors say that they are of it, and nothing else is logged. */
function shadowLog(log: Journal): HubLog {
  const nothing = () => {};
  const logAs = (level: 'warn' | 'error') => (data: object, message: string, kind?: string) =>
    log[level](data, `in shadow: ${message}`, kind && `in shadow: ${kind}`);
  const entries = { debug: nothing, info: nothing, warn: logAs('warn'), error: logAs('error') };
  return { ...entries, child: () => entries };
}
