// A connection that runs, or that is stopped until somebody starts it.
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Claim, claimsClash } from '../../../connections/claim.ts';
import type { HeldBack } from '../../../connections/mirroring.ts';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { formatAddress } from '../../../model/address.ts';
import { HubError } from '../../../model/error.ts';
import type { Origin, ParameterDeclaration } from '../../../model/parameter.ts';
import type { ConnectionStatus } from '../../../model/reports/connection-status.ts';
import { type ConnectionPlan, haveSameSettings, type Plan } from '../../plan.ts';
import { type Difference, differenceOf } from '../difference.ts';
import type { HandSwitch } from '../hand-switches.ts';
import type { Supervisor } from './supervisor.ts';

export interface RunningConnection {
  /** Its `enabled` is false while the connection is stopped by hand, and true when it was started by hand. */
  readonly plan: ConnectionPlan;
  /** As its settings say. */
  readonly enabled: boolean;
  /** How it was switched by hand; undefined: it is as its settings say. */
  readonly switched?: HandSwitch | undefined;
  /** How many parameters it has. */
  readonly parameters: number;
  readonly supervisor: Supervisor;
  /** Why it is not started; undefined: nothing holds it back. */
  readonly hold: Hold | undefined;
}

/** A connection that is to be started. */
export type ComingConnection = Omit<RunningConnection, 'supervisor' | 'hold'>;

/** What is kept of a plan while it runs; a gateway keeps all, since a reload that is refused declares it again. */
export function toRun(plan: ConnectionPlan): ComingConnection {
  const kept = isGateway(plan) ? plan : withoutDeclarations(plan);
  return { plan: kept, enabled: plan.enabled, parameters: plan.parameters.length };
}

/** A plan that takes the place of a connection: what was switched by hand stays so as long as its settings are the same. */
export function toRunAfter(before: RunningConnection | undefined, plan: ConnectionPlan): ComingConnection {
  if (before?.plan === plan) return before; // what was to take its place could not start
  const next = toRun(plan);
  if (before?.switched === undefined || !haveSameSettings(before.plan, plan)) return next;
  const { switched } = before;
  return { ...next, plan: { ...next.plan, enabled: switched.isOn }, switched };
}

/** Why a connection does not run that somebody has stopped. */
export function whyStopped({ by }: HandSwitch): string {
  return `stopped by ${by.name}`;
}

/** The plan without what only declares parameters: they are in the graph, and need not be kept a second time. */
export function withoutDeclarations(plan: ConnectionPlan): ConnectionPlan {
  const { declaring = [] } = plan.type;
  if (declaring.length === 0) return plan;
  const needed = Object.entries(plan.settings as object).filter(([setting]) => !declaring.includes(setting));
  return { ...plan, parameters: [], settings: Object.fromEntries(needed) };
}

export function statusOf({ plan, enabled, parameters, supervisor }: RunningConnection): ConnectionStatus {
  return { ...supervisor.status, enabled, parameters, file: plan.file };
}

/** Knows where settings stand. */
export type Placing = Pick<Plan, 'lineAbout'>;

/** Errors: `cannot-start`, with a line for each connection that has failed. */
export function expectStarted(
  statuses: readonly Pick<ConnectionStatus, 'id' | 'state' | 'reason'>[],
  { lineAbout }: Placing,
): void {
  const lines = statuses
    .filter(({ state }) => state === 'failed')
    .map(({ id, reason }) => lineAbout?.(id, reason) ?? `connection "${id}": ${reason}`);
  if (lines.length > 0) throw new HubError('cannot-start', lines.join('\n'));
}

export function isGateway({ type }: ConnectionPlan): boolean {
  return type.isGateway === true;
}

/** What a connection claims and another one has already; undefined: nothing. */
export function clashOf(plan: ConnectionPlan, other: ConnectionPlan): Claim | undefined {
  const taken = claimsOf(other);
  return claimsOf(plan).find((claim) => taken.some((one) => claimsClash(claim, one)));
}

function claimsOf({ type, settings, folder }: ConnectionPlan): readonly Claim[] {
  return type.claims?.(settings, (path) => resolve(folder, path)) ?? [];
}

// Why a connection does not run, though its settings have it run.

interface Hold {
  readonly state: 'failed' | 'disabled';
  readonly reason: string;
}

/** What is held back: all connections for one reason, and single ones, each for its own. Gateways are not, unless they follow the work. */
export class Holds {
  /** Why none runs; undefined: they run. */
  all: string | undefined = undefined;
  some: HeldBack = new Map();

  of(plan: ConnectionPlan): Hold | undefined {
    if (!isWork(plan) || !plan.enabled) return undefined;
    if (this.all !== undefined) return { state: 'disabled', reason: this.all };
    const reason = plan.type.isGateway ? undefined : this.some.get(plan.id);
    return reason === undefined ? undefined : { state: 'failed', reason };
  }
}

export function isSame(one: Hold | undefined, other: Hold | undefined): boolean {
  return one?.state === other?.state && one?.reason === other?.reason;
}

/** Whether a connection belongs to the work of a hub, which another hub may do: all do, but for gateways that always run. */
export function isWork({ type, settings }: ConnectionPlan): boolean {
  return !type.isGateway || goesFirst({ type, settings });
}

/** Whether others wait until it has given back what it keeps. */
export function goesFirst({ type, settings }: Pick<ConnectionPlan, 'type' | 'settings'>): boolean {
  return type.isGateway === true && type.flushesLast?.(settings) === true;
}

// What a reload swaps: compared before anything is stopped. Gateways are swapped first, since one that cannot start refuses
// the whole reload.

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
