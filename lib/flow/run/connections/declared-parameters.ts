// The parameters of all connections, as the graph has them. A parameter that a changed connection keeps, by its ID, value
// type and access, stays the same parameter: with its value, its rules and its clients.

import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { formatAddress } from '../../../model/address.ts';
import type { Origin, ParameterDeclaration } from '../../../model/parameter.ts';
import type { ConnectionPlan } from '../../plan.ts';

export class DeclaredParameters {
  readonly #graph: Graph;
  readonly #owners = new Map<string, Origin>();

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  /** The origin of a connection, the same for all its lives. */
  ownerOf(id: string): Origin {
    const owner = this.#owners.get(id) ?? { kind: 'connection', name: id };
    this.#owners.set(id, owner);
    return owner;
  }

  declare(plan: ConnectionPlan): void {
    this.#graph.declare(this.ownerOf(plan.id), plan.parameters);
  }

  /** The parameters of a connection that do not stay when it becomes another, or nothing. */
  leaving(before: ConnectionPlan, after: ConnectionPlan | undefined): ParameterNode[] {
    const declarations = before.type === after?.type ? after.parameters : [];
    const declared = new Map(
      declarations.map((declaration) => [formatAddress(before.id, declaration.id), declaration]),
    );
    const owner = this.ownerOf(before.id);
    return [...this.#graph.parameters()].filter((node) => {
      const declaration = declared.get(node.address);
      return node.owner === owner && (declaration === undefined || !stays(node, declaration));
    });
  }

  /** Takes out the parameters of a connection that do not stay. */
  removeLeaving(before: ConnectionPlan, after: ConnectionPlan | undefined): void {
    this.#graph.remove(this.leaving(before, after));
  }
}

/** A first default value needs a new parameter, since no rule may observe it. */
function stays(node: ParameterNode, { type, access, defaultValue }: ParameterDeclaration): boolean {
  const isSetByDefault = node.value === undefined && defaultValue !== undefined;
  return node.type === type && node.access === access && !isSetByDefault;
}
