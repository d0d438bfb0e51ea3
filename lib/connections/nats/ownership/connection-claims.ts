// The claims to Connection IDs: a single list for all hubs in a domain. A hub that wants another hub's ID keeps trying, and gets the ID
// when the other hub has released it, has shut down, or is no longer connected. While the list cannot be read, a hub uses the last known
// list; it owns an ID that is not in the list if no other hub reports that ID. If the servers lose the list, the hubs that know the list
// restore it.

import { BehaviorSubject, merge, type Observable, type SchedulerLike, Subject, Subscription } from 'rxjs';
import { connectionIdMistake, connectionIdOf } from '../../../model/address.ts';
import { describe } from '../../../model/error.ts';
import { isJsonObject } from '../../../model/json-object.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import type { HubPort } from '../../hub-port.ts';
import { type LeaseRecord, leaseTimes } from '../lease/lease-record.ts';
import type { Held, Register } from '../lease/register.ts';
import { isHubName } from '../wire/causes.ts';

/** The read interval while a hub wants IDs that it does not have or whose state is unknown, in milliseconds. */
const lookMs = 1000;
/**
 * The read interval for all other hubs, in milliseconds. They are notified of changes, and no other hub takes their IDs within `goneMs`.
 */
const calmLookMs = 5000;
/** The read interval before the first successful read, in milliseconds. */
const retryMs = 200;
/** The number of change notifications per second that cause an immediate read. Further notifications cause a read only after a pause. */
const freeHurries = 20;
const hurryPauseMs = 50;
/** The maximum time that a hub waits for a list that cannot be read, in milliseconds. */
export const longestWaitMs = 2000;
/** How long a hub keeps its IDs without renewing its lease, in milliseconds. By then, a standby has taken the lease. */
export const goneMs = 2 * leaseTimes.expiryMs;
/**
 * The time after the list was found empty during which a hub may claim its former IDs again, in milliseconds. During this time, each hub
 * reads the list a few times.
 */
const newMs = 4 * calmLookMs;
/** The time that a hub may take to report that it has an ID, in milliseconds. */
const disputeMs = 4000;
/** The maximum number of Connection IDs in a domain. It is limited because the list is a single message. */
const maxClaims = 5000;
const tooManyClaims = `expected at most ${maxClaims} connections in the domain, got one more`;

/** The content of the claims register: the names of the hubs, keyed by Connection ID. */
export type ClaimList = Readonly<Record<string, string>>;

/** Parses the content of the register. Errors: `Error` if the content is not a list of claims. */
export function parseClaims(data: unknown): ClaimList {
  if (!isJsonObject(data)) throw new Error('expected an object that maps Connection IDs to hubs');
  const claims = Object.entries(data);
  if (claims.length > maxClaims) throw new Error(`expected at most ${maxClaims} connections, got ${claims.length}`);
  for (const [id, hub] of claims)
    if (connectionIdMistake(id) !== undefined || !isHubName(hub))
      throw new Error(`expected the name of a hub for each Connection ID, got ${describe(hub)} for ${describe(id)}`);
  return data as ClaimList;
}

/** The hub that owns or would own a connection, and the reason why this hub does not own the connection. */
interface Refusal {
  readonly holder: string;
  readonly reason: string;
}

/** The connections that this hub wants but does not own, keyed by Connection ID. */
export type Refusals = ReadonlyMap<string, Refusal>;

type LeaseReader = Pick<Register<LeaseRecord>, 'read'>;

interface ClaimsOptions {
  readonly hub: string;
  readonly register: Register<ClaimList>;
  /** Returns a reader for another hub's lease. */
  readonly leaseOf: (hub: string) => LeaseReader;
  readonly clock: SchedulerLike;
  /** Returns the Connection IDs that this hub currently wants. */
  readonly wanted: () => Iterable<string>;
  /** Returns whether this hub may currently claim IDs. A standby may only read the list. */
  readonly mayClaim: () => boolean;
  /** Returns the names of the other hubs that report Connection IDs, keyed by Connection ID. */
  readonly reportedOwners: () => ReadonlyMap<string, string>;
  /** Returns whether a hub is sending messages under its name without a term. In this case, its lease record is from an earlier run. */
  readonly hasNoTerm: (hub: string) => boolean;
  /** Returns whether this hub currently holds the lease on its name. If it does, no other hub can have taken its IDs. */
  readonly holdsLease: () => boolean;
  /** Returns whether any client can write the list. In this case, this hub does not trust another hub's claim to IDs that this hub owns. */
  readonly isOpen: () => boolean;
}

/** The result of the last observation of a hub's lease. */
interface Sighting {
  readonly lease: LeaseReader;
  sequence: number;
  sinceMs: number;
}

export class Claims {
  readonly #options: ClaimsOptions;
  readonly #refusals = new BehaviorSubject<Refusals | undefined>(undefined);
  /** The last observations of the hubs that own an ID that this hub wants, keyed by hub name. */
  readonly #sightings = new Map<string, Sighting>();
  #askedMs = 0;
  /** The list that was last read or written, as a map. */
  #list: ReadonlyMap<string, string> | undefined;
  /** The stored value that was last read or written, with its sequence. */
  #stored: Held<ClaimList> = { sequence: 0, value: undefined };
  /** The time until which another hub may have owned this hub's IDs, because nothing was stored, in milliseconds. */
  #newUntilMs = Number.NEGATIVE_INFINITY;
  /** The times at which another hub began to claim an ID of this hub, in milliseconds, keyed by Connection ID. */
  readonly #disputedSinceMs = new Map<string, number>();
  /** The time at which this hub last knew its IDs, or at which it could first have read the list, in milliseconds. */
  #knownMs: number;
  /** The reason why this hub may not use the IDs that the list assigns to it; undefined if it may use these IDs. */
  #yieldReason: string | undefined;
  #owners: ReadonlyMap<string, string> = new Map();
  readonly #claimed = new Subject<void>();
  /** Emits after `owners` has changed. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly claimed$: Observable<void> = this.#claimed.asObservable();
  readonly #pause: Pause;
  #working: Promise<void> | undefined;
  #hasEnded = false;
  /** The number of reads without a pause, and the time at which counting began, in milliseconds. */
  #hurries = 0;
  #hurriesSinceMs = Number.NEGATIVE_INFINITY;

  constructor(options: ClaimsOptions) {
    this.#options = options;
    this.#pause = new Pause(options.clock);
    this.#knownMs = options.clock.now();
  }

  /** The owner of each Connection ID: for IDs in the list as last read, and for other IDs as far as this hub knows. */
  get owners(): ReadonlyMap<string, string> {
    return this.#owners;
  }

  #setOwners(owners: ReadonlyMap<string, string>): void {
    const before = this.#owners;
    this.#owners = owners;
    const isSame = owners.size === before.size && [...owners].every(([id, hub]) => before.get(id) === hub);
    if (!isSame) this.#claimed.next();
  }

  /**
   * Emits the refusals, including when this hub has gained IDs; undefined while the claims are not known yet. Hot, replays last,
   * synchronous, never completes, never errors.
   */
  get refusals$(): Observable<Refusals | undefined> {
    return this.#refusals.asObservable();
  }

  get refusals(): Refusals | undefined {
    return this.#refusals.value;
  }

  /**
   * Returns the reason why this hub may not own a connection, or undefined if it may. The result is also valid if this hub did not want the
   * connection yet when the list was read.
   */
  refusalOf(id: string): Refusal | undefined {
    const { hub } = this.#options;
    const owner = this.owners.get(id);
    if (owner === hub && this.#yieldReason !== undefined) return { holder: hub, reason: this.#yieldReason };
    return this.refusals?.get(id) ?? this.#takenOf(id);
  }

  #takenOf(id: string): Refusal | undefined {
    const owner = this.owners.get(id);
    return owner === undefined || owner === this.#options.hub ? undefined : takenBy(owner, id);
  }

  /** Returns `refusals`, including refusals of IDs that this hub has wanted only since the list was read. */
  expectedRefusals(): Refusals {
    return this.#wantedBy((id) => this.refusalOf(id));
  }

  /**
   * Returns the connections that this hub must not start before the claims are known, according to the list or to reports from other hubs.
   */
  reportedRefusals(): Refusals {
    const { hub, reportedOwners } = this.#options;
    const others = reportedOwners();
    return this.#wantedBy((id) => {
      const owner = this.owners.get(id) ?? others.get(id) ?? hub;
      return owner === hub ? undefined : takenBy(owner, id);
    });
  }

  #wantedBy(refusalOf: (id: string) => Refusal | undefined): Refusals {
    const all = [...this.#options.wanted()].map((id) => [id, refusalOf(id)] as const);
    return new Map(all.flatMap(([id, refusal]) => (refusal === undefined ? [] : [[id, refusal]])));
  }

  /**
   * Leaves this hub's IDs in the list to another hub with the same name, and claims no IDs until `start` is called. Resolves when the list
   * has been read or cannot be read. Never rejects.
   */
  async yield(reason: string): Promise<void> {
    this.#yieldReason = reason;
    try {
      const { value: list = {} } = await this.#options.register.read();
      this.#setOwners(new Map(Object.entries(list)));
      if (!this.#hasEnded) this.#refusals.next(this.expectedRefusals());
    } catch {} // in this case, the other hub's connections are unknown
  }

  /** Claims the wanted IDs as soon as this hub may do so. */
  start(): void {
    this.#yieldReason = undefined;
    this.hurry();
    this.#presume();
  }

  /** Adopts the list as last read or written. This hub now owns the IDs of the other hub with its name. */
  inherit(): void {
    if (this.#list !== undefined) this.#refusals.next(this.#wantedBy((id) => this.#takenOf(id)));
  }

  /** Starts or continues to read the list, because the network is now available. */
  read(): void {
    this.#knownMs = this.#options.clock.now();
    this.hurry();
    this.#working ??= this.#work();
  }

  /** Reads the list immediately. If a read is in progress, reads the list once more afterwards. */
  hurry(): void {
    this.#pause.wake();
  }

  /** Stops all requests. The hub keeps its IDs for as long as it keeps its lease. */
  stop(): void {
    this.#hasEnded = true;
    this.#pause.wake();
  }

  async #work(): Promise<void> {
    while (!this.#hasEnded) {
      this.#pause.forget();
      const claimed = await this.#claim().catch(() => 'unknown' as const);
      if (claimed === 'unknown') this.#presume();
      else this.#knownMs = this.#options.clock.now();
      if (claimed === 'outrun' || this.#pause.isWoken || this.#hasEnded) {
        await this.#pauseIfBusy();
        continue;
      }
      const isCalm = claimed === 'read' || (claimed === 'claimed' && this.refusals?.size === 0);
      const isNew = this.refusals === undefined && !this.#isUnanswered;
      await this.#pause.for(isCalm ? calmLookMs : isNew ? retryMs : lookMs);
    }
  }

  /** Waits if changes arrive too fast, so that a hub that keeps changing the list causes only a limited number of reads. */
  async #pauseIfBusy(): Promise<void> {
    const { clock } = this.#options;
    const nowMs = clock.now();
    if (nowMs - this.#hurriesSinceMs >= lookMs) {
      this.#hurriesSinceMs = nowMs;
      this.#hurries = 0;
    }
    if (++this.#hurries > freeHurries && !this.#hasEnded) await new Pause(clock).for(hurryPauseMs);
  }

  get #isUnanswered(): boolean {
    return this.#options.clock.now() - this.#knownMs >= longestWaitMs;
  }

  /**
   * Uses the last known list if no server has answered for too long. This hub then owns an ID that is not in the list if it owned the ID
   * before or if no other hub reports the ID.
   */
  #presume(): void {
    const { hub, wanted, reportedOwners } = this.#options;
    if (this.#hasEnded || !this.#isUnanswered || !this.#mayClaim()) return;
    const ids = [...wanted()];
    const isOwn = (id: string) => this.owners.get(id) === hub;
    const isKnown = ids.every((id) => isOwn(id) || this.#list?.has(id));
    const others = isKnown ? undefined : reportedOwners();
    const ownerOf = (id: string) => this.#list?.get(id) ?? (isOwn(id) ? hub : (others?.get(id) ?? hub));
    const owners = new Map(ids.map((id) => [id, ownerOf(id)] as const));
    const hasMore = [...owners].some(([id, owner]) => owner === hub && !isOwn(id));
    this.#setOwners(new Map([...this.owners, ...owners]));
    const refusals = this.#wantedBy((id) => this.#takenOf(id));
    if (hasMore || !areSame(refusals, this.refusals)) this.#refusals.next(refusals);
  }

  #mayClaim(): boolean {
    return this.#yieldReason === undefined && this.#options.mayClaim();
  }

  /**
   * Reads the list and writes the IDs that this hub wants. Resolves to *disputed* if the owner of an ID is not clear yet, to *read* if this
   * hub may not write, or to *outrun* if another hub has written the list in the meantime.
   */
  async #claim(): Promise<'claimed' | 'disputed' | 'read' | 'outrun'> {
    const { register, hub, wanted, clock } = this.#options;
    const askedMs = clock.now();
    const stored = await register.read();
    const { sequence, value } = stored;
    const isTrusted = !this.#options.isOpen();
    const isLost = isTrusted && isOlder(stored, this.#stored);
    this.#stored = stored;
    if (isTrusted && (isLost || sequence === 0)) this.#newUntilMs = clock.now() + newMs;
    const own = isLost ? this.#listed() : this.#ownOf(askedMs);
    // if no valid value is stored, the known list is used
    const known = value === undefined || isLost ? Object.fromEntries(this.#list ?? []) : {};
    const before = this.#list;
    this.#list = new Map(Object.entries({ ...known, ...value }));
    if (!this.#mayClaim()) {
      this.#setOwners(this.#list);
      return 'read';
    }
    const owners = new Map(this.#list);
    const ids = new Set(wanted());
    const { kept, disputed } = this.#settle(own, isLost ? new Map() : owners);
    for (const id of kept) if (ids.has(id)) owners.set(id, hub);
    const refusals = new Map<string, Refusal>();
    for (const [id, owner] of owners) if (owner === hub && !ids.has(id)) owners.delete(id);
    const rivals = new Set([...ids].flatMap((id) => owners.get(id) ?? hub).filter((owner) => owner !== hub));
    const gone = await this.#goneOf(rivals);
    for (const id of ids) {
      const owner = owners.get(id) ?? hub;
      if (disputed.has(id)) continue;
      if (owner !== hub && !gone.has(owner)) refusals.set(id, takenBy(owner, id));
      else if (owners.has(id) || owners.size < maxClaims) owners.set(id, hub);
      else refusals.set(id, { holder: hub, reason: tooManyClaims });
    }
    const held = value ?? {};
    const isSame = owners.size === Object.keys(held).length && [...owners].every(([id, owner]) => held[id] === owner);
    if (!this.#mayClaim()) return 'outrun';
    if (!isSame) {
      const list = Object.fromEntries(owners);
      const written = await register.replace(list, sequence);
      if (written === undefined) {
        this.#list = before; // otherwise, the second read would trust a list that another hub keeps writing
        return 'outrun';
      }
      this.#stored = { sequence: written, value: list };
    }
    for (const id of disputed) owners.set(id, hub); // until the owner is known
    const hasMore = [...ids].some((id) => owners.get(id) === hub && this.owners.get(id) !== hub);
    this.#list = owners;
    this.#setOwners(owners);
    if (!this.#hasEnded && (hasMore || !areSame(refusals, this.refusals))) this.#refusals.next(refusals);
    return disputed.size > 0 ? 'disputed' : 'claimed';
  }

  /**
   * Returns the last known IDs of this hub, provided that no other hub can have taken them: this hub has renewed its lease since then, and
   * when it sent the request, it had not been silent for as long as other hubs wait. A late answer counts while the lease is held. A list
   * that contradicts these IDs is not trusted.
   */
  #ownOf(askedMs: number): string[] {
    return this.#options.holdsLease() && askedMs - this.#knownMs < goneMs ? this.#listed() : [];
  }

  /**
   * Decides which of its IDs this hub keeps. Shortly after the list was empty, another hub that claims some of these IDs may have owned
   * them before the servers lost the list. That hub gets the IDs that it reports within a limited time, and this hub takes back the
   * remaining IDs.
   */
  #settle(own: readonly string[], owners: ReadonlyMap<string, string>) {
    const { hub, reportedOwners, clock } = this.#options;
    const nowMs = clock.now();
    if (nowMs >= this.#newUntilMs) this.#disputedSinceMs.clear();
    const kept = new Set<string>();
    const disputed = new Set<string>();
    for (const id of own) {
      const owner = owners.get(id) ?? hub;
      const sinceMs = this.#disputedSinceMs.get(id) ?? nowMs;
      if (owner === hub || nowMs >= this.#newUntilMs || nowMs - sinceMs >= disputeMs) kept.add(id);
      else if (reportedOwners().get(id) !== owner) {
        this.#disputedSinceMs.set(id, sinceMs);
        disputed.add(id);
      }
    }
    return { kept, disputed };
  }

  /** Returns the IDs that the list assigns to this hub. */
  #listed(): string[] {
    return [...(this.#list ?? [])].flatMap(([id, owner]) => (owner === this.#options.hub ? id : []));
  }

  /** Resolves to the names of the hubs that have shut down or are no longer connected. */
  async #goneOf(hubs: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const { leaseOf, hasNoTerm, clock } = this.#options;
    const hasMissed = clock.now() - this.#askedMs > 3 * lookMs; // no answers, or this hub was suspended, so its observations are too old
    this.#askedMs = clock.now();
    if (hasMissed) this.#sightings.clear();
    for (const hub of this.#sightings.keys()) if (!hubs.has(hub)) this.#sightings.delete(hub);
    const gone = new Set<string>();
    const look = async (hub: string) => {
      const sighting = this.#sightings.get(hub) ?? { lease: leaseOf(hub), sequence: -1, sinceMs: 0 };
      this.#sightings.set(hub, sighting);
      const held = await sighting.lease.read().catch(() => undefined);
      if (held === undefined) {
        this.#sightings.delete(hub); // a hub cannot renew a lease that cannot be read
        return;
      }
      const { sequence, value } = held;
      if (sequence !== sighting.sequence) Object.assign(sighting, { sequence, sinceMs: clock.now() });
      // an empty register says nothing about the holder of the lease, which will take the lease again
      const isOver = value?.isReleased === true || clock.now() - sighting.sinceMs >= goneMs;
      if (isOver && !hasNoTerm(hub)) gone.add(hub);
    };
    await Promise.all([...hubs].map(look));
    return gone;
  }
}

/** Returns whether a stored value cannot be later than another value. In this case, the servers have lost the other value. */
function isOlder(one: Held<ClaimList>, other: Held<ClaimList>): boolean {
  if (one.sequence !== other.sequence) return one.sequence < other.sequence;
  return JSON.stringify(one.value) !== JSON.stringify(other.value);
}

function takenBy(holder: string, id: string): Refusal {
  return { holder, reason: `hub "${holder}" also has a connection "${id}"` };
}

function areSame(one: Refusals, other: Refusals | undefined): boolean {
  return (
    other !== undefined &&
    one.size === other.size &&
    [...one].every(([id, { reason }]) => other.get(id)?.reason === reason)
  );
}

/** The Connection IDs that a hub wants: those of its connections that share a parameter. */
export interface Wanted {
  /** Returns the IDs that are currently wanted. */
  ids(): ReadonlySet<string>;
  /** Returns whether a connection that is not a gateway shares a parameter, even while the connection is being started. */
  isShared(id: string): boolean;
  stop(): void;
}

/** Tracks which connections share a parameter. Calls `onChange` after parameters have been added or removed. */
export function createWanted(hub: HubPort, isShared: (address: string) => boolean, onChange: () => void): Wanted {
  let known: ReadonlySet<string> | undefined;
  const next = () => {
    if (known === undefined) return;
    known = undefined;
    onChange();
  };
  const following = new Subscription();
  following.add(merge(hub.declared$, hub.removed$).subscribe({ next, error: () => {} }));
  return {
    ids: () => {
      known ??= find(hub, isShared);
      return known;
    },
    isShared: (id) => [...hub.parameters()].some((one) => connectionIdOf(one.address) === id && isShared(one.address)),
    stop: () => following.unsubscribe(),
  };
}

function find(hub: HubPort, isShared: (address: string) => boolean): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const parameter of hub.parameters()) {
    const { address } = parameter;
    const id = connectionIdOf(address);
    if (!ids.has(id) && !hub.mirroring.isLocal(id) && isShared(address)) ids.add(id);
  }
  return ids;
}
