// A hub: turns flow files into a running graph, and implements the interface through which gateways access the graph.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { filter, firstValueFrom, type Observable, type SchedulerLike } from 'rxjs';
import type { Log } from '../connections/connection.ts';
import { type ConnectionTypes, loadConnectionTypes } from '../connections/connection-types.ts';
import type { RecipeForm, Uses } from '../connections/editing.ts';
import type { HubPort } from '../connections/hub-port.ts';
import { watchFlowFiles } from '../flow/files/watch.ts';
import { FlowLoader, reportOf } from '../flow/load.ts';
import { type Plan, type RulePlan, sourcesOf } from '../flow/plan.ts';
import type { FlowCode, FlowFault } from '../flow/programs/flow-code.ts';
import { expectStarted } from '../flow/run/connections/running-connection.ts';
import type { Supervisor } from '../flow/run/connections/supervisor.ts';
import type { TestPlan } from '../flow/test-plan.ts';
import type { Graph } from '../graph/graph.ts';
import type { ParameterNode } from '../graph/parameter-node.ts';
import { mostTextCharacters } from '../graph/text-room.ts';
import { connectionIdOf } from '../model/address.ts';
import { counted } from '../model/digits.ts';
import { HubError } from '../model/error.ts';
import { held, mostHeldBytes } from '../model/held-bytes.ts';
import type { Change, Origin, Parameter, Remote, RemoteWrite } from '../model/parameter.ts';
import type { OutsideTurn, Recording } from '../model/reports/audit-entry.ts';
import type { ConnectionAction, ConnectionStatus, Way } from '../model/reports/connection-status.ts';
import type { LogLevel, LogPage, LogStatus } from '../model/reports/log-entry.ts';
import type { LoadReport, Reload, ShadowReport } from '../model/reports/reload-report.ts';
import type { Override, RuleRuns, RuleStatus, SwitchTerm } from '../model/reports/rule-status.ts';
import type { ShownFrame } from '../model/reports/wire-log.ts';
import { within } from '../model/time/deadline.ts';
import { wallClock } from '../model/time/wall-clock.ts';
import type { Value } from '../model/value.ts';
import { documentsOf } from './document-editor.ts';
import { ownFile, ownFolderOf, recoverSaves } from './edit-files.ts';
import { type EditOptions, Editor, type RunTests } from './editor.ts';
import { Engine } from './engine.ts';
import { Federation } from './federation.ts';
import { type HubLog, Journal } from './journal.ts';
import { fillForm, listForms } from './recipes.ts';
import { type FlowFiles, Reloader } from './reload.ts';
import { askStores, restoreFrom } from './restore.ts';
import { Revisions } from './revisions.ts';
import { monotonicScheduler } from './scheduler.ts';
import { Shadow } from './shadow/shadow.ts';
import { version } from './version.ts';

export type { Reload } from '../model/reports/reload-report.ts';

/** Options for running a plan. */
export interface RunOptions {
  readonly log: HubLog;
  /** The clock of connections and the only source of time for them; `now()` returns monotonic milliseconds. */
  readonly scheduler?: SchedulerLike;
  /** true means that rules are checked but do not run, even after a reload. */
  readonly safe?: boolean;
  /** Returns the time at which changes are made, in milliseconds since 1970. */
  readonly now?: () => number;
  /**
   * Receives the graph with all parameters before anything is running. The returned promise is awaited. Writes made here do not start
   * rules.
   */
  readonly prepare?: (graph: Graph) => void | Promise<void>;
}

/** Options for running flow files. */
export interface HubOptions extends RunOptions {
  /** The paths of flow files, and of folders with flow files. */
  readonly paths: readonly string[];
  /** The connection types, keyed by name. The default is the types in the registry. */
  readonly types?: ConnectionTypes | undefined;
  /** true means that the hub reloads when a flow file, or a file named in a flow file, is saved, added or deleted. */
  readonly watch?: boolean;
  /** Runs the tests in flow files that are edited through a gateway. If omitted, edited tests do not run. */
  readonly runTests?: RunTests;
  /** How long a change to access rights waits for its confirmation, in milliseconds. The default is 30,000. */
  readonly probationMs?: number;
  /** Guards the process against TypeScript flows that would end it. */
  readonly guard?: FlowGuard;
}

/** Finds the flow that caused an uncaught error or a blocked thread. */
export interface FlowGuard {
  /**
   * Receives all TypeScript flows on each load, before a new flow is imported, and a callback to which faults of these flows are reported.
   */
  protect(flows: readonly FlowCode[], report: (fault: FlowFault) => void): void;
}

const stopDeadlineMs = 1800;

const heapBytes = getHeapStatistics().heap_size_limit;
held.allow(mostHeldBytes(heapBytes));

/** Reads and checks flow files. Errors: `bad-flow` with all errors, one per line. */
export function loadFlows(paths: readonly string[], types?: ConnectionTypes): Promise<Plan> {
  const loader = new FlowLoader(paths, types ?? loadConnectionTypes);
  return loader.load().finally(() => loader.close());
}

/** Checks flow files and related files, such as dashboards, without running anything. Returns one line per error. */
export function checkFlows(paths: readonly string[]): ReturnType<FlowLoader['check']> {
  const loader = new FlowLoader(paths, loadConnectionTypes);
  return loader.check().finally(() => loader.close());
}

/**
 * Starts a hub from flow files. Errors: `bad-flow` with all errors; `cannot-start` if a gateway cannot start. In both cases, no part of the
 * hub keeps running.
 */
export function startHub(options: HubOptions): Promise<Hub> {
  return Hub.start(options);
}

export class Hub implements HubPort {
  readonly version = version;
  readonly epoch = randomUUID();
  readonly startedAt = Date.now();
  readonly #beganMs = performance.now();
  readonly changes$: HubPort['changes$'];
  readonly declared$: HubPort['declared$'];
  readonly removed$: HubPort['removed$'];
  readonly turnDurations: HubPort['turnDurations'];
  readonly ruleTotals: HubPort['ruleTotals'];
  readonly persistence: HubPort['persistence'];
  readonly mirroring: HubPort['mirroring'];
  readonly leadership: HubPort['leadership'];
  readonly editing: Editor | undefined;
  readonly hooks: HubPort['hooks'] = new Map();
  readonly outboxes: HubPort['outboxes'] = new Map();
  readonly agendas: HubPort['agendas'] = new Map();
  readonly drivers: HubPort['drivers'] = new Map();
  readonly #engine: Engine;
  readonly #graph: Graph;
  readonly #log: Journal;
  readonly #shadow: Shadow;
  readonly #isSafe: boolean;
  readonly #reloader: Reloader | undefined;
  readonly #unwatchClock: () => void;
  #plan: Plan;

  private constructor(plan: Plan, options: RunOptions, files: FlowFiles | undefined, editing: EditOptions = {}) {
    const { scheduler = monotonicScheduler, safe = false, now } = options;
    const log = Journal.of(options.log);
    const engine = new Engine({ log, scheduler, now, safe, port: this });
    const { graph, connections } = engine;
    graph.texts.allow(mostTextCharacters(heapBytes));
    this.changes$ = graph.changes$;
    this.declared$ = graph.declared$;
    this.removed$ = graph.removed$;
    this.turnDurations = graph.turnDurations;
    this.ruleTotals = engine.reports.totals;
    this.persistence = engine.persistence;
    this.mirroring = new Federation(graph, {
      isLocal: (id) => connections.isLocal(id),
      hasConnection: (id) => connections.has(id),
    });
    this.leadership = engine.leadership;
    this.#engine = engine;
    this.#graph = graph;
    this.#log = log;
    this.#shadow = new Shadow({
      ...{ graph, scheduler, log },
      memoriesOf: (ids) => engine.persistence.memoriesOf(ids),
      asSwitched: (plan) => engine.asSwitched(plan),
    });
    this.#isSafe = safe;
    this.#plan = plan;
    this.#reloader = files && new Reloader(files, this, log);
    this.editing = files && this.#createEditor(files.loader, files.isFolder, this.#reloader!, editing);
    this.#unwatchClock = now === undefined ? wallClock.watch((jump) => engine.noteJump(jump)) : () => {};
  }

  /**
   * Starts a hub from flow files. Errors: `bad-flow` with all errors; `cannot-start` if a gateway cannot start. In both cases, no part of
   * the hub keeps running.
   */
  static async start(options: HubOptions): Promise<Hub> {
    const { paths, types, guard, runTests, probationMs } = options;
    const log = Journal.of(options.log);
    const { isFolder, restored } = await recoverSaves(paths);
    for (const path of restored)
      log.warn({ path }, `${path}: a save was interrupted or not confirmed: the previous file was restored`);
    const watcher = options.watch ? await watchFlowFiles(paths, log) : undefined;
    let report = (fault: FlowFault) => logFault(log, fault);
    const loader = new FlowLoader(paths, types ?? loadConnectionTypes, {
      keepsReady: options.watch ?? false,
      protect: (flows) => guard?.protect(flows, (fault) => report(fault)),
      ...(guard && { reportLeftOut: (flow, reason) => logLeftOut(log, flow, reason) }),
    });
    try {
      const plan = await loader.load((types) => {
        for (const type of types) if (type.isGateway) type.prepare?.();
      });
      for (const warning of plan.warnings ?? []) log.warn({}, warning);
      const hub = await Hub.#begin(
        new Hub(plan, { ...options, log }, { loader, watcher, isFolder }, { runTests, probationMs }),
        options,
      );
      report = (fault) => hub.#reportFault(fault);
      hub.#reloader!.followSaves();
      return hub;
    } catch (error) {
      loader.close();
      await watcher?.close();
      throw error;
    }
  }

  /**
   * Runs a plan without flow files, which cannot be reloaded. Errors: `cannot-start` if a gateway cannot start, in which case no part of
   * the hub keeps running.
   */
  static run(plan: Plan, options: RunOptions): Promise<Hub> {
    return Hub.#begin(new Hub(plan, options, undefined), options);
  }

  /** Starts everything or nothing: declares parameters, restores their stored values, starts connections, then rules. */
  static async #begin(hub: Hub, { prepare }: RunOptions): Promise<Hub> {
    const engine = hub.#engine;
    const plan = hub.#plan;
    try {
      const stores = askStores(plan, hub.#log);
      engine.declare(plan);
      for (const store of stores) await restoreFrom(store, engine, hub.#log);
      await prepare?.(hub.#graph);
      engine.recallTerms();
      engine.start(plan);
      engine.recallSwitches();
      const gateways = engine.connections.gateways();
      if (gateways.length > 0) await expectGateways(gateways, plan);
      engine.connections.started();
      if (!hub.#isSafe) hub.#shadow.follow(plan);
      engine.leadership.started();
    } catch (error) {
      await hub.#stopRunning();
      throw error;
    }
    hub.#logStart();
    return hub;
  }

  get uptimeMs(): number {
    return performance.now() - this.#beganMs;
  }

  get revision(): number {
    return this.#graph.revision;
  }

  get structure(): number {
    return this.#graph.structure;
  }

  get size(): number {
    return this.#graph.size;
  }

  find(address: string): Parameter | undefined {
    return this.#graph.find(address);
  }

  parameters(): Iterable<Parameter> {
    return this.#graph.parameters();
  }

  changedSince(revision: number): Iterable<Parameter> {
    return this.#graph.changedSince(revision);
  }

  newestFirst(): Iterable<Parameter> {
    return this.#graph.newestFirst();
  }

  write(address: string, input: unknown, origin: Origin): Value {
    return this.#graph.write(address, input, origin);
  }

  writeTo(parameter: Parameter, input: unknown, origin: Origin): Value {
    return this.#graph.writeTo(parameter as ParameterNode, input, origin);
  }

  writeRemote(remote: Remote, writes: readonly RemoteWrite[], origin: Origin): Promise<readonly (Value | Error)[]> {
    return this.#graph.writeRemote(remote, writes, origin);
  }

  get wanted$(): Observable<Change> {
    return this.#graph.wanted$;
  }

  whenConfirmed(parameter: Parameter, limitMs: number): Promise<void> {
    return this.#graph.whenConfirmed(parameter, limitMs);
  }

  wire(connectionId: string, after: number): readonly ShownFrame[] {
    return this.#engine.connections.wire(connectionId, after);
  }

  turn(work: () => void): void {
    this.#graph.turn(work);
  }

  connections(): readonly ConnectionStatus[] {
    return this.#engine.connections.statuses();
  }

  recipes(): Promise<readonly RecipeForm[]> {
    return listForms();
  }

  fillRecipe(
    name: string,
    own: string,
    given: Readonly<Record<string, string>>,
    mayRead: (address: string) => boolean,
  ): Promise<{ readonly file: string; readonly text: string }> {
    const addresses = new Set<string>();
    for (const { address } of this.#graph.parameters()) if (mayRead(address)) addresses.add(address);
    const connections = new Set([...addresses].map(connectionIdOf));
    const hasOthers = this.#plan.connections.some(({ type }) => type.remotes !== undefined);
    return fillForm(name, own, given, { addresses, connections, hasOthers });
  }

  ways(): Iterable<Way> {
    return this.#engine.connections.ways();
  }

  control(connectionId: string, action: ConnectionAction, by: Origin, term?: SwitchTerm): ConnectionStatus {
    const status = this.#engine.connections.control(connectionId, action, by, term);
    this.#shadow.followSwitches();
    return status;
  }

  /** Returns the status of each rule, in the order of the flow files; shadow rules come last. */
  rules(): readonly RuleStatus[] {
    return [...this.eachRule()];
  }

  *eachRule(): Generator<RuleStatus, void, void> {
    yield* this.#engine.rules.eachStatus();
    yield* this.#shadow.statuses();
  }

  switchRule(name: string, file: string | undefined, isEnabled: boolean, by: Origin, term?: SwitchTerm): RuleStatus {
    if (this.#isInShadowAlone(name))
      throw new HubError(
        'conflict',
        `rule: expected a live rule, but "${name}" runs in shadow according to its flow file`,
      );
    const status = this.#engine.switchRule(name, file, isEnabled, by, term);
    this.#shadow.followSwitches();
    return status;
  }

  overrides(): readonly Override[] {
    return this.#engine.overrides();
  }

  runsOf(rule: string): readonly RuleRuns[] {
    const live = this.#isInShadowAlone(rule) ? [] : this.#engine.rules.runsOf(rule);
    return [...live, ...this.#shadow.runsOf(rule)];
  }

  usagesOf(address: string): Uses {
    const { rules, connections, tests, placeOf } = this.#plan;
    const asOf = (rule: RulePlan) => {
      const isFrom = sourcesOf(rule).includes(address);
      const isTo = rule.to.includes(address);
      const times = rule.addresses.filter((one) => one === address).length;
      return [
        ...(isFrom ? (['from'] as const) : []),
        ...(isTo ? (['to'] as const) : []),
        ...(times > Number(isFrom) + Number(isTo) ? (['reads'] as const) : []),
      ];
    };
    return {
      rules: rules
        .map((rule) => ({ rule, as: asOf(rule) }))
        .filter(({ as }) => as.length > 0)
        .map(({ rule, as }) => ({ name: rule.name, file: rule.file, place: placeOf?.(rule) ?? rule.file, as })),
      connections: connections.flatMap(({ id, type, settings, file, inputs }) => {
        const read = Object.keys(inputs).filter((name) => inputs[name] === address);
        const as = [...read, ...(type.isGateway ? (type.records?.(settings)(address) ?? []) : [])];
        return as.length > 0 ? [{ id, type: type.type, file, as }] : [];
      }),
      tests: tests
        .filter((test) => namesInTest(test, address))
        .map(({ name, file, place }) => ({ name, file, place: place() })),
    };
  }

  files(): LoadReport {
    return this.#reloader?.report ?? reportOf(this.#plan, []);
  }

  log(after: number, least: LogLevel): LogPage {
    return this.#log.read(after, least);
  }

  earlierLog(): Promise<void> | undefined {
    return this.#log.earlier;
  }

  logStatus(): LogStatus {
    return this.#log.status();
  }

  record(next: (turn: OutsideTurn) => void): Recording {
    return this.#engine.record(next);
  }

  shadow(): ShadowReport | undefined {
    return this.#shadow.report();
  }

  wouldBe(address: string): Change | undefined {
    return this.#shadow.wouldBe(address);
  }

  /**
   * Reloads the flow files and applies the differences; everything else continues undisturbed. Errors: `bad-flow` with all errors,
   * `cannot-start` if a gateway cannot start, `conflict` if the hub was started without files. The errors `bad-flow` and `cannot-start` are
   * logged, and the previous configuration remains active.
   */
  async reload(by?: Origin): Promise<Reload> {
    return this.#fromFiles().reload(by);
  }

  async reloadInShadow(by?: Origin): Promise<ShadowReport> {
    return this.#fromFiles().reloadInShadow(by);
  }

  /**
   * Makes the hub run another plan. Errors: `cannot-start` if a gateway cannot start, in which case the previous configuration remains
   * active.
   */
  apply(plan: Plan): Reload {
    const reload = this.#engine.apply(plan);
    this.#plan = plan;
    if (!this.#isSafe) this.#shadow.follow(plan);
    return reload;
  }

  /**
   * Runs the changes in another plan in shadow until the next `apply`. Changes to credentials and rights always take effect immediately.
   */
  applyInShadow(plan: Plan): ShadowReport {
    return this.#shadow.reload(plan, this.#engine.connections.takeOver(plan.connections));
  }

  #createEditor(loader: FlowLoader, isFolder: boolean, reloader: Reloader, editing: EditOptions): Editor {
    const log = this.#log;
    const { persistence } = this.#engine;
    const folder = ownFolderOf(loader.paths, isFolder);
    const warn = (message: string) => log.warn({}, message);
    const revisions = new Revisions(
      (name, read) => {
        persistence.remember(name, read);
        return persistence.hasStore;
      },
      ownFile(join(folder, 'revisions.json'), warn),
    );
    revisions.readFile();
    this.#engine.keepSwitchesIn(ownFile(join(folder, 'overrides.json'), warn));
    this.#engine.onRemembered = (remembered) => revisions.recall(remembered);
    return new Editor({
      ...{ loader, revisions, ...editing },
      documents: () => documentsOf(this.#plan),
      note: ({ name }, cause) => persistence.note({ kind: 'reload', user: name, address: '', after: 'saved', cause }),
      exclusively: (work) => reloader.exclusively(work),
      reload: async (by, comment, renames = []) => {
        persistence.expectRenames(renames);
        try {
          return await reloader.reloadNow(by, comment);
        } finally {
          persistence.expectRenames([]);
        }
      },
      runInShadow: (plan) => this.#shadow.reload(plan, []),
      preview: (plan) => this.#engine.preview(plan),
      parameters: () => this.#graph.parameters(),
      find: (address) => this.#graph.find(address),
      runsOf: (rule) => (this.#engine.rules.statuses().some(({ name }) => name === rule) ? this.runsOf(rule) : []),
      log: warn,
    });
  }

  /** Stops everything. Resolves when files are written and sockets are closed, or after two seconds at the latest. */
  async stop(): Promise<void> {
    this.editing?.stop();
    await Promise.all([this.#reloader?.stop(), this.#stopRunning()]);
  }

  async #stopRunning(): Promise<void> {
    this.#unwatchClock();
    this.#shadow.stop();
    await within(this.#engine.stop(), stopDeadlineMs);
  }

  #fromFiles(): Reloader {
    if (this.#reloader !== undefined) return this.#reloader;
    throw new HubError('conflict', 'reload: expected a hub that was started from flow files');
  }

  /** Returns whether all rules with this name run only in shadow, as set in their flow file, and thus cannot be switched manually. */
  #isInShadowAlone(name: string): boolean {
    return this.#shadow.runsOf(name).length > 0 && !this.#engine.rules.statuses().some((rule) => rule.name === name);
  }

  /** Logs a fault in a flow outside its rules, and shows all rules of the flow as failing. */
  #reportFault(fault: FlowFault): void {
    const { rules, reports } = this.#engine;
    for (const { name, file } of rules.statuses())
      if (file === fault.flow) reports.showFailed({ name, file }, fault.message);
    logFault(this.#log, fault);
  }

  #logStart(): void {
    const { length: connections } = this.#plan.connections;
    const rules = this.#engine.rules.enabledCount;
    const parameters = this.#graph.size;
    const texts = [counted(connections, 'connection'), counted(rules, 'rule'), counted(parameters, 'parameter')];
    this.#log.info({ connections, rules, parameters }, `patchbay ${version} started with ${texts.join(', ')}`);
    if (!this.#isSafe) return;
    const { length: planned } = this.#plan.rules.filter(({ isEnabled, isShadow }) => isEnabled && !isShadow);
    this.#log.warn({ rules: planned }, `safe mode: ${counted(planned, 'rule')} disabled`);
  }
}

function namesInTest({ given, steps }: TestPlan, address: string): boolean {
  const all = [
    ...given,
    ...steps.flatMap(({ set, expect, never, wanted }) => [...set, ...expect, ...never, ...wanted]),
  ];
  return all.some((one) => one.address === address);
}

function logFault(log: Log, { flow, message }: FlowFault): void {
  log.error({ file: flow }, `flow ${flow} failed: ${message}`);
}

/** Logs that a flow is skipped because it has stopped the hub before. */
function logLeftOut(log: Log, flow: string, reason: string): void {
  const sentence = `flow ${flow} is skipped; its connections run without its rules: ${reason}`;
  log.error({ file: flow }, `${sentence}. Change and save it to try again`);
}

/** Waits until each gateway has started. Errors: `cannot-start`, with one line per gateway that has not started. */
async function expectGateways(gateways: readonly Supervisor[], plan: Plan): Promise<void> {
  const firstStatus = ({ status$ }: Supervisor) =>
    firstValueFrom(status$.pipe(filter(({ reason }) => reason !== 'starting')));
  expectStarted(await Promise.all(gateways.map(firstStatus)), plan);
}
