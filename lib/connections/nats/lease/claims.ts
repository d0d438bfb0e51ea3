// Which hub of a domain has which Connection ID: one list for all hubs. A hub that wants an ID which another one has asks again and
// again, and gets it when that hub has given it up, ended, or is not heard of any more.

import { BehaviorSubject, type Observable, type SchedulerLike } from 'rxjs';
import { z } from 'zod';
import type { Cell } from './cell.ts';
import type { LeaseRecord } from './record.ts';
import { leaseTimes } from './times.ts';

/** How often a hub looks that wants what it does not have, or does not know. */
const lookMs = 1000;
/** How often any other one looks: it hears of changes, and nobody takes what it has within `goneMs`. */
const calmLookMs = 5000;
/** A hub whose lease nobody has renewed for this long has nothing any more; a standby has taken it by then. */
const goneMs = 2 * leaseTimes.expiryMs;
/** How many Connection IDs a domain may have: the list of them is one message. */
const maxClaims = 5000;
const tooManyClaims = `expected at most ${maxClaims} connections in the domain, this is one more`;

/** What the cell of a domain holds: hub by Connection ID. */
const claimList = z.record(z.string(), z.string());
export type ClaimList = z.infer<typeof claimList>;

/** Reads what the cell holds. Errors: what it is not. */
export function parseClaims(data: unknown): ClaimList {
  return claimList.parse(data);
}

/** Which hub has a connection, or would have it, and why this one does not. */
export interface Refusal {
  readonly holder: string;
  readonly reason: string;
}

/** The connections that this hub wants and does not have, by Connection ID. */
export type Refusals = ReadonlyMap<string, Refusal>;

type LeaseReader = Pick<Cell<LeaseRecord>, 'read'>;

export interface ClaimsOptions {
  readonly hub: string;
  readonly cell: Cell<ClaimList>;
  /** The lease of a hub, which is only read. */
  readonly leaseOf: (hub: string) => LeaseReader;
  readonly clock: SchedulerLike;
  /** The Connection IDs that this hub wants, at this moment. */
  readonly wanted: () => Iterable<string>;
  /** Whether this hub may claim anything at this moment; one that stands by only reads. */
  readonly mayClaim: () => boolean;
}

/** What was last seen of the lease of a hub. */
interface Sighting {
  readonly lease: LeaseReader;
  sequence: number;
  sinceMs: number;
}

export class Claims {
  readonly #options: ClaimsOptions;
  readonly #refusals = new BehaviorSubject<Refusals | undefined>(undefined);
  /** Hubs that have something which this hub wants. */
  readonly #sightings = new Map<string, Sighting>();
  #askedMs = 0;
  /** Why this hub may not have what the list says it has; undefined: it may. */
  #yields: string | undefined;
  /** Which hub had each Connection ID when the list was read last. */
  owners: ReadonlyMap<string, string> = new Map();
  #hurried: (() => void) | undefined;
  /** Whether something has happened since the last look began. */
  #isHurried = false;
  #isStarted = false;
  #hasEnded = false;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /** Emits also when this hub has got more. Undefined: nobody knows yet. Hot, replays last, synchronous, never completes, never errors. */
  get refusals$(): Observable<Refusals | undefined> {
    return this.#refusals.asObservable();
  }

  get refusals(): Refusals | undefined {
    return this.#refusals.value;
  }

  /** Why this hub may not have a connection, also one that it did not want yet when the list was read; undefined: it may. */
  refusalOf(id: string): Refusal | undefined {
    const { hub } = this.#options;
    const owner = this.owners.get(id);
    if (owner === hub && this.#yields !== undefined) return { holder: hub, reason: this.#yields };
    return this.refusals?.get(id) ?? (owner === undefined || owner === hub ? undefined : takenBy(owner, id));
  }

  /** As `refusals`, also with what this hub has come to want since the list was read. */
  expectedRefusals(): Refusals {
    const all = [...this.#options.wanted()].map((id) => [id, this.refusalOf(id)] as const);
    return new Map(all.flatMap(([id, refusal]) => (refusal === undefined ? [] : [[id, refusal]])));
  }

  /**
   * Leaves what the list has to another hub of this name, and claims nothing until it is started again. Resolves once the list was read,
   * or cannot be. Never rejects.
   */
  async yield(reason: string): Promise<void> {
    this.#yields = reason;
    try {
      const { value: list = {} } = await this.#options.cell.read();
      this.owners = new Map(Object.entries(list));
      if (!this.#hasEnded) this.#refusals.next(this.expectedRefusals());
    } catch {} // then nobody knows what the other one has
  }

  start(): void {
    this.#yields = undefined;
    this.hurry();
    if (this.#isStarted) return;
    this.#isStarted = true;
    void this.#work();
  }

  /** Looks without a pause, once more where it looks at the moment. */
  hurry(): void {
    this.#isHurried = true;
    this.#hurried?.();
  }

  /** Asks for nothing any more. What the hub has stays its own for as long as its lease does. */
  stop(): void {
    this.#hasEnded = true;
    this.#hurried?.();
  }

  async #work(): Promise<void> {
    while (!this.#hasEnded) {
      this.#isHurried = false;
      const claimed = await this.#claim().catch(() => 'unknown' as const);
      if (claimed === 'outrun' || this.#isHurried || this.#hasEnded) continue;
      const isCalm = claimed === 'read' || (claimed === 'claimed' && this.refusals?.size === 0);
      await this.#pause(isCalm ? calmLookMs : lookMs);
    }
  }

  /** Reads the list and writes what this hub wants; *read*: it may not; *outrun*: somebody else has written meanwhile. */
  async #claim(): Promise<'claimed' | 'read' | 'outrun'> {
    const { cell, hub, wanted } = this.#options;
    const mayClaim = () => this.#yields === undefined && this.#options.mayClaim();
    const { sequence, value: list = {} } = await cell.read();
    const owners = new Map(Object.entries(list));
    if (!mayClaim()) {
      this.owners = owners;
      return 'read';
    }
    const ids = new Set(wanted());
    const refusals = new Map<string, Refusal>();
    for (const [id, owner] of owners) if (owner === hub && !ids.has(id)) owners.delete(id);
    const rivals = new Set([...ids].flatMap((id) => owners.get(id) ?? hub).filter((owner) => owner !== hub));
    const gone = await this.#goneOf(rivals);
    for (const id of ids) {
      const owner = owners.get(id) ?? hub;
      if (owner !== hub && !gone.has(owner)) refusals.set(id, takenBy(owner, id));
      else if (owners.has(id) || owners.size < maxClaims) owners.set(id, hub);
      else refusals.set(id, { holder: hub, reason: tooManyClaims });
    }
    const isSame = owners.size === Object.keys(list).length && [...owners].every(([id, owner]) => list[id] === owner);
    if (!mayClaim()) return 'outrun';
    if (!isSame && (await cell.replace(Object.fromEntries(owners), sequence)) === undefined) return 'outrun';
    const hasMore = [...ids].some((id) => owners.get(id) === hub && this.owners.get(id) !== hub);
    this.owners = owners;
    if (!this.#hasEnded && (hasMore || !areSame(refusals, this.refusals))) this.#refusals.next(refusals);
    return 'claimed';
  }

  /** Those hubs that have ended, or are not heard of any more. */
  async #goneOf(hubs: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const { leaseOf, clock } = this.#options;
    const hasMissed = clock.now() - this.#askedMs > 3 * lookMs; // no answers, or this hub was stopped: what it saw is too old
    this.#askedMs = clock.now();
    if (hasMissed) this.#sightings.clear();
    for (const hub of this.#sightings.keys()) if (!hubs.has(hub)) this.#sightings.delete(hub);
    const gone = new Set<string>();
    for (const hub of hubs) {
      const sighting = this.#sightings.get(hub) ?? { lease: leaseOf(hub), sequence: -1, sinceMs: 0 };
      this.#sightings.set(hub, sighting);
      const { sequence, value } = await sighting.lease.read();
      if (sequence !== sighting.sequence) Object.assign(sighting, { sequence, sinceMs: clock.now() });
      const isOver = value === undefined || value.isReleased || clock.now() - sighting.sinceMs >= goneMs;
      if (isOver) gone.add(hub);
    }
    return gone;
  }

  #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.clock.schedule(() => resolve(), ms);
    this.#hurried = resolve;
    return promise.finally(() => timer.unsubscribe());
  }
}

function takenBy(holder: string, id: string): Refusal {
  return { holder, reason: `hub "${holder}" has a connection "${id}" too` };
}

function areSame(one: Refusals, other: Refusals | undefined): boolean {
  return (
    other !== undefined &&
    one.size === other.size &&
    [...one].every(([id, { reason }]) => other.get(id)?.reason === reason)
  );
}
