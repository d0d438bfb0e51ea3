// The connections that run. A swap stops and starts only those that a reload has changed. A parameter that a changed
// connection keeps, by its ID, value type and access, stays the same parameter: with its value, its listeners and clients.

import { resolve } from 'node:path';
import type { SchedulerLike } from 'rxjs';
import { type Claim, claimsClash } from '../../../connections/claim.ts';
import type { Log } from '../../../connections/connection.ts';
import type { HubPort } from '../../../connections/hub-port.ts';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { unknownName } from '../../../json5/mistake.ts';
import { formatAddress } from '../../../model/address.ts';
import type { ConnectionAction, ConnectionStatus } from '../../../model/connection-status.ts';
import { HubError } from '../../../model/error.ts';
import type { Origin, ParameterDeclaration } from '../../../model/parameter.ts';
import type { ConnectionPlan } from '../../plan.ts';
import { type Difference, differenceOf } from '../difference.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';

export interface ConnectionRuntime {
  readonly graph: Graph;
  readonly hub: HubPort;
  readonly scheduler: SchedulerLike;
  readonly logOf: (connectionId: string) => Log;
}

interface Entry {
  /** `enabled` of it is false while the connection is stopped by hand, and true when it was started by hand. */
  readonly plan: ConnectionPlan;
  /** As its settings say. */
  readonly enabled: boolean;
  /** How many parameters it has. */
  readonly parameters: number;
  readonly supervisor: Supervisor;
}

type UnstartedEntry = Omit<Entry, 'supervisor'>;

/** How long a connection waits at most for one before it to finish what it claims too, such as a file being written. */
const longestWaitMs = 1800;

/** What is to be swapped: connections that leave, those that come, and the addresses that are replaced or no more. */
export interface ConnectionSwap {
  readonly plans: readonly ConnectionPlan[];
  readonly leaving: readonly Entry[];
  readonly coming: readonly ConnectionPlan[];
  readonly gone: ReadonlySet<string>;
}

export class RunningConnections {
  /** By Connection ID, in the order of the flow files. */
  #entries: ReadonlyMap<string, Entry> = new Map();
  readonly #owners = new Map<string, Origin>();
  readonly #stopping = new Set<Promise<void>>();
  readonly #runtime: ConnectionRuntime;

  constructor(runtime: ConnectionRuntime) {
    this.#runtime = runtime;
  }

  statuses(): ConnectionStatus[] {
    return [...this.#entries.values()].map(statusOf);
  }

  /**
   * Starts, stops or restarts a connection, until a reload changes it. Errors: `not-found` with the nearest name, `conflict`
   * when that makes no sense.
   */
  control(id: string, action: ConnectionAction, by: Origin): ConnectionStatus {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new HubError('not-found', unknownName('connection', id, [...this.#entries.keys()]));
    const { state } = entry.supervisor.status;
    const isStopped = state === 'disabled';
    if (isStopped !== (action === 'start'))
      throw new HubError(
        'conflict',
        `${action}: expected a connection that is ${isStopped ? 'not ' : ''}disabled, "${id}" is ${state}`,
      );
    const plan = { ...entry.plan, enabled: action !== 'stop' };
    if (action === 'stop') {
      this.#stop(entry.supervisor, `stopped by ${by.name}`);
      this.#entries = new Map(this.#entries).set(id, { ...entry, plan });
    } else {
      if (isStopped) this.#assertFree(plan);
      this.#start([{ ...entry, plan }], this.#stopAll([entry]));
    }
    return statusOf(this.#entries.get(id)!);
  }

  /** The supervisors of gateways. */
  gateways(): Supervisor[] {
    return [...this.#entries.values()].filter(({ plan }) => plan.type.isGateway).map(({ supervisor }) => supervisor);
  }

  /** Declares the parameters of connections before anything runs. */
  declare(plans: readonly ConnectionPlan[]): void {
    for (const plan of plans) this.#declare(plan);
  }

  /** Compares plans with what runs. A connection that listens to a parameter that is replaced changes with it. */
  compare(plans: readonly ConnectionPlan[]): ConnectionSwap {
    const next = new Map(plans.map((plan) => [plan.id, plan]));
    const gone = new Set<string>();
    for (const { plan } of this.#entries.values()) {
      const after = next.get(plan.id);
      if (after?.key !== plan.key) for (const node of this.#leavingNodes(plan, after)) gone.add(node.address);
    }
    const isSame = (plan: ConnectionPlan) =>
      this.#entries.get(plan.id)?.plan.key === plan.key && !Object.values(plan.inputs).some((input) => gone.has(input));
    const staying = new Set(plans.filter(isSame).map(({ id }) => id));
    return {
      plans,
      leaving: [...this.#entries.values()].filter(({ plan }) => !staying.has(plan.id)),
      coming: plans.filter(({ id }) => !staying.has(id)),
      gone,
    };
  }

  /** Swaps gateways. Errors: `cannot-start` when one cannot start; then those before it run again. */
  swapGateways({ leaving, coming }: ConnectionSwap): void {
    const ids = new Set([...leaving.map(({ plan }) => plan), ...coming].filter(isGateway).map(({ id }) => id));
    const left = leaving.filter(({ plan }) => ids.has(plan.id));
    const plans = coming.filter(({ id }) => ids.has(id));
    const entries = this.#exchange(left, plans);
    const failed = entries.map(({ supervisor }) => supervisor.status).filter(({ state }) => state === 'failed');
    if (failed.length === 0) return;
    this.#exchange(
      entries,
      left.map(({ plan }) => plan),
    );
    throw new HubError('cannot-start', failed.map(({ id, reason }) => `connection "${id}": ${reason}`).join('\n'));
  }

  /** Swaps all other connections; to be called after `swapGateways`. */
  swapOthers({ plans, leaving, coming }: ConnectionSwap): Difference {
    const isLeft = ({ plan }: Entry) => this.#entries.get(plan.id)?.plan === plan;
    const isToCome = (plan: ConnectionPlan) => this.#entries.get(plan.id)?.plan !== plan;
    this.#exchange(leaving.filter(isLeft), coming.filter(isToCome));
    const entries = plans.map((plan): [string, Entry] => {
      const entry = this.#entries.get(plan.id)!;
      entry.supervisor.settleAt(plan.settleOrder);
      const created = createEntry(plan);
      return [plan.id, { ...entry, ...created, plan: { ...created.plan, enabled: entry.plan.enabled } }];
    });
    this.#entries = new Map(entries);
    return differenceOf(
      leaving.map(({ plan }) => plan.id),
      coming.map(({ id }) => id),
    );
  }

  /** Stops all; resolves when they have finished what they had begun. */
  async stop(): Promise<void> {
    for (const { supervisor } of this.#entries.values()) this.#stop(supervisor);
    await Promise.all(this.#stopping);
  }

  /** Stops connections, makes their parameters those of the plans, and starts the plans in one turn. */
  #exchange(left: readonly Entry[], plans: readonly ConnectionPlan[]): Entry[] {
    const ready = this.#stopAll(left);
    const before = new Map(left.map(({ plan }) => [plan.id, plan]));
    const after = new Map(plans.map((plan) => [plan.id, plan]));
    for (const plan of before.values()) this.#runtime.graph.remove(this.#leavingNodes(plan, after.get(plan.id)));
    for (const plan of plans) this.#declare(plan);
    const all = new Map(this.#entries);
    for (const id of before.keys()) all.delete(id);
    this.#entries = all;
    return this.#start(plans.map(createEntry), ready);
  }

  /** Starts connections whose parameters are declared, in one turn; those that claim something once `ready` resolves. */
  #start(coming: readonly UnstartedEntry[], ready: Promise<unknown> | undefined): Entry[] {
    const entries = coming.map((entry) => ({ ...entry, supervisor: this.#supervise(entry.plan) }));
    this.#runtime.graph.turn(() => {
      for (const { plan, supervisor } of entries)
        supervisor.start(plan.type.claims !== undefined && !isGateway(plan) ? ready : undefined);
    });
    this.#entries = new Map([...this.#entries, ...entries.map((entry) => [entry.plan.id, entry] as const)]);
    return entries;
  }

  /** Stops connections; what it returns resolves when all have finished what they had begun, or after a while. */
  #stopAll(left: readonly Entry[]): Promise<unknown> | undefined {
    const ends = left.flatMap(({ plan, supervisor }) => {
      const end = this.#stop(supervisor);
      return supervisor.isBusy && !isGateway(plan) ? [end] : [];
    });
    return ends.length === 0 ? undefined : Promise.race([Promise.all(ends), deadline(longestWaitMs)]);
  }

  /** Errors: `conflict` when a connection that is not disabled has what this one claims. */
  #assertFree(plan: ConnectionPlan): void {
    const others = [...this.#entries.values()].filter(({ supervisor }) => supervisor.status.state !== 'disabled');
    for (const { plan: other } of others)
      for (const claim of claimsOf(plan))
        if (claimsOf(other).some((taken) => claimsClash(claim, taken)))
          throw new HubError('conflict', `start: expected ${claim.name} for itself, "${other.id}" has it too`);
  }

  #stop(supervisor: Supervisor, reason?: string): Promise<void> {
    const end = supervisor.stop(reason);
    this.#stopping.add(end);
    end.finally(() => this.#stopping.delete(end));
    return end;
  }

  #declare(plan: ConnectionPlan): void {
    this.#runtime.graph.declare(this.#ownerOf(plan.id), plan.parameters);
  }

  /** The parameters of a connection that do not stay when it becomes another, or nothing. */
  #leavingNodes(before: ConnectionPlan, after: ConnectionPlan | undefined): ParameterNode[] {
    const declarations = before.type === after?.type ? after.parameters : [];
    const declared = new Map(
      declarations.map((declaration) => [formatAddress(before.id, declaration.id), declaration]),
    );
    const owner = this.#ownerOf(before.id);
    return [...this.#runtime.graph.parameters()].filter((node) => {
      const declaration = declared.get(node.address);
      return node.owner === owner && (declaration === undefined || !stays(node, declaration));
    });
  }

  #supervise(plan: ConnectionPlan): Supervisor {
    const { graph, hub, scheduler, logOf } = this.#runtime;
    return createSupervisor({
      plan,
      owner: this.#ownerOf(plan.id),
      graph,
      hub,
      scheduler,
      log: logOf(plan.id),
      resolvePath: (path) => resolve(plan.folder, path),
    });
  }

  /** The origin of a connection, the same for all its lives. */
  #ownerOf(id: string): Origin {
    const owner = this.#owners.get(id) ?? { kind: 'connection', name: id };
    this.#owners.set(id, owner);
    return owner;
  }
}

function createEntry(plan: ConnectionPlan): UnstartedEntry {
  return { plan: withoutDeclarations(plan), enabled: plan.enabled, parameters: plan.parameters.length };
}

/** What is declared lives in the graph; a plan that runs need not keep it a second time. */
function withoutDeclarations(plan: ConnectionPlan): ConnectionPlan {
  const { declaring = [] } = plan.type;
  if (declaring.length === 0) return plan;
  const needed = Object.entries(plan.settings as object).filter(([setting]) => !declaring.includes(setting));
  return { ...plan, parameters: [], settings: Object.fromEntries(needed) };
}

function claimsOf({ type, settings, folder }: ConnectionPlan): readonly Claim[] {
  return type.claims?.(settings, (path) => resolve(folder, path)) ?? [];
}

function statusOf({ plan, enabled, parameters, supervisor }: Entry): ConnectionStatus {
  return { ...supervisor.status, enabled, parameters, file: plan.file };
}

function isGateway({ type }: ConnectionPlan): boolean {
  return type.isGateway === true;
}

/** A first default value wants a new parameter, since no rule may hear it. */
function stays(node: ParameterNode, { type, access, defaultValue }: ParameterDeclaration): boolean {
  const isSetByDefault = node.value === undefined && defaultValue !== undefined;
  return node.type === type && node.access === access && !isSetByDefault;
}

function deadline(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs).unref());
}
