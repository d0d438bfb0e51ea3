// The shadow of a hub: the shadow rules in its flow files, or the plan of a reload in shadow. The shadow has a separate graph, so it cannot
// write, fire or loop live. While nothing is running in shadow, the shadow has no cost.

import type { SchedulerLike } from 'rxjs';
import type { Plan } from '../../flow/plan.ts';
import type { Graph } from '../../graph/graph.ts';
import type { Change } from '../../model/parameter.ts';
import type { ShadowReport } from '../../model/reports/reload-report.ts';
import type { RuleRuns, RuleStatus } from '../../model/reports/rule-status.ts';
import type { HubLog, Journal } from '../journal.ts';
import { monotonicScheduler } from '../scheduler.ts';
import { type DependencyClosure, dependencyClosureOf, nameOf, ShadowRun, type ShadowRuntime } from './shadow-run.ts';

export interface ShadowOptions {
  readonly graph: Graph;
  readonly scheduler: SchedulerLike;
  readonly log: Journal;
  readonly memoriesOf: ShadowRuntime['memoriesOf'];
  /** Returns a plan as changed by the operators' switches. */
  readonly asSwitched: (plan: Plan) => Plan;
}

export class Shadow {
  readonly #graph: Graph;
  readonly #asSwitched: ShadowOptions['asSwitched'];
  readonly #memoriesOf: ShadowOptions['memoriesOf'];
  readonly #scheduler: SchedulerLike;
  readonly #log: HubLog;
  #plan: Plan | undefined;
  /** Whether time is virtual, so that no timer is late. */
  readonly #isVirtual: boolean;
  /** The plan of the reload in shadow; undefined if there is no reload in shadow. */
  #next: Plan | undefined;
  #run: ShadowRun | undefined;

  constructor({ graph, scheduler, log, memoriesOf, asSwitched }: ShadowOptions) {
    this.#graph = graph;
    this.#asSwitched = asSwitched;
    this.#memoriesOf = memoriesOf;
    this.#scheduler = scheduler;
    this.#isVirtual = scheduler !== monotonicScheduler;
    this.#log = shadowLog(log);
  }

  /** Adopts the live plan, and ends a reload in shadow. */
  follow(plan: Plan): void {
    this.#plan = plan;
    this.#next = undefined;
    this.#renew();
  }

  /** Whether the changes in saved files run in shadow. */
  get isReloaded(): boolean {
    return this.#next !== undefined;
  }

  /** Runs the changes in a plan in shadow. The connections in `takenOver` have already adopted the plan live. */
  reload(plan: Plan, takenOver: Plan['connections']): ShadowReport {
    const live = this.#plan!;
    const connections = live.connections.map((one) => takenOver.find(({ id }) => id === one.id) ?? one);
    this.#plan = { ...live, connections };
    this.#next = plan;
    this.#renew();
    return this.report()!;
  }

  /** Returns the report on the shadow, or undefined while nothing is running in shadow. */
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

  /**
   * Returns the last change of a parameter in shadow if the change was made there or the value differs from the live value, and undefined
   * otherwise.
   */
  wouldBe(address: string): Change | undefined {
    const node = this.#run?.twin.graph.find(address);
    if (node?.lastChange === undefined) return undefined;
    const differs = this.#run!.closure.written.has(address) && node.value !== this.#graph.find(address)?.value;
    return differs || this.#run!.isOwn(node.lastChange) ? node.lastChange : undefined;
  }

  /** Returns the status of the rules that run only in shadow. */
  statuses(): RuleStatus[] {
    const names = new Set(this.#run?.closure.changed.map(nameOf));
    const running = this.#run?.twin.rules.statuses().filter((rule) => names.has(nameOf(rule))) ?? [];
    return running.map((rule) => ({ ...rule, shadow: true }));
  }

  /** Returns the most recent runs of the rules with this name that run only in shadow. */
  runsOf(name: string): readonly RuleRuns[] {
    const isHere = this.#run?.closure.changed.some((rule) => rule.name === name) ?? false;
    return isHere ? this.#run!.twin.rules.runsOf(name) : [];
  }

  stop(): void {
    this.#run?.stop();
    this.#run = undefined;
  }

  /** Makes the shadow follow the operators' switches. */
  followSwitches(): void {
    if (this.#plan !== undefined) this.#renew();
  }

  #renew(): void {
    const closure = dependencyClosureOf(this.#asSwitched(this.#plan!), this.#next && this.#asSwitched(this.#next));
    if (closure !== undefined && this.#run !== undefined && isSame(closure, this.#run.closure)) return;
    this.stop();
    if (closure === undefined) return;
    const runtime = { graph: this.#graph, scheduler: this.#scheduler, log: this.#log, memoriesOf: this.#memoriesOf };
    this.#run = new ShadowRun(closure, { ...runtime, isVirtual: this.#isVirtual });
  }
}

/** Returns whether two closures have the same rules and connections, so that the current run in shadow can continue. */
function isSame(closure: DependencyClosure, other: DependencyClosure): boolean {
  const keys = ({ plan, left }: DependencyClosure) =>
    JSON.stringify([plan.rules.map(({ key }) => key), plan.connections.map(({ key }) => key), [...left]]);
  return keys(closure) === keys(other);
}

/** Returns a log that marks warnings and errors as coming from the shadow, and drops all other entries. */
function shadowLog(log: Journal): HubLog {
  const nothing = () => {};
  const logAs = (level: 'warn' | 'error') => (data: object, message: string, kind?: string) =>
    log[level](data, `in shadow: ${message}`, kind && `in shadow: ${kind}`);
  const entries = { debug: nothing, info: nothing, warn: logAs('warn'), error: logAs('error') };
  return { ...entries, child: () => entries };
}
