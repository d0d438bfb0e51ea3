// The current state of a hub in its domain, and the inputs for the code that determines it.

import type { BehaviorSubject, Observable } from 'rxjs';
import type { ConnectionContext } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { JointLease } from '../lease/joint-lease.ts';
import type { Link } from '../link/nats-link.ts';
import type { NatsSettings } from '../settings.ts';
import type { Claims } from './connection-claims.ts';
import type { Namesake, NamesakeReport } from './namesake.ts';
import type { Refused } from './vacancy.ts';

/** The parts of the connection that are needed to determine the standing. */
export interface OwnershipContext {
  readonly context: ConnectionContext<NatsSettings>;
  readonly hub: HubPort;
  readonly link: Link;
  readonly isShared: (address: string) => boolean;
  /** Returns whether this hub has received the complete state of another hub with its name. */
  readonly hasMirrored: () => boolean;
  /** Emits the messages from another hub with this hub's name. Hot, replays nothing, never errors. */
  readonly namesake$: Observable<NamesakeReport>;
  /** Returns the names of the other hubs that currently report Connection IDs, keyed by Connection ID. */
  readonly reportedOwners: () => ReadonlyMap<string, string>;
  /** See `ClaimsOptions.hasNoTerm`. */
  readonly hasNoTerm: (hub: string) => boolean;
  /**
   * Sends all data that other hubs have not received yet. Resolves to whether the standby has received all data, or to false after a time
   * limit. Never rejects.
   */
  readonly notifyAll: (endMs: number) => Promise<boolean>;
  /** Fails the `nats` connection with this reason. */
  readonly fail: (reason: string) => void;
}

/** The decisions that result from the lease. */
export interface Standing {
  isHolder: boolean;
  /**
   * Whether this hub may use its name: because it holds the lease on the name, or because the holder is unknown and no messages arrive from
   * another hub with this name.
   */
  hasName: boolean;
  /** See `Ownership.answers`. */
  answers: boolean;
  term: number;
  /** Must be called after a change to these properties. */
  notify(): void;
}

/** The parts of the connection that follow the lease. */
export interface LeaseContext extends OwnershipContext {
  readonly refused: Refused;
  readonly namesake: Namesake;
  readonly lease: JointLease;
  readonly claims: Claims;
  readonly standing: Standing;
  /** The current problem; undefined if it is not known yet. */
  readonly problem$: BehaviorSubject<string | undefined>;
  /** See `Ownership.confirm`. */
  readonly confirm: (() => Promise<boolean>) | undefined;
}
