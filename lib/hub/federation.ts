// The part of the graph for gateways that join hubs: mirrors parameters of other hubs, and writes on behalf of those hubs.

import { Subject } from 'rxjs';
import type { LostFires, MirroredDeclaration, MirroringPort } from '../connections/mirroring.ts';
import type { Graph } from '../graph/graph.ts';
import type { ParameterNode } from '../graph/parameter-node.ts';
import type { Change, DeviceState, MirroredChange, Origin, Parameter, Remote } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';

export class Federation implements MirroringPort {
  readonly #graph: Graph;
  readonly isLocal: MirroringPort['isLocal'];
  readonly hasConnection: MirroringPort['hasConnection'];
  readonly stale$ = new Subject<Iterable<Parameter>>();
  readonly lost$ = new Subject<LostFires>();
  readonly returned$ = new Subject<void>();
  domain: MirroringPort['domain'] = undefined;
  /** The parameters that have become stale or fresh since the last call of `notify`. */
  #entrusted: Parameter[] = [];
  #hasReturned = false;

  constructor(graph: Graph, { isLocal, hasConnection }: Pick<MirroringPort, 'isLocal' | 'hasConnection'>) {
    this.#graph = graph;
    graph.marked$.subscribe({ next: (parameters) => this.stale$.next(parameters), error: () => {} }); // the stream never fails
    this.isLocal = isLocal;
    this.hasConnection = hasConnection;
  }

  get turnNumber(): number {
    return this.#graph.turnNumber;
  }

  declares(parameter: Parameter): boolean {
    return (parameter as ParameterNode).owner.hub === undefined;
  }

  declare(remote: Remote, owner: Origin, declaration: MirroredDeclaration): Parameter | undefined {
    return this.#graph.declareMirrored(remote, owner, declaration);
  }

  withdraw(parameters: Iterable<Parameter>): void {
    this.#graph.remove(parameters as Iterable<ParameterNode>);
  }

  notify(): void {
    this.#graph.notifyMirrored();
    if (this.#hasReturned) {
      this.#hasReturned = false;
      this.returned$.next(); // listeners may hand some of the parameters to another hub again
    }
    if (this.#entrusted.length === 0) return;
    const entrusted = this.#entrusted;
    this.#entrusted = [];
    this.stale$.next(entrusted);
  }

  reportStale(parameters: Iterable<Parameter>): void {
    this.stale$.next(parameters);
  }

  setDevice(parameter: Parameter, device: DeviceState | undefined): void {
    (parameter as ParameterNode).device = device;
  }

  reportLost(fires: LostFires): void {
    this.lost$.next(fires);
  }

  mirror(parameter: Parameter, reported: MirroredChange): Change {
    return this.#graph.mirror(parameter as ParameterNode, reported);
  }

  entrust(parameter: Parameter, remote: Remote | undefined): void {
    const node = parameter as ParameterNode;
    if ((node.remote?.staleSince === undefined) !== (remote?.staleSince === undefined)) this.#entrusted.push(parameter);
    if (node.remote !== undefined && remote === undefined) this.#hasReturned = true;
    node.remote = remote;
  }

  writeFor(parameter: Parameter, input: unknown, origin: Origin, cause: Change | undefined, hop: number): Value {
    return this.#graph.writeFor(parameter as ParameterNode, input, origin, cause, hop);
  }
}
