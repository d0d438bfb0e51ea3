// A twin is a hub beside another one in the same process. It hears what came from outside, does by itself what follows from it, and
// reaches nothing outside: it has a graph of its own, and no gateways.
import { concatWith, filter, NEVER, of, type SchedulerLike } from 'rxjs';
import type { AnyConnectionType, ConnectionEvent, ConnectionType } from '../../connections/connection.ts';
import type { ConnectionPlan, Plan } from '../../flow/plan.ts';
import type { RunningRules } from '../../flow/run/rules/running-rules.ts';
import type { Graph } from '../../graph/graph.ts';
import { type ParameterNode, RestoredChange } from '../../graph/parameter-node.ts';
import { formatAddress } from '../../model/address.ts';
import { messageOf } from '../../model/error.ts';
import type { Change, Origin } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import { Engine } from '../engine.ts';
import { type HubLog, Journal } from '../journal.ts';

interface TwinOptions {
  readonly log: HubLog;
  readonly scheduler: SchedulerLike;
  readonly now: () => number;
  /** Connections whose pulses and the like come from outside, so that they make none of their own. */
  readonly withoutTicks: ReadonlySet<string>;
  /** Is given the graph with all parameters, before anything runs: what it sets there fires nothing. */
  readonly prepare: (graph: Graph) => void;
}

/** A write that came from outside. */
interface OutsideWrite {
  readonly address: string;
  readonly value: Value;
  readonly origin: Origin;
  readonly cause?: Change | undefined;
}

export interface Twin {
  readonly graph: Graph;
  readonly rules: Pick<RunningRules, 'statuses' | 'runsOf'>;
  /** Makes one turn of writes from outside; those to parameters that it does not have are left out. */
  hear(writes: readonly OutsideWrite[]): void;
  stop(): Promise<void>;
}

/** Runs a plan that has no gateways, at once. */
export function runTwin(plan: Plan, options: TwinOptions): Twin {
  const { scheduler, now, withoutTicks, prepare } = options;
  const log = Journal.ungated(options.log);
  const engine = new Engine({ log, scheduler, now });
  const { graph, rules } = engine;
  const ticking = (one: ConnectionPlan) => (withoutTicks.has(one.id) ? causedAlone(one, graph) : one);
  const twinPlan = { ...plan, connections: plan.connections.map(ticking) };
  engine.declare(twinPlan);
  prepare(graph);
  engine.apply(twinPlan);
  return {
    graph,
    rules,
    hear: (writes) =>
      graph.turn(() => {
        for (const write of writes) hear(graph, write, log);
      }),
    stop: () => engine.stop(),
  };
}

function hear(graph: Graph, { address, value, origin, cause }: OutsideWrite, log: Journal): void {
  const node = graph.find(address);
  if (node === undefined) return;
  try {
    graph.writeTo(node, value, writerOf(node, origin), cause);
  } catch (error) {
    log.warn({ parameter: address }, `${address} did not take what came from outside: ${messageOf(error)}`);
  }
}

/** What its own connection wrote, that of the twin writes. */
function writerOf(node: ParameterNode, origin: Origin): Origin {
  const { owner, access } = node;
  const isOwn = origin.kind === owner.kind && origin.name === owner.name;
  return isOwn || access === 'read-only' ? owner : origin;
}

/** The connection without what it does unasked, but for the first values of parameters that have none. */
function causedAlone(connection: ConnectionPlan, graph: Graph): ConnectionPlan {
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

// A hub that reaches nothing outside of the process: for connections that would, others stand in which do nothing.

/** The plan of a connection, or of one in its place that only declares the parameters. */
export function simulated(connection: ConnectionPlan): ConnectionPlan {
  return connection.type.isExternal ? standInFor(connection) : connection;
}

/** The plan of a connection that only declares the parameters of another. */
export function standInFor(connection: ConnectionPlan): ConnectionPlan {
  return { ...connection, type: standIn(connection.type) };
}

function standIn(type: AnyConnectionType): AnyConnectionType {
  const run = () => of<ConnectionEvent>({ state: 'running' }).pipe(concatWith(NEVER));
  return { ...type, isGateway: false, run };
}
