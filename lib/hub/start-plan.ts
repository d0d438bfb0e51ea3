// Runs a plan: declares parameters, starts connections, then rules; all of it or nothing.

import { filter, firstValueFrom, type SchedulerLike } from 'rxjs';
import type { HubPort } from '../connections/hub-port.ts';
import type { Deed } from '../connections/keeping.ts';
import { reportOf } from '../flow/load.ts';
import type { Plan } from '../flow/plan.ts';
import type { FlowFault } from '../flow/programs/flow-code.ts';
import type { SupervisedStatus } from '../flow/run/connections/live-status.ts';
import type { Supervisor } from '../flow/run/connections/supervisor.ts';
import type { Graph } from '../graph/graph.ts';
import { HubError } from '../model/error.ts';
import type { ShadowReport } from '../model/reports/shadow-report.ts';
import { within } from '../model/time/deadline.ts';
import { createDropReport } from './dropped-write.ts';
import { logFault } from './flow-guard.ts';
import { type HubLog, Journal } from './journal.ts';
import { createParts, type Parts } from './parts.ts';
import type { Reload } from './reload.ts';
import { askStores, restoreFrom } from './restore.ts';
import { monotonicScheduler } from './scheduler.ts';
import { Shadow } from './shadow/shadow.ts';
import { withShadow } from './shadow/with-shadow.ts';
import { swapPlan } from './swap-plan.ts';
import { version } from './version.ts';

/** How a plan is run. */
export interface StartOptions {
  readonly log: HubLog;
  /** The only clock of connections; `now()` is monotonic milliseconds. */
  readonly scheduler?: SchedulerLike;
  /** Checks rules but runs none, also after a reload. */
  readonly safe?: boolean;
  /** Tells the time of changes in milliseconds since 1970. */
  readonly now?: () => number;
  /** What the last load of the flow files said; left out: that of the plan. */
  readonly files?: HubPort['files'];
  /** Is given the graph with all parameters, before anything runs: what it sets there fires nothing. */
  readonly prepare?: (graph: Graph) => void;
  /** Is awaited while stores read from the disk what they have kept. */
  readonly warmUp?: () => Promise<void>;
}

/** A hub that runs a plan. */
export interface PlanHub extends HubPort {
  /** Swaps what another plan has changed. Errors: `cannot-start` when a gateway cannot; then all runs on as it was. */
  swap(plan: Plan): Reload;
  /** Runs in shadow what another plan would change, until the next swap. Who may come in holds at once, as ever. */
  runInShadow(plan: Plan): ShadowReport;
  /** Tells the store what was done with the hub itself. */
  note(deed: Deed): void;
  /** Logs a fault of a flow outside of its rules, and shows all of them as failing. */
  report(fault: FlowFault): void;
  /** Stops everything; resolves when files are written and sockets are closed, after two seconds at most. */
  stop(): Promise<void>;
}

const stopDeadlineMs = 1800;

/** Starts a hub from what was loaded. Errors: `cannot-start` when a gateway cannot; then nothing runs. */
export async function startPlan(plan: Plan, options: StartOptions): Promise<PlanHub> {
  const { scheduler = monotonicScheduler, safe: isSafe = false, now, files = () => reportOf(plan, []) } = options;
  const parts = createParts({ log: Journal.of(options.log), scheduler, now, files });
  const { log, graph, keeping, connections, rules, states, duty, port } = parts;
  const ownHub = () => port.mirroring.domain?.().hub;
  const drops = graph.dropped$.subscribe({ next: createDropReport(log, states, ownHub) });
  const shadow = new Shadow({ graph, scheduler, log });
  const stop = async () => {
    drops.unsubscribe();
    duty.stop();
    shadow.stop();
    rules.stop();
    keeping.note({ kind: 'stop', user: 'hub', address: '', cause: '' });
    await within(connections.stop(), stopDeadlineMs);
  };
  try {
    const stores = askStores(plan, log);
    connections.declare(plan.connections);
    keeping.plan(plan);
    await options.warmUp?.();
    for (const store of stores) await restoreFrom(store, parts);
    options.prepare?.(graph);
    swapPlan(parts, plan, isSafe);
    const gateways = connections.gateways();
    if (gateways.length > 0) await expectGateways(gateways);
    if (!isSafe) shadow.follow(plan);
    duty.started();
  } catch (error) {
    await stop();
    throw error;
  }
  logStart(parts, plan, isSafe);
  return Object.assign(port, withShadow(port, shadow), {
    swap(next: Plan) {
      const reload = swapPlan(parts, next, isSafe);
      if (!isSafe) shadow.follow(next);
      return reload;
    },
    runInShadow: (next: Plan) => shadow.reload(next, connections.takeOver(next.connections)),
    note: (deed: Deed) => keeping.note(deed),
    report: (fault: FlowFault) => reportFault(parts, fault),
    stop,
  });
}

/** Waits until each gateway has started. Errors: `cannot-start`, with a line for each that has not. */
async function expectGateways(gateways: readonly Supervisor[]): Promise<void> {
  const statuses = await Promise.all(gateways.map(firstStatus));
  const failed = statuses.filter(({ state }) => state === 'failed');
  if (failed.length === 0) return;
  throw new HubError('cannot-start', failed.map(({ id, reason }) => `connection "${id}": ${reason}`).join('\n'));
}

/** The first status of a connection after it was started. */
function firstStatus({ status$ }: Supervisor): Promise<SupervisedStatus> {
  return firstValueFrom(status$.pipe(filter(({ reason }) => reason !== 'starting')));
}

function logStart({ log, graph, rules }: Parts, plan: Plan, isSafe: boolean): void {
  const ruleCount = rules.enabledCount;
  log.info(
    { connections: plan.connections.length, rules: ruleCount, parameters: graph.size },
    `patchbay ${version} runs ${plan.connections.length} connections, ${ruleCount} rules, ${graph.size} parameters`,
  );
  const { length: planned } = plan.rules.filter(({ isEnabled, isShadow }) => isEnabled && !isShadow);
  if (isSafe) log.warn({ rules: planned }, `safe: none of the ${planned} rules runs`);
}

function reportFault({ log, rules, states }: Parts, { flow, message }: FlowFault): void {
  for (const { name, file } of rules.statuses()) if (file === flow) states.failed({ name, file }, message);
  logFault(log, { flow, message });
}
