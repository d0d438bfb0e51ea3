// Reports the status of the domain to operators, from the point of view of this hub.

import { Subscription } from 'rxjs';
import type { DomainHub, DomainStatus, LinkStatus, MirrorStatus } from '../../model/reports/domain-status.ts';
import { wallClock } from '../../model/time/wall-clock.ts';
import type { Intake } from './link/nats-intake.ts';
import type { Link, LinkState } from './link/nats-link.ts';
import type { MirroredHub } from './mirrors/mirrored-hub.ts';
import type { Mirrors } from './mirrors/mirrors.ts';
import type { DecidedOwnership } from './ownership/decide-ownership.ts';
import type { NatsSettings } from './settings.ts';
import type { Sharer } from './sharing/sharer.ts';

export interface DomainReportOptions {
  /** The Connection ID of the `nats` connection. */
  readonly id: string;
  readonly settings: NatsSettings;
  readonly link: Link;
  readonly ownership: DecidedOwnership;
  readonly mirrors: Mirrors;
  readonly intake: Pick<Intake, 'refusedOf'>;
  readonly sharer: Sharer;
  /** Returns the time of day, in milliseconds since 1970. */
  readonly timeOfDay: () => number;
}

export class DomainReport {
  readonly #options: DomainReportOptions;
  readonly #following = new Subscription();
  #linkSince: () => number;
  #leaseSince: () => number;
  #sessions = 0;
  /** Whether the servers in the last session accepted every client; undefined if there has been no session. */
  #isOpen: boolean | undefined;

  constructor(options: DomainReportOptions) {
    const { link, ownership, timeOfDay } = options;
    this.#options = options;
    const since = () => wallClock.pin(timeOfDay());
    this.#linkSince = this.#leaseSince = since();
    let wasUp = false;
    const followLink = (isUp: boolean) => {
      if (isUp !== wasUp) this.#linkSince = since();
      if (isUp) this.#sessions++;
      wasUp = isUp;
    };
    const error = () => {}; // these Observables never fail
    const followSession = ({ session }: LinkState) => {
      followLink(session !== undefined);
      if (session !== undefined) this.#isOpen = session.isOpen;
    };
    this.#following.add(link.state$.subscribe({ next: followSession, error }));
    this.#following.add(ownership.lease.state$.subscribe({ next: () => (this.#leaseSince = since()), error }));
  }

  stop(): void {
    this.#following.unsubscribe();
  }

  status(): DomainStatus {
    const { id, settings, ownership } = this.#options;
    const { domain, hub, pair } = settings;
    const { lease } = ownership;
    const { state } = lease;
    return {
      connection: id,
      domain,
      hub,
      role: pair ? (ownership.isHolder ? 'main' : 'standby') : 'alone',
      lease: {
        state: state.is,
        holder: state.is === 'unknown' ? '' : state.is === 'taken' ? state.name : lease.ownName,
        term: state.is === 'unknown' ? 0 : state.term,
        since: this.#leaseSince(),
      },
      link: this.#link(),
      hubs: this.#hubs(),
    };
  }

  #link(): LinkStatus {
    const { link, settings } = this.#options;
    const { state } = link;
    return {
      isUp: state.session !== undefined,
      isOpen: this.#isOpen,
      text: state.session?.server ?? ('reason' in state ? state.reason : ''),
      servers: settings.servers,
      since: this.#linkSince(),
      reconnects: Math.max(0, this.#sessions - 1),
    };
  }

  #hubs(): DomainHub[] {
    const { settings, ownership, mirrors, sharer } = this.#options;
    const mirrored = new Map([...mirrors.hubs()].map((one) => [one.hub, one]));
    const connections = Map.groupBy(ownership.owners, ([, hub]) => hub);
    const names = new Set([settings.hub, ...mirrored.keys(), ...connections.keys()]);
    return [...names].sort().map((hub) => {
      const mirror = mirrored.get(hub);
      const isThis = hub === settings.hub;
      return {
        hub,
        state: isThis ? 'this' : stateOf(mirror),
        connections: (connections.get(hub) ?? []).map(([id]) => id).sort(),
        parameters: mirror?.size ?? (isThis ? sharer.size : 0),
        mirror: mirror && mirrorStatusOf(mirror, this.#options.intake.refusedOf(hub)),
      };
    });
  }
}

function stateOf(mirror: MirroredHub | undefined): DomainHub['state'] {
  if (!mirror?.hasMirrored) return 'unknown';
  return mirror.staleSince === undefined ? 'fresh' : 'stale';
}

function mirrorStatusOf({ term, heartbeat, lagMs, staleSince, counts }: MirroredHub, notTaken: number): MirrorStatus {
  const machine = heartbeat?.term === term ? heartbeat.machine : undefined;
  const { gaps, lostFires, refused } = counts;
  return { term, machine, lagMs: Math.round(lagMs), staleSince, gaps, lostFires, refused: refused + notTaken };
}
