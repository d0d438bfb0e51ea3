// Why a connection does not run, though its settings have it run.

import type { HeldBack } from '../../../connections/duty.ts';
import type { ConnectionPlan } from '../../plan.ts';

export interface Hold {
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
  return type.isGateway === true && type.followsWork?.(settings) === true;
}
