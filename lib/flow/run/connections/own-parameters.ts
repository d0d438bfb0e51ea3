// The parameters of one connection, as the connection finds and sets them while it runs.

import { defer, type Observable } from 'rxjs';
import { finalize } from 'rxjs/operators';
import type { Log } from '../../../connections/connection.ts';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode, StateNode } from '../../../graph/parameter-node.ts';
import { formatAddress } from '../../../model/address.ts';
import { messageOf } from '../../../model/error.ts';
import type { Change, Origin, Parameter, ParameterDeclaration } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';

export class OwnParameters {
  readonly #graph: Graph;
  readonly #owner: Origin;
  readonly #log: Log;
  /** Those that were found, by Parameter ID. */
  readonly #found = new Map<string, ParameterNode>();

  constructor(graph: Graph, owner: Origin, log: Log) {
    this.#graph = graph;
    this.#owner = owner;
    this.#log = log;
  }

  find(parameterId: string): ParameterNode | undefined {
    const known = this.#found.get(parameterId);
    if (known !== undefined) return known;
    const node = this.#graph.find(formatAddress(this.#owner.name, parameterId));
    if (node !== undefined) this.#found.set(parameterId, node);
    return node;
  }

  /** The inbox of a parameter, which takes what `accept` returns while the inbox is subscribed to; undefined: as declared. */
  accepting(parameterId: string, accept: ParameterDeclaration['accept'], inbox: Observable<Value>): Observable<Value> {
    const node = this.find(parameterId);
    if (accept === undefined || node === undefined || node.type === 'T') return inbox;
    const state = node as StateNode;
    return defer(() => {
      const declared = state.accept;
      state.accept = accept;
      return inbox.pipe(
        finalize(() => {
          state.accept = declared;
        }),
      );
    });
  }

  /** Sets a parameter, which may have been found before, caused by a change. A value that cannot be set is logged. */
  set(parameterId: string, own: Parameter | undefined, value: unknown, cause: Change | undefined): void {
    try {
      const node = (own as ParameterNode | undefined) ?? this.find(parameterId);
      if (node === undefined) throw new Error('the connection has no such parameter');
      this.#graph.writeTo(node, value, this.#owner, cause);
    } catch (error) {
      this.#log.warn({ parameter: parameterId }, `a value was not set: ${messageOf(error)}`, `not set ${parameterId}`);
    }
  }

  /** Sets a parameter where the connection has it, and no other hub runs it in place of this one. */
  setIfThere(parameterId: string, value: unknown): void {
    const node = this.find(parameterId);
    if (node !== undefined && node.remote === undefined) this.#graph.writeTo(node, value, this.#owner);
  }
}
