// A graph with everything that runs on it: connections, rules, their reports and their persistence. A hub runs one engine. Shadows and
// replays run further engines, which have no effect outside the process.
import { defer, filter, map, merge, mergeMap, type Observable, type SchedulerLike, Subscription } from 'rxjs';
import type { HubPort } from '../connections/hub-port.ts';
import type { HeldBack, Leadership, LeadershipTerm } from '../connections/mirroring.ts';
import { hubId, type Plan, startedId } from '../flow/plan.ts';
import { HubPersistence } from '../flow/run/connections/hub-persistence.ts';
import type { ConnectionChange } from '../flow/run/connections/running-connection.ts';
import { RunningConnections } from '../flow/run/connections/running-connections.ts';
import { describeTerm, ManualSwitches, type SwitchFile } from '../flow/run/manual-switches.ts';
import { RuleReports } from '../flow/run/rules/rule-reports.ts';
import { type RuleChange, RunningRules } from '../flow/run/rules/running-rules.ts';
import { createTraces } from '../flow/run/rules/trace.ts';
import { Graph } from '../graph/graph.ts';
import { SettleCall } from '../graph/settle-queue.ts';
import { connectionIdOf, formatAddress } from '../model/address.ts';
import type { Change, Origin } from '../model/parameter.ts';
import type { DeviceEvent, OutsideTurn, RecordedWrite, Recording } from '../model/reports/audit-entry.ts';
import type { Reload } from '../model/reports/reload-report.ts';
import type { Override, RuleStatus, SwitchTerm } from '../model/reports/rule-status.ts';
import { type ClockJump, describeJump } from '../model/time/wall-clock.ts';
import { withTrace } from '../model/writer.ts';
import type { Journal } from './journal.ts';

interface EngineOptions {
  readonly log: Journal;
  readonly scheduler: SchedulerLike;
  /** Returns the time at which changes are made, in milliseconds since 1970. The default is the time of day. */
  readonly now?: (() => number) | undefined;
  /** The port through which gateways access the hub. Omitted if the plan has no gateways. */
  readonly port?: HubPort | undefined;
  /** true means that rules are checked but do not run, even after a reload. */
  readonly safe?: boolean | undefined;
}

/** The changes that a plan would make, determined before anything is stopped. */
interface PlanChange {
  readonly connections: ConnectionChange;
  readonly rules: RuleChange;
}

export class Engine {
  readonly graph: Graph;
  readonly persistence: HubPersistence;
  readonly reports: RuleReports;
  readonly rules: RunningRules;
  readonly connections: RunningConnections;
  readonly leadership: HubLeadership;
  /** Receives the data that an earlier run of the hub has stored about the hub itself, keyed by name. */
  onRemembered: (remembered: ReadonlyMap<string, unknown>) => void = () => {};
  readonly #switches: ManualSwitches;
  /** The data that an earlier run has stored about the hub itself, keyed by name, adopted before the start. */
  #remembered: ReadonlyMap<string, unknown> = new Map();
  readonly #log: Journal;
  readonly #scheduler: SchedulerLike;
  readonly #isSafe: boolean;

  constructor({ log, scheduler, now, port, safe = false }: EngineOptions) {
    const graph = new Graph(now);
    const persistence = new HubPersistence(graph, () => scheduler.now(), now);
    const ownHub = () => port?.mirroring.domain?.().hub;
    const reports = new RuleReports({ log, now: () => scheduler.now(), ownHub });
    const switches = new ManualSwitches(log, persistence, scheduler);
    switches.onEnd = (what) => (what.kind === 'rule' ? rules : connections).release(what);
    const rules = new RunningRules({ graph, scheduler, traces: createTraces(graph), reports }, switches);
    const logOf = (connection: string) => log.child({ connection });
    const connections = new RunningConnections({ graph, hub: port, scheduler, persistence, switches, logOf });
    this.graph = graph;
    this.persistence = persistence;
    this.reports = reports;
    this.rules = rules;
    this.connections = connections;
    this.#switches = switches;
    this.leadership = new HubLeadership({ graph, persistence, connections, rules }, () => this.#fireStarted());
    this.#log = log;
    this.#scheduler = scheduler;
    this.#isSafe = safe;
    persistence.restored$.subscribe({ next: () => this.recallSwitches() });
    graph.dropped$.subscribe({ next: (drop) => reports.dropped(drop) });
  }

  /** Declares the parameters in a plan before anything is running. */
  declare(plan: Plan): void {
    this.graph.describe(plan.describes ?? []);
    this.connections.declare(plan.connections);
    this.persistence.plan(plan);
  }

  /** Runs the first plan. Errors: `cannot-start` if a gateway cannot start, in which case the other gateways run until `stop`. */
  start(plan: Plan): void {
    const change = this.#diff(plan);
    this.leadership.start(plan, () => this.connections.startGateways(change.connections, plan));
    this.#swapWork(change);
  }

  /**
   * Applies a plan by stopping and starting only changed parts. Shadow rules run elsewhere. Errors: `cannot-start` if a gateway cannot
   * start, in which case the previous configuration remains active.
   */
  apply(plan: Plan): Reload {
    const change = this.#diff(plan);
    // 1. Swap gateways first: a gateway that cannot start rejects the plan, and a gateway that decides on the leadership holds everything
    // else back.
    this.leadership.swap(plan, () => this.connections.swapGateways(change.connections, plan));
    this.graph.describe(plan.describes ?? []);
    this.persistence.plan(plan);
    return this.#swapWork(change);
  }

  /** Returns what `apply` would start and stop for a plan. */
  preview(plan: Plan): Reload {
    const { connections, rules } = this.#diff(plan);
    return { connections: connections.difference, rules: this.rules.preview(rules) };
  }

  #swapWork(change: PlanChange): Reload {
    // 2. Stop the removed rules, so that no removed rule receives values that connections set when they start.
    this.rules.stopLeaving(change.rules);
    // 3. Swap all other connections, then start the new rules.
    const connections = this.connections.swapOthers(change.connections);
    return { connections, rules: this.rules.start(change.rules) };
  }

  #diff(plan: Plan): PlanChange {
    const connections = this.connections.diff(plan.connections);
    const live = plan.rules.filter(({ isShadow }) => !isShadow);
    const rules = this.#isSafe ? live.map((rule) => ({ ...rule, isEnabled: false })) : live;
    return { connections, rules: this.rules.diff({ ...plan, rules }, connections.gone) };
  }

  /** Switches a rule on or off, and records the switch in the log and the store. Errors: the same as for `RunningRules.switch`. */
  switchRule(name: string, file: string | undefined, isEnabled: boolean, by: Origin, term?: SwitchTerm): RuleStatus {
    const status = this.rules.switch(name, file, isEnabled, by, term);
    const after = isEnabled ? 'on' : 'off';
    const text = `rule "${name}" (${status.file}) was switched ${after} by ${by.name}${describeTerm(term)}`;
    this.#log.info({ rule: name, file: status.file }, withTrace(text, by));
    const cause = withTrace(`a rule of ${status.file}${describeTerm(term)}`, by);
    this.persistence.note({ kind: 'rule', user: by.name, address: name, after, cause });
    return status;
  }

  /** Returns the plan as changed by the manual switches of rules and connections. */
  asSwitched(plan: Plan): Plan {
    return {
      ...plan,
      rules: this.rules.asSwitched(plan.rules),
      connections: this.connections.asSwitched(plan.connections),
    };
  }

  /** Reports rules and connections that were switched manually in an earlier run, but now follow their flow files. */
  recallSwitches(): void {
    if (this.#isSafe) return; // no rule follows its flow file: the next start reports the switches
    const remembered = new Map([...this.#remembered, ...this.persistence.takeRemembered()]);
    this.#remembered = new Map();
    if (this.#switches.recallTerms(remembered.values()).length > 0) {
      this.rules.followTerms();
      this.connections.followTerms();
    }
    this.#switches.recall(remembered, (what) =>
      what.kind === 'rule' ? this.rules.isOn(what) : this.connections.isOn(what),
    );
    this.onRemembered(remembered);
  }

  /** Calls back with each turn that contains writes from outside, until the recording is stopped. */
  record(next: (turn: OutsideTurn) => void): Recording {
    const isExternal = (id: string) => this.connections.isExternal(id);
    return record(next, { graph: this.graph, scheduler: this.#scheduler, isExternal });
  }

  /** Adopts the switches with a term before anything is running. */
  recallTerms(): void {
    if (this.#isSafe) return;
    this.#remembered = this.persistence.takeRemembered();
    this.#switches.recallTerms(this.#remembered.values());
  }

  /** Keeps switches with a term in a file if the hub has no store. */
  keepSwitchesIn(file: SwitchFile): void {
    this.#switches.keepIn(file);
  }

  /** Returns the rules and connections that operators have switched. */
  overrides(): readonly Override[] {
    return this.#switches.overrides();
  }

  /** Records a jump of the time of day, and renews stored data that contains such times. */
  noteJump(jump: ClockJump): void {
    const { before, after } = jump;
    const text = describeJump(jump);
    this.#log.warn({ before, after }, text, 'clock');
    this.persistence.note({ kind: 'clock', user: 'hub', address: '', cause: text });
    this.persistence.renewMemories();
  }

  /** Stops rules, then connections. Resolves when the connections have finished their work in progress. */
  async stop(): Promise<void> {
    this.leadership.stop();
    this.#switches.end();
    this.#switches.stop();
    this.rules.stop();
    this.persistence.note({ kind: 'stop', user: 'hub', address: '', cause: '' });
    await this.connections.stop();
  }

  /** Fires the hub's own trigger, if a flow file uses it. */
  #fireStarted(): void {
    const started = this.graph.find(formatAddress(hubId, startedId));
    if (started !== undefined) this.graph.writeTo(started, true, started.owner);
  }
}

// The leadership of this hub, as decided by a gateway.

/** The term of a hub that no gateway holds back. */
const always: LeadershipTerm = { number: 0, continues: true };

/**
 * How long connections wait for restored values, in milliseconds: less for a hub that takes over, because it already has the values and
 * other hubs are waiting for it.
 */
const restoreWaitMs = { successor: 10_000, first: 30_000 };

type LeadershipParts = Pick<Engine, 'graph' | 'persistence' | 'connections' | 'rules'>;

class HubLeadership implements Leadership {
  readonly #parts: LeadershipParts;
  readonly #logStarted: () => void;
  #term: LeadershipTerm | undefined = always;
  #isDoneElsewhere = false;
  #rulesRun = true;
  #isStarted = false;
  #hasEnded = false;
  hasBegun = false;

  /** `logStarted` is called as soon as everything is running for the first time, unless this hub continues the work of another hub. */
  constructor(parts: LeadershipParts, logStarted: () => void) {
    this.#parts = parts;
    this.#logStarted = logStarted;
  }

  get term(): LeadershipTerm | undefined {
    return this.#term;
  }

  get isDone(): boolean {
    return this.#term !== undefined || this.#isDoneElsewhere;
  }

  /** Starts the first gateways. A gateway may hold back all other connections and the rules. Errors: any error from `startGateways`. */
  start(plan: Plan, startGateways: () => void): void {
    const reason = reasonToHold(plan);
    if (reason !== undefined) void this.end(reason);
    startGateways();
  }

  /** Swaps the gateways. A gateway may hold back all other connections and the rules. Errors: any error from `swapGateways`. */
  swap(plan: Plan, swapGateways: () => void): void {
    const reason = reasonToHold(plan);
    const wasAlways = this.#term === always;
    if (wasAlways && reason !== undefined) void this.end(reason);
    try {
      swapGateways();
    } catch (error) {
      if (wasAlways) this.begin(always);
      throw error;
    }
    if (reason !== undefined) return;
    this.holdBack(new Map());
    if (this.#term !== always) this.begin(always);
  }

  begin(term: LeadershipTerm): void {
    if (this.#hasEnded) return;
    const { graph, connections, persistence } = this.#parts;
    this.#term = term;
    this.hasBegun = true;
    graph.mayAct = term.mayAct;
    if (term.continues) persistence.forgetRecalled();
    const restored = connections.releaseAll(term.continues ? restoreWaitMs.successor : restoreWaitMs.first);
    if (restored === undefined) this.#beginRules(term);
    else void restored.then(() => this.#beginRules(term));
  }

  #beginRules(term: LeadershipTerm): void {
    if (this.#term !== term || this.#hasEnded) return;
    this.#parts.rules.hold(undefined, !term.continues);
    this.#rulesRun = true;
    if (this.#isStarted && !term.continues) this.#logStarted();
  }

  end(reason: string, isDoneElsewhere = false): Promise<void> {
    const { connections, rules } = this.#parts;
    this.#term = undefined;
    this.#isDoneElsewhere = isDoneElsewhere;
    this.#rulesRun = false;
    if (!this.#hasEnded) {
      rules.hold(reason, false);
      connections.holdAll(reason);
    }
    return connections.whenQuiet();
  }

  holdBack(held: HeldBack): void {
    if (!this.#hasEnded) this.#parts.connections.holdSome(held);
  }

  /** Records that all connections and rules that may run have been started. */
  started(): void {
    this.#isStarted = true;
    if (this.#term !== undefined) this.hasBegun = true;
    if (this.#term !== undefined && this.#rulesRun) this.#logStarted();
  }

  /** Prevents all further starts of connections and rules. */
  stop(): void {
    this.#hasEnded = true;
  }
}

/**
 * Returns the reason why a hub with the plan's gateways waits for the leadership, or undefined if no gateway decides about the leadership.
 */
function reasonToHold({ connections }: Plan): string | undefined {
  const reasons = connections.map(({ enabled, type, settings }) =>
    enabled && type.isGateway ? type.startsOnLeaderOnly?.(settings) : undefined,
  );
  return reasons.find((one) => one !== undefined);
}

// The recorder of events from outside: writes by clients, and events from connections. A replay repeats the changes that rules and
// connections derive from these events, so derived changes are omitted. Consequences of events before the recording are recorded.

interface RecordOptions {
  readonly graph: Graph;
  readonly scheduler: SchedulerLike;
  /** Returns whether a connection reports events that a replay cannot repeat. */
  readonly isExternal: (connectionId: string) => boolean;
}

/** Calls back with each turn that contains writes from outside, until the recording is stopped. */
function record(next: (turn: OutsideTurn) => void, { graph, scheduler, isExternal }: RecordOptions): Recording {
  const since = { revision: graph.revision, time: graph.now() };
  const startMs = scheduler.now();
  const elapsedMs = () => Math.round(scheduler.now() - startMs);
  let writes: RecordedWrite[] = [];
  const task = new SettleCall({ order: Number.MAX_SAFE_INTEGER }, () => {
    next({ atMs: elapsedMs(), writes });
    writes = [];
  });
  const receive = (change: Change) => {
    const { origin, cause } = change;
    const isOutside =
      origin.reportedBy !== undefined || (cause === undefined ? origin.kind !== 'rule' : isLedToBefore(change, since));
    if (!isOutside && !(origin.kind === 'connection' && isExternal(origin.name))) return;
    writes.push({ address: change.parameter.address, value: graph.inputOf(change), origin });
    graph.atSettle(task);
  };
  const subscription = new Subscription();
  for (const source$ of [graph.changes$, graph.repeated$, graph.wanted$])
    subscription.add(source$.subscribe({ next: receive, error: () => {} }));
  const report = (devices: readonly DeviceEvent[]) => {
    if (devices.length > 0 && !subscription.closed) next({ atMs: elapsedMs(), writes: [], devices });
  };
  subscription.add(deviceEventsOf(graph).subscribe({ next: (event) => report([event]), error: () => {} }));
  queueMicrotask(() => report(staleDevicesOf(graph))); // the caller takes the values first
  return { time: since.time, elapsedMs, stop: () => subscription.unsubscribe() };
}

/** Returns the devices that are offline, in the form of device events. */
export function staleDevicesOf(graph: Graph): DeviceEvent[] {
  const stale = [...graph.parameters()].filter(({ device }) => device?.staleSince !== undefined);
  return [...new Set(stale.map(({ address }) => connectionIdOf(address)))].map((id) => ['stale', id]);
}

/**
 * Returns a stream of the device events in a graph that are not values. Cold; emits nothing at first, synchronous, never completes, never
 * errors.
 */
export function deviceEventsOf(graph: Graph): Observable<DeviceEvent> {
  return defer(() => {
    const stale = new Set(staleDevicesOf(graph).map(([, id]) => id));
    const aged$ = graph.marked$.pipe(
      mergeMap((parameters) => parameters),
      filter(({ address, device }) => (device?.staleSince !== undefined) !== stale.has(connectionIdOf(address))),
      map(({ address }): DeviceEvent => {
        const id = connectionIdOf(address);
        if (stale.delete(id)) return ['fresh', id];
        stale.add(id);
        return ['stale', id];
      }),
    );
    const refused$ = graph.settled$.pipe(
      filter(({ error }) => error !== undefined && error.code !== 'conflict'), // a newer write replaces the pending write
      map(({ write }): DeviceEvent => ['refused', write.parameter.address]),
    );
    const unset$ = graph.unset$.pipe(map(({ address }): DeviceEvent => ['unset', address]));
    return merge(aged$, refused$, unset$);
  });
}

/** A moment in a hub's run, identified by the revision and the time. */
export interface Moment {
  readonly revision: number;
  /** The time of the moment, in milliseconds since 1970. */
  readonly time: number;
}

/** Returns whether the cause of a change was before a moment, so that a run that begins at that moment cannot repeat the change. */
export function isLedToBefore({ cause }: Change, { revision, time }: Moment): boolean {
  if (cause === undefined) return false;
  return cause.revision > 0 ? cause.revision <= revision : cause.time < time;
}
