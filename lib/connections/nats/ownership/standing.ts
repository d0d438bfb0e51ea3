// What a hub is in its domain at the moment, and what those have to work with who decide it.

import type { BehaviorSubject, Observable } from 'rxjs';
import type { ConnectionContext } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { JointLease } from '../lease/joint-lease.ts';
import type { Link } from '../link/nats-link.ts';
import type { NatsSettings } from '../settings.ts';
import type { Claims } from './connection-claims.ts';
import type { Namesake, NamesakeReport } from './namesake.ts';
import type { Refused } from './vacancy.ts';

/** What decides needs of the connection. */
export interface Deciding {
  readonly context: ConnectionContext<NatsSettings>;
  readonly hub: HubPort;
  readonly link: Link;
  readonly isShared: (address: string) => boolean;
  /** Whether this hub has all that another hub of its name has told. */
  readonly hasMirrored: () => boolean;
  /** Emits what another hub of the name of this one tells. Hot, replays nothing, never errors. */
  readonly namesake$: Observable<NamesakeReport>;
  /** Which other hub is heard to have each Connection ID, at this moment. */
  readonly heard: () => ReadonlyMap<string, string>;
  /** As `ClaimsOptions.hasNoTerm`. */
  readonly hasNoTerm: (hub: string) => boolean;
  /** Tells other hubs what has not been told yet; resolves to whether who would take over has it, false past a time. Never rejects. */
  readonly notifyAll: (endMs: number) => Promise<boolean>;
  /** Ends the connection as *failed*. */
  readonly fail: (reason: string) => void;
}

/** What those decide who follow the lease. */
export interface Standing {
  isHolder: boolean;
  /**
   * Whether this hub may use its name: it holds the lease on the name, or nobody can say who does and no other hub of this
   * name is heard of.
   */
  hasName: boolean;
  /** As `Ownership.answers`. */
  answers: boolean;
  term: number;
  /** Says that it has changed. */
  notify(): void;
}

/** What those have who follow the lease. */
export interface Following extends Deciding {
  readonly refused: Refused;
  readonly namesake: Namesake;
  readonly lease: JointLease;
  readonly claims: Claims;
  readonly standing: Standing;
  /** What does not work; undefined: not known yet. */
  readonly trouble$: BehaviorSubject<string | undefined>;
  /** As `Ownership.confirm`. */
  readonly confirm: (() => Promise<boolean>) | undefined;
}
