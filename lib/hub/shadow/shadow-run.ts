// One run in shadow: a twin that receives the live events that it does not generate itself, and the deviations between the live hub and the
// twin.
import { type SchedulerLike, Subscription } from 'rxjs';
import type { KeptMemory } from '../../connections/persistence.ts';
import { settleOrderOf } from '../../flow/check/rules/known-rules.ts';
import type { ConnectionPlan, Plan, RulePlan } from '../../flow/plan.ts';
import { cut } from '../../flow/run/rules/kept-runs.ts';
import type { Graph } from '../../graph/graph.ts';
import { type ParameterNode, RestoredChange } from '../../graph/parameter-node.ts';
import { SettleCall } from '../../graph/settle-queue.ts';
import { formatAddress } from '../../model/address.ts';
import type { Change, Origin } from '../../model/parameter.ts';
import { keptDeviations } from '../../model/reports/reload-report.ts';
import { deviceEventsOf, isLedToBefore, type Moment, staleDevicesOf } from '../engine.ts';
import type { HubLog } from '../journal.ts';
import { Deviations } from '../twin/deviations.ts';
import { followingOf, repeated, runTwin, type Twin } from '../twin/run-twin.ts';

/** The maximum delay of a timer in shadow relative to the live timer, in milliseconds. */
const momentMs = 10;

export interface ShadowRuntime {
  readonly graph: Graph;
  readonly scheduler: SchedulerLike;
  readonly log: HubLog;
  /** Returns the unfinished work of the given live connections. */
  readonly memoriesOf: (connections: ReadonlySet<string>) => readonly KeptMemory[];
  /** Whether time is virtual, so that no timer is late. */
  readonly isVirtual: boolean;
}

export class ShadowRun {
  readonly closure: DependencyClosure;
  readonly twin: Twin;
  readonly deviations: Deviations;
  readonly since: Moment;
  readonly #live: Graph;
  readonly #subscription = new Subscription();
  /** Live changes of this turn that the twin has not received yet. */
  #pending: Change[] = [];
  /** The addresses of the parameters that existed when the turn began to settle, so that settling tasks have seen these parameters. */
  #seen = new Set<string>();
  readonly #task = new SettleCall({ order: Number.MAX_SAFE_INTEGER }, () => this.#report());
  readonly #settling = new SettleCall({ order: Number.MIN_SAFE_INTEGER }, () => {
    for (const { parameter } of this.#pending) this.#seen.add(parameter.address);
  });

  /** `most` is the maximum number of deviations that are kept; the newest deviations are kept. */
  constructor(closure: DependencyClosure, runtime: ShadowRuntime, most = keptDeviations) {
    const { graph, scheduler, log, memoriesOf, isVirtual } = runtime;
    this.closure = closure;
    this.#live = graph;
    this.since = { revision: graph.revision, time: graph.now() };
    this.deviations = new Deviations({ most, momentMs: isVirtual ? 0 : momentMs, cut });
    const withoutTicks = new Set([...closure.connections].filter((id) => !closure.changedConnections.has(id)));
    const prepare = (twin: Graph) => this.#prepare(twin);
    const memories = memoriesOf(withoutTicks);
    this.twin = runTwin(closure.plan, { log, scheduler, now: graph.now, withoutTicks, memories, prepare });
    for (const address of closure.addresses) this.#listen(graph.find(address));
    this.twin.follow(staleDevicesOf(graph));
    this.#subscription.add(
      deviceEventsOf(graph).subscribe({ next: (event) => this.twin.follow([event]), error: () => {} }),
    );
    this.#subscription.add(graph.wanted$.subscribe({ next: (change) => this.#receive(change), error: () => {} }));
  }

  /** Returns whether a change was made in shadow, rather than received from the live hub. */
  isOwn(change: Change): boolean {
    const { origin, cause } = change;
    if (change instanceof RestoredChange || origin.reportedBy !== undefined) return false;
    if (origin.kind === 'rule') return this.closure.rules.has(nameOf(origin));
    return origin.kind === 'connection' && this.closure.connections.has(origin.name) && cause !== undefined;
  }

  stop(): void {
    this.#subscription.unsubscribe();
    void this.twin.stop();
  }

  /** Restores the live values in the twin, and listens to changes in the twin. */
  #prepare(twin: Graph): void {
    const { written } = this.closure;
    for (const node of twin.parameters()) {
      const live = this.#live.find(node.address);
      const change = live?.lastChange;
      if (node.type === 'T' || live?.value === undefined || change === undefined || live.type !== node.type) continue;
      twin.restore(node, { value: live.value, time: change.time, readCause: () => change.cause }, change.origin);
      if (!written.has(node.address)) continue;
      this.deviations.begin('done', live);
      this.deviations.begin('would', live);
    }
    const next = (change: Change) => {
      if (written.has(change.parameter.address)) this.deviations.note('would', change);
    };
    for (const source$ of [twin.changes$, twin.wanted$])
      this.#subscription.add(source$.subscribe({ next, error: () => {} }));
  }

  #listen(node: ParameterNode | undefined): void {
    if (node === undefined) return;
    let isLive = false;
    const receive = () => {
      if (isLive && this.#live.cause !== undefined) this.#receive(this.#live.cause);
    };
    this.#subscription.add(node.subscribe({ next: receive, error: () => {} }));
    if (node.type !== 'T')
      this.#subscription.add(this.#live.repeats(node).subscribe({ next: receive, error: () => {} }));
    isLive = true;
  }

  /** Handles a live change, or a live write that a device has yet to confirm. */
  #receive(change: Change): void {
    const { address, wanted } = change.parameter;
    if (!this.closure.addresses.has(address)) return;
    if (this.closure.written.has(address) && (change.revision > 0 || wanted === change))
      this.deviations.note('done', change);
    if (!this.#isNews(change)) return;
    if (this.#seen.has(address)) this.#report();
    this.#pending.push(change);
    this.#live.atSettle(this.#settling);
    this.#live.atSettle(this.#task);
  }

  /** Returns whether a live change must be passed to the twin because the twin does not make the change itself. */
  #isNews(change: Change): boolean {
    const { kind, name, reportedBy } = change.origin;
    if (reportedBy !== undefined) return true;
    const { rules, left, connections, changedConnections } = this.closure;
    if (kind === 'rule') {
      const rule = nameOf(change.origin);
      return !left.has(rule) && (!rules.has(rule) || isLedToBefore(change, this.since));
    }
    if (kind !== 'connection' || !connections.has(name)) return true;
    return !changedConnections.has(name) && (change.cause === undefined || isLedToBefore(change, this.since));
  }

  #report(): void {
    const writes = this.#pending.map((change) => {
      const { parameter, origin, cause } = change;
      return { address: parameter.address, value: this.#live.inputOf(change), origin, cause };
    });
    this.#pending = [];
    this.#seen.clear();
    this.twin.receive(writes);
  }
}

// The dependency closure of the shadow: the shadow rules, or the changes of a reload in shadow, and all rules and connections within the
// process that depend on them. The live hub provides everything else.

export interface DependencyClosure {
  /** The plan that the twin runs. */
  readonly plan: Plan;
  /** The rules that run only in shadow. */
  readonly changed: readonly RulePlan[];
  /** The live rules that are replaced or removed in shadow. */
  readonly replaced: readonly RulePlan[];
  /** The address of every parameter that the twin reads or writes. */
  readonly addresses: ReadonlySet<string>;
  /** The addresses whose values may differ from the live values. */
  readonly written: ReadonlySet<string>;
  /** The IDs of connections that run both live and in shadow. */
  readonly connections: ReadonlySet<string>;
  /** The IDs of connections that are different in shadow. */
  readonly changedConnections: ReadonlySet<string>;
  /** The rules that run both live and in shadow, as formatted by `nameOf`. */
  readonly rules: ReadonlySet<string>;
  /** The rules that run only live, as formatted by `nameOf`. */
  readonly left: ReadonlySet<string>;
}

/** Returns the dependency closure, or undefined if nothing is running in shadow. `next` is the plan of a reload in shadow. */
export function dependencyClosureOf(live: Plan, next: Plan | undefined): DependencyClosure | undefined {
  if (next === undefined && !live.rules.some(({ isShadow }) => isShadow)) return undefined;
  const { target, changed, replaced } = compareRules(live, next);
  const connections = (next ?? live).connections;
  const changedConnections = changedOf(live.connections, next?.connections ?? []);
  if (changed.length === 0 && replaced.length === 0 && changedConnections.size === 0) return undefined;

  const names = new Set([...changed, ...replaced].map(nameOf));
  const written = new Set([...changed, ...replaced].flatMap(({ to }) => to));
  const inside = new Set(connections.filter(({ id }) => changedConnections.has(id)));
  for (const connection of inside) for (const address of outputsOf(connection)) written.add(address);
  const rules = new Set<RulePlan>();
  const inClosure = new Set(changed);
  for (let size = -1; size !== rules.size + inside.size + written.size; ) {
    size = rules.size + inside.size + written.size;
    for (const rule of target)
      if (inClosure.has(rule) || (isData(rule) && (names.has(nameOf(rule)) || reads(rule, written)))) {
        rules.add(rule);
        for (const address of rule.to) written.add(address);
      }
    for (const connection of connections.filter(isInner))
      if (leadsInto(connection, written)) {
        inside.add(connection);
        for (const address of outputsOf(connection)) written.add(address);
      }
  }
  for (const rule of target)
    if (!rules.has(rule) && isStateless(rule) && rule.to.some((address) => written.has(address))) rules.add(rule);
  const addresses = new Set(written);
  for (const rule of rules)
    for (const list of [rule.addresses, rule.sharedAddresses]) for (const one of list) addresses.add(one);
  for (const { inputs } of inside) for (const address of Object.values(inputs)) addresses.add(address);

  const ids = new Set([...inside].map(({ id }) => id));
  const running = connections.flatMap((one) => (ids.has(one.id) ? [repeated(one)] : trimmed(one, addresses)));
  const ordered = target.filter((rule) => rules.has(rule)).map((rule) => ({ ...rule, isShadow: false }));
  const places = settleOrderOf(ordered, running);
  const plans = ordered.map((rule, index) => ({
    ...(changed.some(({ key }) => key === rule.key) ? rule : runningOn(rule)),
    settleOrder: places.get(index)!,
  }));
  return {
    plan: { ...(next ?? live), connections: running, rules: plans, tests: [] },
    changed,
    replaced,
    addresses,
    written,
    connections: ids,
    changedConnections,
    rules: new Set(plans.map(nameOf)),
    left: new Set(replaced.map(nameOf)),
  };
}

/** Returns the name of a rule in the form used in the origins of changes. */
export function nameOf({ name, file }: Pick<Origin, 'name' | 'file'>): string {
  return `${file}\n${name}`;
}

/** Returns the rules that would run, the rules among them that are not live, and the live rules that would not run. */
function compareRules(live: Plan, next: Plan | undefined) {
  const { rules } = next ?? live;
  const shadowNames = new Set(rules.filter(({ isShadow }) => isShadow).map(({ name }) => name));
  const target = rules.filter(({ isShadow, isEnabled, name }) => isEnabled && (isShadow || !shadowNames.has(name)));
  const running = live.rules.filter(({ isShadow, isEnabled }) => isEnabled && !isShadow);
  const runningKeys = new Set(running.map(({ key }) => key));
  const targetKeys = new Set(target.filter(({ isShadow }) => !isShadow).map(({ key }) => key));
  return {
    target,
    changed: target.filter(({ isShadow, key }) => isShadow || !runningKeys.has(key)),
    replaced: running.filter(({ key }) => !targetKeys.has(key)),
  };
}

function changedOf(live: readonly ConnectionPlan[], next: readonly ConnectionPlan[]): ReadonlySet<string> {
  const keys = new Map(live.map(({ id, key }) => [id, key]));
  return new Set(next.filter((one) => isInner(one) && keys.get(one.id) !== one.key).map(({ id }) => id));
}

/** Returns whether a rule is data and may therefore run twice. A TypeScript rule may have side effects, which would then happen twice. */
function isData({ body }: RulePlan): boolean {
  return !('stream' in body);
}

/**
 * Returns whether the runs of a rule depend only on current values. If another rule in the closure has the same destination, the order of
 * both rules within a turn matters, so such a rule runs in the twin as well. The writes of all other stateless rules are received from the
 * live hub.
 */
function isStateless({ body }: RulePlan): boolean {
  if ('stream' in body || body.pipe.length > 0) return false;
  return ![body.when, body.map, ...(body.split ?? [])].some((expression) => expression?.readsPrevious);
}

function reads({ addresses, to }: RulePlan, written: ReadonlySet<string>): boolean {
  return addresses.slice(0, addresses.length - to.length).some((address) => written.has(address));
}

function isInner({ type, enabled }: ConnectionPlan): boolean {
  return !type.isExternal && enabled;
}

/** Returns whether writes to any of these addresses affect a connection. */
function leadsInto({ id, parameters, inputs }: ConnectionPlan, written: ReadonlySet<string>): boolean {
  return (
    Object.values(inputs).some((address) => written.has(address)) ||
    (parameters.some(({ access }) => access === 'read-only') &&
      parameters.some((one) => one.access !== 'read-only' && written.has(formatAddress(id, one.id))))
  );
}

function outputsOf({ id, parameters }: ConnectionPlan): string[] {
  return parameters.filter(({ access }) => access === 'read-only').map((one) => formatAddress(id, one.id));
}

/** Returns the connection, reduced to the given addresses, or an empty list if none of its parameters has such an address. */
export function trimmed(connection: ConnectionPlan, addresses: ReadonlySet<string>): ConnectionPlan[] {
  const parameters = connection.parameters.filter(({ id }) => addresses.has(formatAddress(connection.id, id)));
  return parameters.length === 0 ? [] : [{ ...followingOf({ ...connection, parameters }), inputs: {} }];
}

/** Returns the rule as it continues: it does not run at the start, because that run has already happened. */
export function runningOn(rule: RulePlan): RulePlan {
  return 'stream' in rule.body ? rule : { ...rule, body: { ...rule.body, runsAtStart: false } };
}
