// A twin is a second hub in the same process. It receives the events from outside, derives everything else itself, and has no external
// effects: it has a separate graph and no gateways.
import { concatWith, filter, ignoreElements, merge, NEVER, of, type SchedulerLike } from 'rxjs';
import type { ConnectionEvent, ConnectionType } from '../../connections/connection.ts';
import type { KeptMemory } from '../../connections/persistence.ts';
import type { ConnectionPlan, Plan } from '../../flow/plan.ts';
import type { RunningRules } from '../../flow/run/rules/running-rules.ts';
import type { Graph } from '../../graph/graph.ts';
import { type ParameterNode, RestoredChange, type StateNode } from '../../graph/parameter-node.ts';
import { formatAddress } from '../../model/address.ts';
import { HubError, messageOf } from '../../model/error.ts';
import type { Change, Origin } from '../../model/parameter.ts';
import type { DeviceEvent } from '../../model/reports/audit-entry.ts';
import type { Value } from '../../model/value.ts';
import { Engine } from '../engine.ts';
import { type HubLog, Journal } from '../journal.ts';

interface TwinOptions {
  readonly log: HubLog;
  readonly scheduler: SchedulerLike;
  readonly now: () => number;
  /** Connections whose pulses and similar events are received from outside, so the twin generates none. */
  readonly withoutTicks: ReadonlySet<string>;
  /** The work in progress of connections, which they continue. */
  readonly memories?: readonly KeptMemory[];
  /** Receives the graph with all parameters before anything runs. Its writes do not start rules. */
  readonly prepare: (graph: Graph) => void;
}

/** A write from outside. */
interface OutsideWrite {
  readonly address: string;
  readonly value: Value;
  readonly origin: Origin;
  readonly cause?: Change | undefined;
}

export interface Twin {
  readonly graph: Graph;
  readonly rules: Pick<RunningRules, 'statuses' | 'runsOf'>;
  readonly memoriesOf: (connections: ReadonlySet<string>) => readonly KeptMemory[];
  /** Applies writes from outside as one turn. Skips writes to parameters that it does not have. */
  receive(writes: readonly OutsideWrite[]): void;
  /** Repeats events of devices other than values. */
  follow(events: readonly DeviceEvent[]): void;
  stop(): Promise<void>;
}

/** Runs a plan without gateways, immediately. */
export function runTwin(plan: Plan, options: TwinOptions): Twin {
  const { scheduler, now, withoutTicks, memories = [], prepare } = options;
  const log = Journal.ungated(options.log);
  const engine = new Engine({ log, scheduler, now });
  const { graph, rules } = engine;
  const ticking = (one: ConnectionPlan) => (withoutTicks.has(one.id) ? onlyCaused(one, graph) : one);
  const twinPlan = { ...plan, connections: plan.connections.map(ticking) };
  engine.declare(twinPlan);
  engine.persistence.recall(memories);
  prepare(graph);
  engine.apply(twinPlan);
  return {
    graph,
    rules,
    memoriesOf: (connections) => engine.persistence.memoriesOf(connections),
    receive: (writes) =>
      graph.turn(() => {
        for (const write of writes) receive(graph, write, log);
      }),
    follow: (events) => {
      for (const event of events) follow(graph, event);
    },
    stop: () => engine.stop(),
  };
}

function follow(graph: Graph, [what, name]: DeviceEvent): void {
  if (what === 'stale' || what === 'fresh') {
    const device = { staleSince: what === 'stale' ? graph.now() : undefined, absences: [] };
    for (const node of graph.parameters()) if (node.owner.name === name) node.device = device;
    return;
  }
  const node = graph.find(name);
  if (node === undefined || node.type === 'T') return;
  const state = node as StateNode;
  if (what === 'unset') graph.turn(() => graph.forget(state));
  else graph.settle(state, new HubError('not-confirmed', `${name}: the device refused the write`));
}

function receive(graph: Graph, { address, value, origin, cause }: OutsideWrite, log: Journal): void {
  const node = graph.find(address);
  if (node === undefined) return;
  try {
    graph.writeTo(node, value, writerOf(node, origin), cause);
  } catch (error) {
    log.warn({ parameter: address }, `${address} rejected an external write: ${messageOf(error)}`);
  }
}

/** Returns the writer in the twin: its own connection in place of the live one. */
function writerOf(node: ParameterNode, origin: Origin): Origin {
  const { owner, access } = node;
  const isOwn = origin.kind === owner.kind && origin.name === owner.name;
  return isOwn || access === 'read-only' ? owner : origin;
}

/** Returns the connection without events that have no cause, except for the first values of parameters without a value. */
function onlyCaused(connection: ConnectionPlan, graph: Graph): ConnectionPlan {
  const type = connection.type as ConnectionType;
  const isCaused = (event: ConnectionEvent) => {
    if (!('set' in event)) return true;
    const cause = event.because ?? graph.cause;
    if (cause !== undefined && !(cause instanceof RestoredChange)) return true;
    const node = graph.find(formatAddress(connection.id, event.set));
    return node !== undefined && node.type !== 'T' && node.value === undefined;
  };
  return { ...connection, type: { ...type, run: (context) => type.run(context).pipe(filter(isCaused)) } };
}

// Plans without effects outside the process: connections with such effects are replaced with stand-ins that do nothing.

/** Returns the connection, or a stand-in for an external one. */
export function simulated(connection: ConnectionPlan): ConnectionPlan {
  return connection.type.isExternal ? standInFor(connection) : connection;
}

/** Returns a plan that only declares the parameters of a connection. */
function standInFor(connection: ConnectionPlan): ConnectionPlan {
  const run = () => of<ConnectionEvent>({ state: 'running' }).pipe(concatWith(NEVER));
  return { ...connection, type: { ...connection.type, isGateway: false, run } };
}

/** Returns the connection, or a stand-in for an external one, as `followingOf`. */
export function repeated(connection: ConnectionPlan): ConnectionPlan {
  return connection.type.isExternal ? followingOf(connection) : connection;
}

/** Returns a stand-in that repeats the events of another hub: a write that a device has to confirm is pending until that hub reports it. */
export function followingOf(connection: ConnectionPlan): ConnectionPlan {
  const pending = connection.parameters.filter(({ isConfirmed }) => isConfirmed).map(({ id }) => id);
  const run: ConnectionType['run'] = ({ inbox }) =>
    merge(of<ConnectionEvent>({ state: 'running' }), ...pending.map((id) => inbox(id).pipe(ignoreElements())), NEVER);
  return { ...connection, type: { ...connection.type, isGateway: false, run } };
}
