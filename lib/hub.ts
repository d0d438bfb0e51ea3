// A hub: flow files in, a running graph out. Load, declare, start connections, start rules; all of it or nothing.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { asyncScheduler, filter, firstValueFrom, type SchedulerLike, Subscription } from 'rxjs';
import type { AnyConnectionType, ConnectionStatus, HubPort, Log } from './connections/connection.ts';
import { connectionTypes } from './connections/registry.ts';
import { checkFlowFiles } from './flow/check.ts';
import { createLogGate } from './flow/log-gate.ts';
import { formatMistake, MistakeList } from './flow/mistake.ts';
import type { Plan } from './flow/plan.ts';
import { readFlowFiles } from './flow/read.ts';
import { type ReportFault, runRule } from './flow/rule.ts';
import { createSupervisor, type Supervisor } from './flow/supervisor.ts';
import { type DroppedWrite, Graph, maxHops } from './graph/graph.ts';
import { HubError } from './model/error.ts';
import type { Origin } from './model/parameter.ts';

export interface HubOptions {
  /** Flow files, and folders of them. */
  readonly paths: readonly string[];
  readonly log: HubLog;
  /** The only clock of connections; `now()` is monotonic milliseconds. */
  readonly scheduler?: SchedulerLike;
  readonly types?: ReadonlyMap<string, AnyConnectionType>;
}

/** How a plan is run. */
export interface StartOptions extends Pick<HubOptions, 'log' | 'scheduler'> {
  /** Tells the time of changes in milliseconds since 1970. */
  readonly now?: () => number;
  /** Is given the graph with all parameters, before anything runs: what it sets there fires nothing. */
  readonly prepare?: (graph: Graph) => void;
}

/** A log that makes logs with fixed data for its parts, as pino does. */
export interface HubLog extends Log {
  child(data: object): Log;
}

export interface Hub extends HubPort {
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
export async function loadFlows(paths: readonly string[], types = connectionTypes): Promise<Plan> {
  const mistakes = new MistakeList();
  const plan = checkFlowFiles(await readFlowFiles(paths, mistakes), types, mistakes);
  if (mistakes.items.length > 0) throw new HubError('bad-flow', mistakes.items.map(formatMistake).join('\n'));
  return plan;
}

/** Starts a hub. Errors: `bad-flow` with every mistake; `cannot-start` when a gateway cannot; then nothing runs. */
export async function startHub(options: HubOptions): Promise<Hub> {
  return startPlan(await loadFlows(options.paths, options.types), options);
}

/** Starts a hub from what was loaded. Errors: `cannot-start` when a gateway cannot; then nothing runs. */
export async function startPlan(plan: Plan, options: StartOptions): Promise<Hub> {
  const { log, scheduler = monotonicScheduler } = options;
  const graph = new Graph(options.now);
  const owners = new Map(plan.connections.map(({ id }): [string, Origin] => [id, { kind: 'connection', name: id }]));
  for (const { id, parameters } of plan.connections) graph.declare(owners.get(id)!, parameters);
  options.prepare?.(graph);

  const supervisors: Supervisor[] = [];
  const hub = createPort(graph, () => supervisors.map(({ status }) => status));
  for (const connection of plan.connections)
    supervisors.push(
      createSupervisor({
        plan: connection,
        owner: owners.get(connection.id)!,
        graph,
        hub,
        scheduler,
        log: log.child({ connection: connection.id }),
        resolvePath: (path) => resolve(connection.folder, path),
      }),
    );

  const subscriptions = new Subscription();
  const stop = async () => {
    subscriptions.unsubscribe();
    await Promise.race([Promise.all(supervisors.map((supervisor) => supervisor.stop())), deadline(stopDeadlineMs)]);
  };
  const gate = createLogGate(() => scheduler.now());
  subscriptions.add(graph.dropped$.subscribe({ next: (drop) => logLoop(log, gate, drop) }));
  for (const supervisor of supervisors) supervisor.start();
  const reportFault: ReportFault = ({ name, file }, message) =>
    gate(`${name} ${message}`, (count) =>
      log.warn({ rule: name, file, count }, `rule "${name}" (${file}) failed: ${message}`),
    );
  for (const rule of plan.rules) subscriptions.add(runRule(rule, { graph, scheduler, reportFault }));
  const gateways = supervisors.filter((_, index) => plan.connections[index]!.type.isGateway);
  const failed = (await Promise.all(gateways.map(firstState))).filter(({ state }) => state === 'failed');
  if (failed.length > 0) {
    await stop();
    throw new HubError('cannot-start', failed.map(({ id, reason }) => `connection "${id}": ${reason}`).join('\n'));
  }
  log.info(
    { connections: plan.connections.length, rules: plan.rules.length, parameters: graph.size },
    `patchbay ${version} runs ${plan.connections.length} connections, ${plan.rules.length} rules, ${graph.size} parameters`,
  );
  return Object.assign(hub, { stop });
}

function createPort(graph: Graph, connections: () => readonly ConnectionStatus[]): HubPort {
  return {
    version,
    epoch: randomUUID(),
    startedAt: Date.now(),
    changes$: graph.changes$,
    get revision() {
      return graph.revision;
    },
    find: (address) => graph.find(address),
    parameters: () => graph.parameters(),
    changedSince: (revision) => graph.changedSince(revision),
    write: (address, input, origin) => graph.write(address, input, origin),
    connections,
  };
}

/** The first state of a connection after it was started. */
function firstState({ status$ }: Supervisor): Promise<ConnectionStatus> {
  return firstValueFrom(status$.pipe(filter(({ reason }) => reason !== 'starting')));
}

function logLoop(log: Log, gate: ReturnType<typeof createLogGate>, { parameter, chain }: DroppedWrite): void {
  const rules = [...new Set(chain.filter(({ origin }) => origin.kind === 'rule').map(({ origin }) => origin.name))];
  const names = rules.map((name) => `"${name}"`).join(', ');
  gate(names, (count) =>
    log.warn(
      { rules, parameter: parameter.address, count },
      `rule loop: ${names} wrote past ${maxHops} hops in one turn, the write to ${parameter.address} was dropped`,
    ),
  );
}

function deadline(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs).unref());
}
