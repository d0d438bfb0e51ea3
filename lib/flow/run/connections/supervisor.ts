// Keeps one connection running: starts it, carries what it sets into the graph, shows its state, and starts it again
// with backoff when it crashes. Its neighbours never notice.

import {
  BehaviorSubject,
  concat,
  defer,
  from,
  type Observable,
  type SchedulerLike,
  Subscription,
  throwError,
  timer,
} from 'rxjs';
import { retry, switchMap, tap } from 'rxjs/operators';
import type { ConnectionEvent, Log } from '../../../connections/connection.ts';
import type { HubPort } from '../../../connections/hub-port.ts';
import { createCausalScheduler } from '../../../graph/causal-scheduler.ts';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { formatAddress } from '../../../model/address.ts';
import type { ConnectionState, ConnectionStatus } from '../../../model/connection-status.ts';
import { HubError, messageOf } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';
import { type ConnectionPlan, statusParameterId } from '../../plan.ts';

const firstBackoffMs = 1000;
const longestBackoffMs = 30_000;
/** A connection that ran this long starts its backoff anew. */
const provenMs = 60_000;
/** How many writes to one parameter wait for a connection that is yet to start; the newest stay. */
const maxHeldWrites = 1024;
const heldTooMany = `more than ${maxHeldWrites.toLocaleString('en')} writes wait for the connection to start, the oldest was dropped`;

export interface SupervisorOptions {
  readonly plan: ConnectionPlan;
  readonly owner: Origin;
  readonly graph: Graph;
  readonly hub: HubPort;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  readonly resolvePath: (path: string) => string;
}

/** How a connection is doing, as far as its supervisor knows. */
export type SupervisedStatus = Omit<ConnectionStatus, 'enabled' | 'parameters' | 'file'>;

/** One connection under supervision. */
export interface Supervisor {
  /** Replays the present status, completes when stopped, never errors. */
  readonly status$: Observable<SupervisedStatus>;
  readonly status: SupervisedStatus;
  /** Starts the connection, or when `ready` resolves; what is written to it until then waits. */
  start(ready?: Promise<unknown>): void;
  /** Places its work that waits for consistent values anew among that of others. */
  settleAt(order: number): void;
  /** Whether it has begun something that it has not finished yet. */
  readonly isBusy: boolean;
  /** Stops the connection; resolves when it has finished what it had begun. With a reason it is shown as disabled. */
  stop(reason?: string): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { plan, graph, owner, scheduler, log } = options;
  const status$ = new BehaviorSubject<SupervisedStatus>({
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
  let settleOrder = plan.settleOrder;
  const held = new Map<string, Value[]>();

  const enter = (state: ConnectionState, reason: string) => {
    const last = status$.value;
    if (last.state === state && last.reason === reason) return;
    status$.next({ ...last, state, reason, since: Date.now() });
    const message = `connection "${plan.id}" is ${state}${reason && `: ${reason}`}`;
    if (state === 'failed') log.error({}, message);
    else if (state === 'degraded') log.warn({}, message);
    else log.info({}, message);
    showConnected(state === 'running');
  };

  const nodes = new Map<string, ParameterNode>();
  const nodeOf = (parameterId: string) => {
    const node = nodes.get(parameterId) ?? graph.find(formatAddress(plan.id, parameterId));
    if (node !== undefined) nodes.set(parameterId, node);
    return node;
  };
  const showConnected = (isConnected: boolean) => {
    const node = nodeOf(statusParameterId);
    if (node !== undefined) graph.writeTo(node, isConnected, owner);
  };
  const handle = (event: ConnectionEvent) => {
    if ('state' in event) return enter(event.state, event.state === 'degraded' ? event.reason : '');
    try {
      const node = nodeOf(event.set);
      if (node === undefined) throw new Error('the connection has no such parameter');
      graph.writeTo(node, event.value, owner, 'because' in event ? event.because : graph.cause);
    } catch (error) {
      log.warn({ parameter: event.set }, `a value was not set: ${messageOf(error)}`, `not set ${event.set}`);
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
      settings: plan.settings,
      scheduler: createCausalScheduler(graph, scheduler),
      log,
      resolvePath: options.resolvePath,
      inbox: (parameterId: string) => {
        const inbox = graph.inbox(formatAddress(plan.id, parameterId));
        const values = held.get(parameterId);
        held.delete(parameterId);
        return values === undefined ? inbox : concat(values, inbox);
      },
      inputTypes: plan.inputTypes,
      input: (name: string) => graph.find(plan.inputs[name]!)!,
      lastChange: (name: string) => graph.find(plan.inputs[name]!)?.lastChange,
      atSettle: (work: () => void) => {
        const task = {
          get order() {
            return settleOrder;
          },
          settle: work,
        };
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
    start(ready) {
      if (!plan.enabled) return showConnected(false);
      const observer = { next: handle, error: (error: unknown) => enter('failed', messageOf(error)) };
      const running$ = run$.pipe(endIsCrash(), retry({ delay: backoff }));
      if (ready === undefined) {
        subscription = running$.subscribe(observer);
        return;
      }
      const holding = holdWrites(plan, graph, log, held);
      subscription = new Subscription(() => holding.unsubscribe());
      subscription.add(
        from(ready)
          .pipe(
            tap(() => holding.unsubscribe()),
            switchMap(() => running$),
          )
          .subscribe(observer),
      );
    },
    settleAt(order) {
      settleOrder = order;
    },
    get isBusy() {
      return unfinished.size > 0;
    },
    async stop(reason) {
      subscription.unsubscribe();
      if (reason !== undefined) enter('disabled', reason);
      status$.complete();
      await Promise.all(unfinished);
    },
  };
}

/** Keeps what is written to the parameters of a connection, by Parameter ID. */
function holdWrites(
  { id, parameters }: ConnectionPlan,
  graph: Graph,
  log: Log,
  held: Map<string, Value[]>,
): Subscription {
  const holding = new Subscription();
  for (const parameter of parameters.filter(({ access }) => access !== 'read-only'))
    holding.add(
      graph.inbox(formatAddress(id, parameter.id)).subscribe({
        next: (value) => {
          const values = held.get(parameter.id) ?? [];
          if (values.length === maxHeldWrites) log.warn({ parameter: parameter.id }, `${parameter.id}: ${heldTooMany}`);
          held.set(parameter.id, [...values.slice(1 - maxHeldWrites), value]);
        },
        error: () => {},
      }),
    );
  return holding;
}

/** A connection runs until it is stopped; one that completes has crashed. */
function endIsCrash<T>(): (source: Observable<T>) => Observable<T> {
  return (source) =>
    concat(
      source,
      throwError(() => new Error('the connection ended by itself')),
    );
}
