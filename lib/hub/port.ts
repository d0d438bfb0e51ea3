// The hub as gateways see it: its graph, and what runs on it.

import { randomUUID } from 'node:crypto';
import { Subject } from 'rxjs';
import type { HubPort } from '../connections/hub-port.ts';
import type { LostFires, MirroringPort } from '../connections/mirroring.ts';
import type { Graph } from '../graph/graph.ts';
import type { ParameterNode } from '../graph/parameter-node.ts';
import { HubError } from '../model/error.ts';
import type { Parameter } from '../model/parameter.ts';
import { version } from './version.ts';

/** What the port tells of what runs, and does with it. */
export type Operation = Pick<
  HubPort,
  | 'connections'
  | 'control'
  | 'rules'
  | 'ruleTotals'
  | 'switchRule'
  | 'runsOf'
  | 'files'
  | 'log'
  | 'earlierLog'
  | 'logStatus'
  | 'keeping'
  | 'record'
  | 'duty'
> & { readonly isLocal: MirroringPort['isLocal'] };

export function createPort(graph: Graph, { isLocal, ...operation }: Operation): HubPort {
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
    get structure() {
      return graph.structure;
    },
    get size() {
      return graph.size;
    },
    turnDurations: graph.turnDurations,
    find: (address) => graph.find(address),
    parameters: () => graph.parameters(),
    changedSince: (revision) => graph.changedSince(revision),
    write: (address, input, origin) => graph.write(address, input, origin),
    writeTo: (parameter, input, origin) => graph.writeTo(parameter as ParameterNode, input, origin),
    writeRemote: (remote, writes, origin) => graph.writeRemote(remote, writes, origin),
    turn: (work) => graph.turn(work),
    mirroring: createMirroring(graph, isLocal),
    reload: hasNoFiles,
    reloadInShadow: hasNoFiles,
    shadow: () => undefined,
    wouldBe: () => undefined,
    ...operation,
  };
}

function createMirroring(graph: Graph, isLocal: MirroringPort['isLocal']): MirroringPort {
  const stale$ = new Subject<Iterable<Parameter>>();
  const lost$ = new Subject<LostFires>();
  const returned$ = new Subject<void>();
  /** Those that have become stale or fresh since `tell`. */
  let entrusted: Parameter[] = [];
  let hasReturned = false;
  return {
    get turnNumber() {
      return graph.turnNumber;
    },
    isLocal,
    declares: (parameter) => (parameter as ParameterNode).owner.hub === undefined,
    domain: undefined,
    declare: (remote, owner, declaration) => graph.declareMirrored(remote, owner, declaration),
    withdraw: (parameters) => graph.remove(parameters as Iterable<ParameterNode>),
    tell() {
      graph.tellMirrored();
      if (hasReturned) {
        hasReturned = false;
        returned$.next(); // some may be entrusted anew
      }
      if (entrusted.length === 0) return;
      const told = entrusted;
      entrusted = [];
      stale$.next(told);
    },
    returned$,
    tellStale: (parameters) => stale$.next(parameters),
    stale$,
    tellLost: (fires) => lost$.next(fires),
    lost$,
    mirror: (parameter, told) => graph.mirror(parameter as ParameterNode, told),
    entrust(parameter, remote) {
      const node = parameter as ParameterNode;
      if ((node.remote?.staleSince === undefined) !== (remote?.staleSince === undefined)) entrusted.push(parameter);
      if (node.remote !== undefined && remote === undefined) hasReturned = true;
      node.remote = remote;
    },
    writeFor: (parameter, input, origin, cause, hop) =>
      graph.writeFor(parameter as ParameterNode, input, origin, cause, hop),
  };
}

function hasNoFiles(): Promise<never> {
  return Promise.reject(new HubError('conflict', 'reload: expected a hub that was started from flow files'));
}
