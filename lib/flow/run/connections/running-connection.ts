// A connection that is running, is held, or is stopped until an operator starts it.
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Claim, claimsClash } from '../../../connections/claim.ts';
import type { HeldBack } from '../../../connections/mirroring.ts';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import { formatAddress } from '../../../model/address.ts';
import { HubError } from '../../../model/error.ts';
import type { Origin, ParameterDeclaration } from '../../../model/parameter.ts';
import type { ConnectionStatus, Way } from '../../../model/reports/connection-status.ts';
import { type ConnectionPlan, haveSameSettings, type Plan } from '../../plan.ts';
import { type Difference, differenceOf } from '../difference.ts';
import type { ManualSwitch } from '../manual-switches.ts';
import type { Supervisor } from './supervisor.ts';

export interface RunningConnection {
  /** The plan. Its `enabled` is false after an operator has stopped the connection, and true after an operator has started it. */
  readonly plan: ConnectionPlan;
  /** Whether the settings, regardless of an operator's switch, enable the connection. */
  readonly enabled: boolean;
  /** How an operator has switched the connection; undefined means that the settings apply. */
  readonly switched?: ManualSwitch | undefined;
  /** The number of parameters that the connection declares. */
  readonly parameters: number;
  readonly supervisor: Supervisor;
  /** The reason why the connection is held; undefined if the connection is not held. */
  readonly hold: Hold | undefined;
}

/** A connection that is about to start and has no supervisor yet. */
export type ComingConnection = Omit<RunningConnection, 'supervisor' | 'hold'>;

/**
 * Creates, from a plan, a connection that is about to start. For a gateway, the whole plan is kept, because a refused reload declares the
 * gateway again.
 */
export function toRun(plan: ConnectionPlan): ComingConnection {
  const kept = isGateway(plan) ? plan : withoutDeclarations(plan);
  return { plan: kept, enabled: plan.enabled, parameters: plan.parameters.length };
}

/**
 * Creates the successor of a running connection from a plan. An operator's switch remains in effect as long as the settings are unchanged.
 */
export function toRunAfter(before: RunningConnection | undefined, plan: ConnectionPlan): ComingConnection {
  if (before?.plan === plan) return before; // the successor could not start
  const next = toRun(plan);
  if (before?.switched === undefined || !haveSameSettings(before.plan, plan)) return next;
  const { switched } = before;
  return { ...next, plan: { ...next.plan, enabled: switched.isOn }, switched };
}

/** Returns the reason shown for a connection that an operator has stopped. */
export function whyStopped({ by }: ManualSwitch): string {
  return `stopped by ${by.name}`;
}

/** Returns the plan without settings that only declare parameters, because these parameters are already in the graph. */
export function withoutDeclarations(plan: ConnectionPlan): ConnectionPlan {
  const { declaring = [] } = plan.type;
  if (declaring.length === 0) return plan;
  const needed = Object.entries(plan.settings as object).filter(([setting]) => !declaring.includes(setting));
  return { ...plan, parameters: [], settings: Object.fromEntries(needed) };
}

export function statusOf({ plan, enabled, parameters, supervisor }: RunningConnection): ConnectionStatus {
  const wire = supervisor.wire.totals;
  const { device } = supervisor;
  return {
    ...supervisor.status,
    enabled,
    parameters,
    file: plan.file,
    ...(wire && { wire }),
    ...(device && { device }),
  };
}

/** Returns the ways from a connection's inputs and causes to its parameters. Parameters with the same origins share a way. */
export function waysOf({ id, type, settings, inputs, parameters, folder }: ConnectionPlan): Way[] {
  const follows = type.follows?.(settings);
  const causes = type.causes?.(settings, (path) => resolve(folder, path));
  if (follows === undefined && causes === undefined) return [];
  const ways = new Map<string, { from: string[]; to: string[] }>();
  for (const { id: parameterId, access } of parameters) {
    if (access === 'write-only') continue;
    const read = [...(follows?.(parameterId) ?? [])].map((name) => inputs[name]!);
    const own = [...(causes?.(parameterId) ?? [])].map((one) => `${id}/${one}`);
    const from = [...new Set([...read, ...own])];
    if (from.length === 0) continue;
    const key = from.join('\n');
    const way = ways.get(key);
    if (way === undefined) ways.set(key, { from, to: [`${id}/${parameterId}`] });
    else way.to.push(`${id}/${parameterId}`);
  }
  return [...ways.values()].map((way) => ({ connection: id, type: type.type, ...way }));
}

/** Finds the locations of connection settings in flow files. */
export type Placing = Pick<Plan, 'lineAbout'>;

/** Checks that the given connections have started. Errors: `cannot-start`, with one line per failed connection. */
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

/** Returns a connection's claim that conflicts with a claim of another connection, or undefined if no claims conflict. */
export function clashOf(plan: ConnectionPlan, other: ConnectionPlan): Claim | undefined {
  const taken = claimsOf(other);
  return claimsOf(plan).find((claim) => taken.some((one) => claimsClash(claim, one)));
}

function claimsOf({ type, settings, folder }: ConnectionPlan): readonly Claim[] {
  return type.claims?.(settings, (path) => resolve(folder, path)) ?? [];
}

// The reasons why connections are held, that is, do not run although their settings enable them.

interface Hold {
  readonly state: 'failed' | 'disabled';
  readonly reason: string;
}

/**
 * Holds connections: either all connections for one reason, or individual connections for separate reasons. Gateways are exempt unless they
 * flush last.
 */
export class Holds {
  /** The reason why all connections are held; undefined unless all connections are held. */
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

/**
 * Returns whether a connection is part of the hub's work, which another hub may take over. All connections are, except gateways that always
 * run.
 */
export function isWork({ type, settings }: ConnectionPlan): boolean {
  return !type.isGateway || goesFirst({ type, settings });
}

/** Returns whether other connections wait to start until this connection has restored its values. */
export function goesFirst({ type, settings }: Pick<ConnectionPlan, 'type' | 'settings'>): boolean {
  return type.isGateway === true && type.flushesLast?.(settings) === true;
}

// The connections that a reload swaps, determined before any connection stops. Gateways are swapped first, because a gateway that cannot
// start makes the whole reload fail.

/** The connections that a reload stops, and the plans of the connections that it then starts. */
export interface Exchange {
  readonly leaving: readonly RunningConnection[];
  readonly coming: readonly ConnectionPlan[];
}

export interface ConnectionChange {
  /** All connections after the reload, in the order of the flow files. */
  readonly plans: readonly ConnectionPlan[];
  readonly gateways: Exchange;
  readonly others: Exchange;
  /** Plans that running connections adopt without a restart. */
  readonly takenOver: readonly ConnectionPlan[];
  /** The addresses of the parameters that the reload replaces or removes. */
  readonly gone: ReadonlySet<string>;
  readonly difference: Difference;
}

/** Compares plans with the running connections. A connection that listens to a replaced parameter is swapped as well. */
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

/**
 * Returns the plan that a running connection can adopt without a restart: `after`, or the running plan with those new settings that need no
 * restart. Returns undefined if there is no such plan.
 */
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

// The parameters of all connections in the graph. If a changed connection keeps a parameter, with its ID, value type and access, the
// parameter remains the same, with its value, its rules and its clients.

export class DeclaredParameters {
  readonly #graph: Graph;
  readonly #owners = new Map<string, Origin>();

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  /** Returns the origin for changes by a connection. All runs of the connection share one origin. */
  ownerOf(id: string): Origin {
    const owner = this.#owners.get(id) ?? { kind: 'connection', name: id };
    this.#owners.set(id, owner);
    return owner;
  }

  /** Declares the parameters of a connection. Those for which `isRestored` returns true do not receive their default values. */
  declare({ id, parameters }: ConnectionPlan, isRestored?: (declaration: ParameterDeclaration) => boolean): void {
    const withoutDefault = ({ defaultValue: _, ...declaration }: ParameterDeclaration) => declaration;
    const declared = parameters.map((one) => (isRestored?.(one) === true ? withoutDefault(one) : one));
    this.#graph.declare(this.ownerOf(id), declared);
  }

  /** Returns the parameters that are removed when a connection is removed or its plan is replaced. */
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
}

/**
 * Returns whether a parameter can be kept. A new default value requires a new parameter, because no rule may observe the new value as a
 * change.
 */
function stays(node: ParameterNode, { type, access, defaultValue }: ParameterDeclaration): boolean {
  const isSetByDefault = node.value === undefined && defaultValue !== undefined;
  return node.type === type && node.access === access && !isSetByDefault;
}
