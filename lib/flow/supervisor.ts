// Keeps one connection running: starts it, carries what it sets into the graph, shows its state, and starts it again
// with backoff when it crashes. Its neighbours never notice.

import {
  BehaviorSubject,
  concat,
  defer,
  type Observable,
  type SchedulerLike,
  Subscription,
  throwError,
  timer,
} from 'rxjs';
import { retry } from 'rxjs/operators';
import type { ConnectionEvent, ConnectionState, ConnectionStatus, HubPort, Log } from '../connections/connection.ts';
import type { Graph } from '../graph/graph.ts';
import { formatAddress } from '../model/address.ts';
import { HubError, messageOf } from '../model/error.ts';
import type { Origin } from '../model/parameter.ts';
import { statusParameterId } from './check.ts';
import type { ConnectionPlan } from './plan.ts';

const firstBackoffMs = 1000;
const longestBackoffMs = 30_000;
/** A connection that ran this long starts its backoff anew. */
const provenMs = 60_000;

export interface SupervisorOptions {
  readonly plan: ConnectionPlan;
  readonly owner: Origin;
  readonly graph: Graph;
  readonly hub: HubPort;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  readonly resolvePath: (path: string) => string;
}

/** One connection under supervision. */
export interface Supervisor {
  /** Replays the present status, completes when stopped, never errors. */
  readonly status$: Observable<ConnectionStatus>;
  readonly status: ConnectionStatus;
  start(): void;
  /** Stops the connection; resolves when it has finished what it had begun. */
  stop(): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { plan, graph, owner, scheduler, log } = options;
  const status$ = new BehaviorSubject<ConnectionStatus>({
    id: plan.id,
    type: plan.type.type,
    description: plan.description,
    state: plan.enabled ? 'degraded' : 'disabled',
    reason: plan.enabled ? 'starting' : '',
    since: Date.now(),
  });
  const unfinished = new Set<Promise<unknown>>();
  let subscription = Subscription.EMPTY;
  let startedAt = 0;
  let attempts = 0;

  const enter = (state: ConnectionState, reason: string) => {
    const last = status$.value;
    if (last.state === state && last.reason === reason) return;
    status$.next({ ...last, state, reason, since: Date.now() });
    const message = `connection "${plan.id}" is ${state}${reason && `: ${reason}`}`;
    if (state === 'failed') log.error({}, message);
    else if (state === 'degraded') log.warn({}, message);
    else log.info({}, message);
    if (graph.find(formatAddress(plan.id, statusParameterId)))
      graph.write(formatAddress(plan.id, statusParameterId), state === 'running', owner);
  };

  const nodes = new Map(plan.parameters.map(({ id }) => [id, graph.find(formatAddress(plan.id, id))]));
  const handle = (event: ConnectionEvent) => {
    if ('state' in event) return enter(event.state, event.reason ?? '');
    try {
      const node = nodes.get(event.set);
      if (node === undefined) throw new Error('the connection has no such parameter');
      graph.writeTo(node, event.value, owner);
    } catch (error) {
      log.warn({ parameter: event.set }, `a value was not set: ${messageOf(error)}`);
    }
  };

  const backoff = (error: unknown) => {
    if (scheduler.now() - startedAt > provenMs) attempts = 0;
    enter(error instanceof HubError && error.code === 'cannot-start' ? 'failed' : 'degraded', messageOf(error));
    return timer(Math.min(firstBackoffMs * 2 ** attempts++, longestBackoffMs), scheduler);
  };

  const run$ = defer(() => {
    startedAt = scheduler.now();
    const context = {
      id: plan.id,
      config: plan.config,
      scheduler,
      log,
      resolvePath: options.resolvePath,
      inbox: (parameterId: string) => graph.inbox(formatAddress(plan.id, parameterId)),
      inputTypes: plan.inputTypes,
      input: (name: string) => graph.find(plan.inputs[name]!)!,
      atSettle: (work: () => void) => {
        const task = { order: plan.settleOrder, settle: work };
        return () => graph.atSettle(task);
      },
      finish: (work: Promise<unknown>) => {
        const settled = work.catch((error) => log.warn({}, `stopped unfinished: ${messageOf(error)}`));
        unfinished.add(settled);
        settled.finally(() => unfinished.delete(settled));
      },
    };
    return plan.type.isGateway ? plan.type.run(context, options.hub) : plan.type.run(context);
  });

  return {
    status$: status$.asObservable(),
    get status() {
      return status$.value;
    },
    start() {
      if (!plan.enabled) return;
      subscription = run$.pipe(endIsCrash(), retry({ delay: backoff })).subscribe({
        next: handle,
        error: (error) => enter('failed', messageOf(error)),
      });
    },
    async stop() {
      subscription.unsubscribe();
      status$.complete();
      await Promise.all(unfinished);
    },
  };
}

/** A connection runs until it is stopped; one that completes has crashed. */
function endIsCrash<T>(): (source: Observable<T>) => Observable<T> {
  return (source) =>
    concat(
      source,
      throwError(() => new Error('the connection ended by itself')),
    );
}
