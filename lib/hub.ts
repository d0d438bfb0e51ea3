// A hub: flow files in, a running graph out. Load, declare, start connections, start rules; all of it or nothing.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { asyncScheduler, filter, firstValueFrom, type SchedulerLike } from 'rxjs';
import type { AnyConnectionType, Log } from './connections/connection.ts';
import type { HubPort } from './connections/hub-port.ts';
import { connectionTypes } from './connections/registry.ts';
import { type FlowWatcher, watchFlowFiles } from './flow/files/watch.ts';
import { FlowLoader, reportOf } from './flow/load.ts';
import type { Plan } from './flow/plan.ts';
import type { FlowCode, FlowFault } from './flow/programs/flow-code.ts';
import type { SupervisedStatus } from './flow/run/connections/live-status.ts';
import { RunningConnections } from './flow/run/connections/running-connections.ts';
import type { Supervisor } from './flow/run/connections/supervisor.ts';
import { type Difference, formatDifference } from './flow/run/difference.ts';
import type { ReportFault, ReportWaiting } from './flow/run/rules/rule-context.ts';
import { createRuleStates } from './flow/run/rules/rule-states.ts';
import { RunningRules } from './flow/run/rules/running-rules.ts';
import { createTraces } from './flow/run/rules/trace.ts';
import { Graph } from './graph/graph.ts';
import type { ParameterNode } from './graph/parameter-node.ts';
import { reportDroppedWrite } from './hub/dropped-write.ts';
import { type HubLog, Journal } from './hub/journal.ts';
import { HubError, messageOf } from './model/error.ts';

export type { HubLog } from './hub/journal.ts';

export interface HubOptions {
  /** Flow files, and folders of them. */
  readonly paths: readonly string[];
  readonly log: HubLog;
  /** The only clock of connections; `now()` is monotonic milliseconds. */
  readonly scheduler?: SchedulerLike;
  readonly types?: ReadonlyMap<string, AnyConnectionType>;
  /** Reloads when a flow file, or a file that one names, is saved, added or deleted. */
  readonly watch?: boolean;
  /** Checks rules but runs none, also after a reload. */
  readonly safe?: boolean;
  /** Watches over flows in TypeScript: those of a process that they must not end. */
  readonly guard?: FlowGuard;
}

/** Knows whose fault it is when nobody has caught it, and when a thread is stuck. */
export interface FlowGuard {
  /** Is given all flows in TypeScript at each load, before one that is new is imported, and what reports their faults. */
  protect(flows: readonly FlowCode[], report: (fault: FlowFault) => void): void;
}

/** What a reload has swapped: Connection IDs and names of rules. */
export interface Reload {
  readonly connections: Difference;
  readonly rules: Difference;
}

/** How a plan is run. */
export interface StartOptions extends Pick<HubOptions, 'log' | 'scheduler' | 'safe'> {
  /** Tells the time of changes in milliseconds since 1970. */
  readonly now?: () => number;
  /** What the last load of the flow files said; left out: that of the plan. */
  readonly files?: HubPort['files'];
  /** Is given the graph with all parameters, before anything runs: what it sets there fires nothing. */
  readonly prepare?: (graph: Graph) => void;
}

/** A hub that runs a plan. */
export interface PlanHub extends HubPort {
  /** Swaps what another plan has changed. Errors: `cannot-start` when a gateway cannot; then all runs on as it was. */
  swap(plan: Plan): Reload;
  /** Logs a fault of a flow outside of its rules, and shows all of them as failing. */
  report(fault: FlowFault): void;
  /** Stops everything; resolves when files are written and sockets are closed, after two seconds at most. */
  stop(): Promise<void>;
}

export interface Hub extends HubPort {
  /**
   * Reads the flow files again and swaps what has changed; all else goes on undisturbed. Errors: `bad-flow` with every
   * mistake, `cannot-start` when a gateway cannot; they are logged, and all that ran before runs on.
   */
  reload(): Promise<Reload>;
  /** Stops everything; resolves when files are written and sockets are closed, after two seconds at most. */
  stop(): Promise<void>;
}

export const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const stopDeadlineMs = 1800;

/** Time that no adjustment of the system clock moves, for the connections of a hub. */
export const monotonicScheduler: SchedulerLike = {
  now: () => performance.now(),
  schedule: asyncScheduler.schedule.bind(asyncScheduler) as SchedulerLike['schedule'],
};

/** Reads and checks flow files. Errors: `bad-flow`, one line per mistake, all of them. */
export function loadFlows(paths: readonly string[], types = connectionTypes): Promise<Plan> {
  const loader = new FlowLoader(paths, types);
  return loader.load().finally(() => loader.close());
}

/** Starts a hub. Errors: `bad-flow` with every mistake; `cannot-start` when a gateway cannot; then nothing runs. */
export async function startHub(options: HubOptions): Promise<Hub> {
  const { paths, types = connectionTypes } = options;
  const log = Journal.of(options.log);
  const watcher = options.watch ? await watchFlowFiles(paths, log) : undefined;
  const loader = new FlowLoader(paths, types, {
    keepsReady: options.watch ?? false,
    protect: (flows) => options.guard?.protect(flows, (fault) => reportFault(fault)),
    ...(options.guard && { tellLeftOut: (flow, reason) => logLeftOut(log, flow, reason) }),
  });
  let reportFault = (fault: FlowFault) => logFault(log, fault);
  try {
    const plan = await loader.load();
    const hub = await startPlan(plan, { ...options, log, files: () => loader.report });
    reportFault = hub.report;
    watcher?.alsoWatch(plan.furtherFiles);
    return keepReloading(hub, loader, log, watcher);
  } catch (error) {
    loader.close();
    await watcher?.close();
    throw error;
  }
}

/** Starts a hub from what was loaded. Errors: `cannot-start` when a gateway cannot; then nothing runs. */
export async function startPlan(plan: Plan, options: StartOptions): Promise<PlanHub> {
  const { scheduler = monotonicScheduler } = options;
  const log = Journal.of(options.log);
  const graph = new Graph(options.now);
  const traces = createTraces(graph);
  const hub = createPort(graph, {
    connections: () => connections.statuses(),
    control: (id, action, by) => connections.control(id, action, by),
    rules: () => rules.statuses(),
    switchRule: (name, file, isEnabled, by) => {
      const status = rules.switch(name, file, isEnabled, by);
      const text = `rule "${name}" (${status.file}) was switched ${isEnabled ? 'on' : 'off'} by ${by.name}`;
      log.info({ rule: name, file: status.file }, text);
      return status;
    },
    runsOf: (rule) => rules.runsOf(rule),
    files: options.files ?? (() => reportOf(plan, [])),
    log: (after, least) => log.read(after, least),
    logStatus: () => log.status(),
  });
  const logOf = (connection: string) => log.child({ connection });
  const connections = new RunningConnections({ graph, hub, scheduler, logOf });
  const states = createRuleStates(() => scheduler.now());
  const reportFault: ReportFault = ({ name, file }, message) => {
    states.failed({ name, file }, message);
    log.warn({ rule: name, file }, `rule "${name}" (${file}) failed: ${message}`, `rule ${file} ${name}`);
  };
  const reportLimit: ReportFault = ({ name, file }, message) => {
    states.limited({ name, file }, message, () => false);
    log.warn({ rule: name, file }, `rule "${name}" (${file}) is limited: ${message}`);
  };
  const reportWaiting: ReportWaiting = ({ name, file }, message, isUnknown) => {
    states.waiting({ name, file }, message, isUnknown);
    log.info({ rule: name, file }, `rule "${name}" (${file}) ${message}`);
  };
  const reports = { reportFault, reportLimit, reportWaiting };
  const rules = new RunningRules({ graph, scheduler, traces, ...reports }, states);
  const drops = graph.dropped$.subscribe({ next: (drop) => reportDroppedWrite(log, states, drop) });

  /** Connections first, then rules: what connections set as they start, defaults too, starts no new rule. */
  const swap = (next: Plan): Reload => {
    const swapping = connections.compare(next.connections);
    connections.swapGateways(swapping);
    const plans = options.safe ? next.rules.map((plan) => ({ ...plan, isEnabled: false })) : next.rules;
    const startRules = rules.stopLeaving(plans, swapping.gone);
    return { connections: connections.swapOthers(swapping), rules: startRules() };
  };
  const stop = async () => {
    drops.unsubscribe();
    rules.stop();
    await Promise.race([connections.stop(), deadline(stopDeadlineMs)]);
  };
  try {
    connections.declare(plan.connections);
    options.prepare?.(graph);
    swap(plan);
    const states = await Promise.all(connections.gateways().map(firstState));
    const failed = states.filter(({ state }) => state === 'failed');
    if (failed.length > 0)
      throw new HubError('cannot-start', failed.map(({ id, reason }) => `connection "${id}": ${reason}`).join('\n'));
  } catch (error) {
    await stop();
    throw error;
  }
  const ruleCount = hub.rules().filter(({ enabled }) => enabled).length;
  log.info(
    { connections: plan.connections.length, rules: ruleCount, parameters: graph.size },
    `patchbay ${version} runs ${plan.connections.length} connections, ${ruleCount} rules, ${graph.size} parameters`,
  );
  const { length: planned } = plan.rules.filter(({ isEnabled }) => isEnabled);
  if (options.safe) log.warn({ rules: planned }, `safe: none of the ${planned} rules runs`);
  const report = ({ flow, message }: FlowFault) => {
    for (const { name, file } of hub.rules()) if (file === flow) states.failed({ name, file }, message);
    logFault(log, { flow, message });
  };
  return Object.assign(hub, { swap, report, stop });
}

/** Adds reloads, one after another, to a hub that runs. */
function keepReloading(running: PlanHub, loader: FlowLoader, log: Log, watcher: FlowWatcher | undefined): Hub {
  let isStopped = false;
  const stopRunning = running.stop;
  const reloadNow = async (): Promise<Reload> => {
    try {
      const next = await loader.load();
      if (isStopped) throw new HubError('cannot-start', 'the hub has been stopped');
      const reload = running.swap(next);
      watcher?.alsoWatch(next.furtherFiles);
      logReload(log, reload);
      return reload;
    } catch (error) {
      if (isStopped) throw error;
      if (loader.report.isLoaded) loader.refuse(messageOf(error));
      for (const line of messageOf(error).split('\n')) log.error({}, line);
      log.error({}, 'not reloaded: the flow files as they were before run on');
      throw error;
    }
  };
  let lastReload: Promise<unknown> = Promise.resolve();
  const reload = () => {
    loader.hurry();
    const reloading = lastReload.then(reloadNow);
    lastReload = reloading.catch(() => {});
    return reloading;
  };
  const stop = async () => {
    isStopped = true;
    loader.close();
    await Promise.all([watcher?.close(), stopRunning()]);
  };
  watcher?.changes$.subscribe({ next: () => void reload().catch(() => {}) }); // `reload` has logged why
  return Object.assign(running, { reload, stop });
}

function logFault(log: Log, { flow, message }: FlowFault): void {
  log.error({ file: flow }, `flow ${flow} failed: ${message}`);
}

function logLeftOut(log: Log, flow: string, reason: string): void {
  const sentence = `flow ${flow} is left out, its connections run without its rules: ${reason}`;
  log.error({ file: flow }, `${sentence}. Saved with another content it is tried again`);
}

function logReload(log: Log, { connections, rules }: Reload): void {
  const parts = [
    ['connections', formatDifference(connections)],
    ['rules', formatDifference(rules)],
  ].filter(([, text]) => text !== '');
  if (parts.length === 0) log.debug({}, 'reloaded: nothing has changed');
  else log.info({ connections, rules }, `reloaded: ${parts.map(([what, text]) => `${what}: ${text}`).join('; ')}`);
}

/** What the port tells of what runs, and does with it. */
type Running = Pick<
  HubPort,
  'connections' | 'control' | 'rules' | 'switchRule' | 'runsOf' | 'files' | 'log' | 'logStatus'
>;

function createPort(graph: Graph, running: Running): HubPort {
  return {
    version,
    epoch: randomUUID(),
    startedAt: Date.now(),
    changes$: graph.changes$,
    declared$: graph.declared$,
    removed$: graph.removed$,
    get revision() {
      return graph.revision;
    },
    find: (address) => graph.find(address),
    parameters: () => graph.parameters(),
    changedSince: (revision) => graph.changedSince(revision),
    write: (address, input, origin) => graph.write(address, input, origin),
    writeTo: (parameter, input, origin) => graph.writeTo(parameter as ParameterNode, input, origin),
    turn: (work) => graph.turn(work),
    ...running,
  };
}

/** The first state of a connection after it was started. */
function firstState({ status$ }: Supervisor): Promise<SupervisedStatus> {
  return firstValueFrom(status$.pipe(filter(({ reason }) => reason !== 'starting')));
}

function deadline(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs).unref());
}
