// A connection that runs, or that is stopped until somebody starts it.

import { resolve } from 'node:path';
import { type Claim, claimsClash } from '../../../connections/claim.ts';
import { HubError } from '../../../model/error.ts';
import type { ConnectionStatus } from '../../../model/reports/connection-status.ts';
import { type ConnectionPlan, haveSameSettings, type Plan } from '../../plan.ts';
import type { HandSwitch } from '../hand-switches.ts';
import type { Hold } from './hold.ts';
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
