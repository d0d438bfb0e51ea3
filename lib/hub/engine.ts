// A graph with what runs on it: connections, rules, what they report, and what outlives the hub. A hub runs one; what runs in shadow
// and what is replayed run others, which reach nothing outside of the process.
import { type SchedulerLike, Subscription } from 'rxjs';
import type { HubPort } from '../connections/hub-port.ts';
import type { HeldBack, Leadership, Watch } from '../connections/mirroring.ts';
import { hubId, type Plan, startedId } from '../flow/plan.ts';
import { HubPersistence } from '../flow/run/connections/hub-persistence.ts';
import type { ConnectionChange } from '../flow/run/connections/running-connection.ts';
import { RunningConnections } from '../flow/run/connections/running-connections.ts';
import { HandSwitches } from '../flow/run/hand-switches.ts';
import { RuleReports } from '../flow/run/rules/rule-reports.ts';
import { type RuleChange, RunningRules } from '../flow/run/rules/running-rules.ts';
import { createTraces } from '../flow/run/rules/trace.ts';
import { Graph } from '../graph/graph.ts';
import { SettleCall } from '../graph/settle-queue.ts';
import { formatAddress } from '../model/address.ts';
import type { Change, Origin } from '../model/parameter.ts';
import type { OutsideTurn, RecordedWrite, Recording } from '../model/reports/audit-entry.ts';
import type { Reload } from '../model/reports/reload-report.ts';
import type { RuleStatus } from '../model/reports/rule-status.ts';
import { type ClockJump, describeJump } from '../model/time/wall-clock.ts';
import { withTrace } from '../model/writer.ts';
import type { Journal } from './journal.ts';

interface EngineOptions {
  readonly log: Journal;
  readonly scheduler: SchedulerLike;
  /** Returns the time of changes in milliseconds since 1970; left out: the time of day. */
  readonly now?: (() => number) | undefined;
  /** What gateways see; left out: the plan has no gateways. */
  readonly port?: HubPort | undefined;
  /** Checks rules but runs none, also after a reload. */
  readonly safe?: boolean | undefined;
}

/** What a plan changes in what runs, compared before anything is stopped. */
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
  readonly #switches: HandSwitches;
  readonly #log: Journal;
  readonly #scheduler: SchedulerLike;
  readonly #isSafe: boolean;

  constructor({ log, scheduler, now, port, safe = false }: EngineOptions) {
    const graph = new Graph(now);
    const persistence = new HubPersistence(graph, () => scheduler.now(), now);
    const ownHub = () => port?.mirroring.domain?.().hub;
    const reports = new RuleReports({ log, now: () => scheduler.now(), ownHub });
    const switches = new HandSwitches(log, persistence);
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
    persistence.givenBack$.subscribe({ next: () => this.recallSwitches() });
    graph.dropped$.subscribe({ next: (drop) => reports.dropped(drop) });
  }

  /** Declares the parameters of a plan, before anything runs. */
  declare(plan: Plan): void {
    this.connections.declare(plan.connections);
    this.persistence.plan(plan);
  }

  /** Runs the first plan. Errors: `cannot-start` when a gateway cannot; then the others run until `stop`. */
  start(plan: Plan): void {
    const change = this.#diff(plan);
    this.leadership.start(plan, () => this.connections.startGateways(change.connections, plan));
    this.#swapWork(change);
  }

  /**
   * Makes what runs what a plan says, by stopping and starting only what has changed. Rules in shadow run elsewhere. Errors: `cannot-start`
   * when a gateway cannot; then all runs on as it was.
   */
  apply(plan: Plan): Reload {
    const change = this.#diff(plan);
    // 1. Gateways first, since one that cannot start refuses the plan. One that decides who works holds everything else back.
    this.leadership.swap(plan, () => this.connections.swapGateways(change.connections, plan));
    this.persistence.plan(plan);
    return this.#swapWork(change);
  }

  #swapWork(change: PlanChange): Reload {
    // 2. Stop rules that leave, so that none of them hears what connections set as they start.
    this.rules.stopLeaving(change.rules);
    // 3. Swap all other connections, then start the rules that come.
    const connections = this.connections.swapOthers(change.connections);
    return { connections, rules: this.rules.start(change.rules) };
  }

  #diff(plan: Plan): PlanChange {
    const connections = this.connections.diff(plan.connections);
    const live = plan.rules.filter(({ isShadow }) => !isShadow);
    const rules = this.#isSafe ? live.map((rule) => ({ ...rule, isEnabled: false })) : live;
    return { connections, rules: this.rules.diff({ ...plan, rules }, connections.gone) };
  }

  /** Switches a rule, and records that in the log and in the store. Errors: as `RunningRules.switch`. */
  switchRule(name: string, file: string | undefined, isEnabled: boolean, by: Origin): RuleStatus {
    const status = this.rules.switch(name, file, isEnabled, by);
    const after = isEnabled ? 'on' : 'off';
    const text = `rule "${name}" (${status.file}) was switched ${after} by ${by.name}`;
    this.#log.info({ rule: name, file: status.file }, withTrace(text, by));
    const cause = withTrace(`a rule of ${status.file}`, by);
    this.persistence.note({ kind: 'rule', user: by.name, address: name, after, cause });
    return status;
  }

  /** A plan with the rules and connections that were switched by hand as they are. */
  asSwitched(plan: Plan): Plan {
    return {
      ...plan,
      rules: this.rules.asSwitched(plan.rules),
      connections: this.connections.asSwitched(plan.connections),
    };
  }

  /** Tells which rules and connections were switched by hand in an earlier run, and are as their flow files say. */
  recallSwitches(): void {
    if (this.#isSafe) return; // none of them runs by its flow file: they are told at the next start
    this.#switches.recall((what) => (what.kind === 'rule' ? this.rules.isOn(what) : this.connections.isOn(what)));
  }

  /** Calls back with each turn in which something came from outside, until the recording is stopped. */
  record(next: (turn: OutsideTurn) => void): Recording {
    const isExternal = (id: string) => this.connections.isExternal(id);
    return record(next, { graph: this.graph, scheduler: this.#scheduler, isExternal });
  }

  /** The time of day has jumped: that is recorded, and what is kept with such times is written anew. */
  noteJump(jump: ClockJump): void {
    const { before, after } = jump;
    const text = describeJump(jump);
    this.#log.warn({ before, after }, text, 'clock');
    this.persistence.note({ kind: 'clock', user: 'hub', address: '', cause: text });
    this.persistence.renewMemories();
  }

  /** Stops rules, then connections; resolves when these have finished what they had begun. */
  async stop(): Promise<void> {
    this.leadership.stop();
    this.#switches.end();
    this.rules.stop();
    this.persistence.note({ kind: 'stop', user: 'hub', address: '', cause: '' });
    await this.connections.stop();
  }

  /** Fires the hub's own trigger, where a flow file names it. */
  #fireStarted(): void {
    const started = this.graph.find(formatAddress(hubId, startedId));
    if (started !== undefined) this.graph.writeTo(started, true, started.owner);
  }
}

// Whether this hub does its work: the other side of what a gateway decides.

/** A hub that nobody holds back. */
const always: Watch = { term: 0, goesOn: true };

/** How long connections wait for what a store gives back: one that takes over has the values already, and others wait for it. */
const patienceMs = { ofHeir: 10_000, ofFirst: 30_000 };

type LeadershipParts = Pick<Engine, 'graph' | 'persistence' | 'connections' | 'rules'>;

class HubLeadership implements Leadership {
  readonly #parts: LeadershipParts;
  readonly #logStarted: () => void;
  #watch: Watch | undefined = always;
  #isDoneElsewhere = false;
  #rulesRun = true;
  #isStarted = false;
  #hasEnded = false;
  hasBegun = false;

  /** `tellStarted` is called once all runs for the first time, unless it goes on from before. */
  constructor(parts: LeadershipParts, logStarted: () => void) {
    this.#parts = parts;
    this.#logStarted = logStarted;
  }

  get watch(): Watch | undefined {
    return this.#watch;
  }

  get isDone(): boolean {
    return this.#watch !== undefined || this.#isDoneElsewhere;
  }

  /** Has the first gateways start, of which one may hold everything else back. Errors: those of `startGateways`. */
  start(plan: Plan, startGateways: () => void): void {
    const reason = reasonToHold(plan);
    if (reason !== undefined) void this.end(reason);
    startGateways();
  }

  /** Has the gateways of a plan take the place of others, of which one may hold everything else back. Errors: those of `swapGateways`. */
  swap(plan: Plan, swapGateways: () => void): void {
    const reason = reasonToHold(plan);
    const wasAlways = this.#watch === always;
    if (wasAlways && reason !== undefined) void this.end(reason);
    try {
      swapGateways();
    } catch (error) {
      if (wasAlways) this.begin(always);
      throw error;
    }
    if (reason !== undefined) return;
    this.holdBack(new Map());
    if (this.#watch !== always) this.begin(always);
  }

  begin(watch: Watch): void {
    if (this.#hasEnded) return;
    const { graph, connections, persistence } = this.#parts;
    this.#watch = watch;
    this.hasBegun = true;
    graph.mayAct = watch.mayAct;
    if (watch.goesOn) persistence.forgetRecalled();
    const given = connections.holdNoLonger(watch.goesOn ? patienceMs.ofHeir : patienceMs.ofFirst);
    if (given === undefined) this.#beginRules(watch);
    else void given.then(() => this.#beginRules(watch));
  }

  #beginRules(watch: Watch): void {
    if (this.#watch !== watch || this.#hasEnded) return;
    this.#parts.rules.hold(undefined, !watch.goesOn);
    this.#rulesRun = true;
    if (this.#isStarted && !watch.goesOn) this.#logStarted();
  }

  end(reason: string, isDoneElsewhere = false): Promise<void> {
    const { connections, rules } = this.#parts;
    this.#watch = undefined;
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

  /** All that may run has been started. */
  started(): void {
    this.#isStarted = true;
    if (this.#watch !== undefined) this.hasBegun = true;
    if (this.#watch !== undefined && this.#rulesRun) this.#logStarted();
  }

  /** Begins nothing any more. */
  stop(): void {
    this.#hasEnded = true;
  }
}

/** Why a hub with such gateways does no work until one of them says so; undefined: none decides that. */
function reasonToHold({ connections }: Plan): string | undefined {
  const reasons = connections.map(({ enabled, type, settings }) =>
    enabled && type.isGateway ? type.startsOnLeaderOnly?.(settings) : undefined,
  );
  return reasons.find((one) => one !== undefined);
}

// Records what comes from outside: what clients write, and what connections tell. What rules and connections make of it is left out,
// as a replay makes it again. What was under way when the recording began is recorded.

interface RecordOptions {
  readonly graph: Graph;
  readonly scheduler: SchedulerLike;
  /** Whether a connection tells what nobody can make again. */
  readonly isExternal: (connectionId: string) => boolean;
}

/** Calls back with each turn in which something came from outside, until it is stopped. */
function record(next: (turn: OutsideTurn) => void, { graph, scheduler, isExternal }: RecordOptions): Recording {
  const since = { revision: graph.revision, time: graph.now() };
  const startMs = scheduler.now();
  const elapsedMs = () => Math.round(scheduler.now() - startMs);
  let writes: RecordedWrite[] = [];
  const task = new SettleCall({ order: Number.MAX_SAFE_INTEGER }, () => {
    next({ atMs: elapsedMs(), writes });
    writes = [];
  });
  const hear = (change: Change) => {
    const { origin, cause } = change;
    const isOutside =
      origin.reportedBy !== undefined || (cause === undefined ? origin.kind !== 'rule' : isLedToBefore(change, since));
    if (!isOutside && !(origin.kind === 'connection' && isExternal(origin.name))) return;
    writes.push({ address: change.parameter.address, value: graph.inputOf(change), origin });
    graph.atSettle(task);
  };
  const subscription = new Subscription();
  for (const heard$ of [graph.changes$, graph.repeated$])
    subscription.add(heard$.subscribe({ next: hear, error: () => {} }));
  return { time: since.time, elapsedMs, stop: () => subscription.unsubscribe() };
}

/** A moment in the life of a hub. */
export interface Moment {
  readonly revision: number;
  /** In milliseconds since 1970. */
  readonly time: number;
}

/** Whether what led to a change was before a moment. What follows from that later, nobody can do again. */
export function isLedToBefore({ cause }: Change, { revision, time }: Moment): boolean {
  if (cause === undefined) return false;
  return cause.revision > 0 ? cause.revision <= revision : cause.time < time;
}
