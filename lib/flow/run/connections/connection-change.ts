// What a reload swaps: compared before anything is stopped. Gateways are swapped first, since one that cannot start refuses
// the whole reload.
import { isDeepStrictEqual } from 'node:util';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { formatAddress } from '../../../model/address.ts';
import type { Origin, ParameterDeclaration } from '../../../model/parameter.ts';
import type { ConnectionPlan } from '../../plan.ts';
import { type Difference, differenceOf } from '../difference.ts';
import { isGateway, type RunningConnection } from './running-connection.ts';

/** Connections that stop, and plans that start. */
export interface Exchange {
  readonly leaving: readonly RunningConnection[];
  readonly coming: readonly ConnectionPlan[];
}

export interface ConnectionChange {
  /** All connections as they shall be, in the order of the flow files. */
  readonly plans: readonly ConnectionPlan[];
  readonly gateways: Exchange;
  readonly others: Exchange;
  /** What running connections take over without being stopped. */
  readonly takenOver: readonly ConnectionPlan[];
  /** The addresses of parameters that are replaced or taken out. */
  readonly gone: ReadonlySet<string>;
  readonly difference: Difference;
}

/** Compares plans with what runs. A connection that listens to a parameter that is replaced changes with it. */
export function diffConnections(
  running: ReadonlyMap<string, RunningConnection>,
  plans: readonly ConnectionPlan[],
  parameters: DeclaredParameters,
): ConnectionChange {
  const next = new Map(plans.map((plan) => [plan.id, plan]));
  const gone = new Set<string>();
  for (const { plan } of running.values()) {
    const after = next.get(plan.id);
    if (after?.key !== plan.key) for (const node of parameters.leaving(plan, after)) gone.add(node.address);
  }
  const takenOver = plans.filter((plan) => takeableOf(running.get(plan.id), plan) === plan);
  const isSame = (plan: ConnectionPlan) =>
    (running.get(plan.id)?.plan.key === plan.key || takenOver.includes(plan)) &&
    !Object.values(plan.inputs).some((input) => gone.has(input));
  const staying = new Set(plans.filter(isSame).map(({ id }) => id));
  const leaving = [...running.values()].filter(({ plan }) => !staying.has(plan.id));
  const coming = plans.filter(({ id }) => !staying.has(id));
  const gateways = new Set([...leaving.map(({ plan }) => plan), ...coming].filter(isGateway).map(({ id }) => id));
  const exchangeOf = (areGateways: boolean): Exchange => ({
    leaving: leaving.filter(({ plan }) => gateways.has(plan.id) === areGateways),
    coming: coming.filter(({ id }) => gateways.has(id) === areGateways),
  });
  const changed = plans.filter((plan) => staying.has(plan.id) && isOther(running.get(plan.id)!.plan, plan));
  const difference = differenceOf(
    [...leaving.map(({ plan }) => plan), ...changed].map(({ id }) => id),
    plans.filter((plan) => !staying.has(plan.id) || changed.includes(plan)).map(({ id }) => id),
  );
  return { plans, gateways: exchangeOf(true), others: exchangeOf(false), takenOver, gone, difference };
}

function isOther(before: ConnectionPlan, after: ConnectionPlan): boolean {
  return before.key !== after.key || before.description !== after.description;
}

/** What a connection that runs can go to by itself where another plan is wanted: that one, or one between the two; undefined: nothing. */
export function takeableOf(running: RunningConnection | undefined, after: ConnectionPlan): ConnectionPlan | undefined {
  const before = running?.plan;
  if (before === undefined || before.key === after.key || before.type !== after.type) return undefined;
  if (before.folder !== after.folder || !before.enabled || !after.enabled) return undefined;
  const settings = after.type.takesOver?.(before.settings, after.settings);
  if (settings === undefined) return undefined;
  if (isDeepStrictEqual({ ...settings, description: after.description }, after.settings)) return after;
  const secrets = [...new Set([...before.secrets, ...after.secrets])];
  return { ...before, settings, secrets, key: `${after.key} in part` };
}

// The parameters of all connections, as the graph has them. A parameter that a changed connection keeps, by its ID, value
// type and access, stays the same parameter: with its value, its rules and its clients.

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
