// Starts a hub from flow files, and keeps it as they say.

import type { SchedulerLike } from 'rxjs';
import type { AnyConnectionType } from '../connections/connection.ts';
import { connectionTypes } from '../connections/connection-types.ts';
import type { HubPort } from '../connections/hub-port.ts';
import { watchFlowFiles } from '../flow/files/watch.ts';
import { FlowLoader } from '../flow/load.ts';
import type { Plan } from '../flow/plan.ts';
import type { FlowFault } from '../flow/programs/flow-code.ts';
import type { Origin } from '../model/parameter.ts';
import { type FlowGuard, logFault, logLeftOut } from './flow-guard.ts';
import { type HubLog, Journal } from './journal.ts';
import { type Reload, Reloader } from './reload.ts';
import { startPlan } from './start-plan.ts';

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
  /** Is awaited while stores read from the disk what they have kept. */
  readonly warmUp?: () => Promise<void>;
}

export interface Hub extends HubPort {
  /**
   * Reads the flow files again and swaps what has changed; everything else runs on undisturbed. Errors: `bad-flow` with every
   * mistake, `cannot-start` when a gateway cannot start; they are logged, and all that ran before runs on.
   */
  reload(by?: Origin): Promise<Reload>;
  /** Stops everything; resolves when files are written and sockets are closed, after two seconds at most. */
  stop(): Promise<void>;
}

/** Reads and checks flow files. Errors: `bad-flow`, one line per mistake, all of them. */
export function loadFlows(paths: readonly string[], types = connectionTypes): Promise<Plan> {
  const loader = new FlowLoader(paths, types);
  return loader.load().finally(() => loader.close());
}

/** Starts a hub. Errors: `bad-flow` with every mistake; `cannot-start` when a gateway cannot; then nothing runs. */
export async function startHub(options: HubOptions): Promise<Hub> {
  const { paths, types = connectionTypes, guard } = options;
  const log = Journal.of(options.log);
  const watcher = options.watch ? await watchFlowFiles(paths, log) : undefined;
  let report = (fault: FlowFault) => logFault(log, fault);
  const loader = new FlowLoader(paths, types, {
    keepsReady: options.watch ?? false,
    protect: (flows) => guard?.protect(flows, (fault) => report(fault)),
    ...(guard && { tellLeftOut: (flow, reason) => logLeftOut(log, flow, reason) }),
  });
  try {
    const plan = await loader.load();
    for (const warning of plan.warnings ?? []) log.warn({}, warning);
    const hub = await startPlan(plan, { ...options, log, files: () => loader.report });
    report = hub.report;
    watcher?.alsoWatch(loader.furtherFiles);
    const stopRunning = hub.stop;
    const { swap, runInShadow, note } = hub;
    const reloader = new Reloader({ loader, swap, runInShadow, note, log, watcher });
    return Object.assign(hub, {
      reload: (by?: Origin) => reloader.reload(by),
      reloadInShadow: (by?: Origin) => reloader.reloadInShadow(by),
      stop: async () => void (await Promise.all([reloader.stop(), stopRunning()])),
    });
  } catch (error) {
    loader.close();
    await watcher?.close();
    throw error;
  }
}
