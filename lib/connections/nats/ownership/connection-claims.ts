// Which hub of a domain has which Connection ID: one list for all hubs. A hub that wants an ID which another one has asks again and
// again, and gets it when that hub has given it up, ended, or is not heard of any more. While the list cannot be read, a hub goes by what
// it said last; of what is not in it, it has what no other hub is heard to have. Servers that have lost the list get it back from those
// who knew it.

import { BehaviorSubject, merge, type Observable, type SchedulerLike, Subject, Subscription } from 'rxjs';
import { connectionIdMistake, connectionIdOf } from '../../../model/address.ts';
import { describe } from '../../../model/error.ts';
import { isJsonObject } from '../../../model/json-object.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import type { HubPort } from '../../hub-port.ts';
import { type LeaseRecord, leaseTimes } from '../lease/lease-record.ts';
import type { Held, Register } from '../lease/register.ts';
import { isHubName } from '../wire/causes.ts';

/** How often a hub looks that wants what it does not have, or does not know. */
const lookMs = 1000;
/** How often any other one looks: it hears of changes, and nobody takes what it has within `goneMs`. */
const calmLookMs = 5000;
/** How soon it looks again while it knows nothing yet. */
const retryMs = 200;
/** How often a second it looks at once when it hears of a change; beyond, after a pause. */
const freeHurries = 20;
const hurryPauseMs = 50;
/** A list that could not be read for so long is not waited for. */
export const longestWaitMs = 2000;
/** A hub whose lease nobody has renewed for this long has nothing any more; a standby has taken it by then. */
export const goneMs = 2 * leaseTimes.expiryMs;
/** So long after nothing was stored another hub may come back that had something; by then each has looked a few times. */
const newMs = 4 * calmLookMs;
/** So long it may take until that one is heard to have it. */
const disputeMs = 4000;
/** How many Connection IDs a domain may have: the list of them is one message. */
const maxClaims = 5000;
const tooManyClaims = `expected at most ${maxClaims} connections in the domain, this is one more`;

/** What the cell of a domain holds: hub by Connection ID. */
export type ClaimList = Readonly<Record<string, string>>;

/** Reads what the cell holds. Errors: it is no list of claims. */
export function parseClaims(data: unknown): ClaimList {
  if (!isJsonObject(data)) throw new Error('expected an object of hubs by Connection ID');
  const claims = Object.entries(data);
  if (claims.length > maxClaims) throw new Error(`expected at most ${maxClaims} connections, got ${claims.length}`);
  for (const [id, hub] of claims)
    if (connectionIdMistake(id) !== undefined || !isHubName(hub))
      throw new Error(`expected the name of a hub for each Connection ID, got ${describe(hub)} for ${describe(id)}`);
  return data as ClaimList;
}

/** Which hub has a connection, or would have it, and why this one does not. */
interface Refusal {
  readonly holder: string;
  readonly reason: string;
}

/** The connections that this hub wants and does not have, by Connection ID. */
export type Refusals = ReadonlyMap<string, Refusal>;

type LeaseReader = Pick<Register<LeaseRecord>, 'read'>;

interface ClaimsOptions {
  readonly hub: string;
  readonly register: Register<ClaimList>;
  /** The lease of a hub, which is only read. */
  readonly leaseOf: (hub: string) => LeaseReader;
  readonly clock: SchedulerLike;
  /** The Connection IDs that this hub wants, at this moment. */
  readonly wanted: () => Iterable<string>;
  /** Whether this hub may claim anything at this moment; one that stands by only reads. */
  readonly mayClaim: () => boolean;
  /** Which other hub is heard to have each Connection ID. */
  readonly heard: () => ReadonlyMap<string, string>;
  /** Whether a hub is heard of that goes by its name in no term: what its lease says is about an earlier run of it. */
  readonly hasNoTerm: (hub: string) => boolean;
  /** Whether this hub holds the lease on its name at this moment: then nobody else may have taken what it has. */
  readonly holdsLease: () => boolean;
  /** Whether anybody can write the list: then no claim of another hub is believed against what this hub has. */
  readonly isOpen: () => boolean;
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
  /** The list as it was read or written last. */
  #list: ReadonlyMap<string, string> | undefined;
  /** What was stored then. */
  #stored: Held<ClaimList> = { sequence: 0, value: undefined };
  /** Until then another hub may have had what this one has, as nothing was stored. */
  #newUntilMs = Number.NEGATIVE_INFINITY;
  /** Since when another hub has claimed what is this hub's, in that time. */
  readonly #disputedSinceMs = new Map<string, number>();
  /** When this hub last knew what it has, or could first have asked. */
  #knownMs: number;
  /** Why this hub may not have what the list says it has; undefined: it may. */
  #yields: string | undefined;
  #owners: ReadonlyMap<string, string> = new Map();
  readonly #claimed = new Subject<void>();
  /** Emits after `owners` are others. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly claimed$: Observable<void> = this.#claimed.asObservable();
  readonly #pause: Pause;
  #working: Promise<void> | undefined;
  #hasEnded = false;
  /** How often it has looked without a pause, and since when that is counted. */
  #hurries = 0;
  #hurriesSinceMs = Number.NEGATIVE_INFINITY;

  constructor(options: ClaimsOptions) {
    this.#options = options;
    this.#pause = new Pause(options.clock);
    this.#knownMs = options.clock.now();
  }

  /** Which hub had each Connection ID when the list was read last, and has what is not in it as far as this hub knows. */
  get owners(): ReadonlyMap<string, string> {
    return this.#owners;
  }

  #setOwners(owners: ReadonlyMap<string, string>): void {
    const before = this.#owners;
    this.#owners = owners;
    const isSame = owners.size === before.size && [...owners].every(([id, hub]) => before.get(id) === hub);
    if (!isSame) this.#claimed.next();
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
    return this.refusals?.get(id) ?? this.#takenOf(id);
  }

  #takenOf(id: string): Refusal | undefined {
    const owner = this.owners.get(id);
    return owner === undefined || owner === this.#options.hub ? undefined : takenBy(owner, id);
  }

  /** As `refusals`, also with what this hub has come to want since the list was read. */
  expectedRefusals(): Refusals {
    return this.#wantedBy((id) => this.refusalOf(id));
  }

  /** What this hub is not to start when it starts something before anybody has said who has what: by the list, or what is heard. */
  heardRefusals(): Refusals {
    const { hub, heard } = this.#options;
    const others = heard();
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
   * Leaves what the list has to another hub of this name, and claims nothing until it is started again. Resolves once the list was read,
   * or cannot be. Never rejects.
   */
  async yield(reason: string): Promise<void> {
    this.#yields = reason;
    try {
      const { value: list = {} } = await this.#options.register.read();
      this.#setOwners(new Map(Object.entries(list)));
      if (!this.#hasEnded) this.#refusals.next(this.expectedRefusals());
    } catch {} // then nobody knows what the other one has
  }

  /** Claims what this hub wants as soon as it may. */
  start(): void {
    this.#yields = undefined;
    this.hurry();
    this.#presume();
  }

  /** Goes by the list as it was read or written last: what a hub of this name had in it this one has. */
  inherit(): void {
    if (this.#list !== undefined) this.#refusals.next(this.#wantedBy((id) => this.#takenOf(id)));
  }

  /** Begins to read the list, or goes on, as there is a network from now on. */
  read(): void {
    this.#knownMs = this.#options.clock.now();
    this.hurry();
    this.#working ??= this.#work();
  }

  /** Looks without a pause, once more where it looks at the moment. */
  hurry(): void {
    this.#pause.wake();
  }

  /** Asks for nothing any more. What the hub has stays its own for as long as its lease does. */
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
        await this.#breathe();
        continue;
      }
      const isCalm = claimed === 'read' || (claimed === 'claimed' && this.refusals?.size === 0);
      const isNew = this.refusals === undefined && !this.#isUnanswered;
      await this.#pause.for(isCalm ? calmLookMs : isNew ? retryMs : lookMs);
    }
  }

  /** Whoever changes the list all the time has this hub look only so often. */
  async #breathe(): Promise<void> {
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
   * Where nobody has answered for too long: goes by the list as it was read or written last. What is not in it is this hub's if it was
   * before, or if no other one is heard to have it.
   */
  #presume(): void {
    const { hub, wanted, heard } = this.#options;
    if (this.#hasEnded || !this.#isUnanswered || !this.#mayClaim()) return;
    const ids = [...wanted()];
    const isOwn = (id: string) => this.owners.get(id) === hub;
    const isKnown = ids.every((id) => isOwn(id) || this.#list?.has(id));
    const others = isKnown ? undefined : heard();
    const ownerOf = (id: string) => this.#list?.get(id) ?? (isOwn(id) ? hub : (others?.get(id) ?? hub));
    const owners = new Map(ids.map((id) => [id, ownerOf(id)] as const));
    const hasMore = [...owners].some(([id, owner]) => owner === hub && !isOwn(id));
    this.#setOwners(new Map([...this.owners, ...owners]));
    const refusals = this.#wantedBy((id) => this.#takenOf(id));
    if (hasMore || !areSame(refusals, this.refusals)) this.#refusals.next(refusals);
  }

  #mayClaim(): boolean {
    return this.#yields === undefined && this.#options.mayClaim();
  }

  /** Reads the list and writes what this hub wants; *disputed*: who has all of it is not clear yet; *read*: it may not; *outrun*: somebody else has written meanwhile. */
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
    // where nothing is stored, or what makes no sense, it goes by what it knows
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
        this.#list = before; // else what somebody goes on writing would be believed at the second look
        return 'outrun';
      }
      this.#stored = { sequence: written, value: list };
    }
    for (const id of disputed) owners.set(id, hub); // until it is known who has it
    const hasMore = [...ids].some((id) => owners.get(id) === hub && this.owners.get(id) !== hub);
    this.#list = owners;
    this.#setOwners(owners);
    if (!this.#hasEnded && (hasMore || !areSame(refusals, this.refusals))) this.#refusals.next(refusals);
    return disputed.size > 0 ? 'disputed' : 'claimed';
  }

  /**
   * What this hub had when it last knew: nobody may take that from who has renewed its lease since, and has not been away for as long as others
   * wait when it asks: an answer that is late counts as long as the lease is held. Whoever has written otherwise is not believed.
   */
  #ownOf(askedMs: number): string[] {
    return this.#options.holdsLease() && askedMs - this.#knownMs < goneMs ? this.#listed() : [];
  }

  /**
   * What this hub keeps of its own. Where nothing was stored a short time ago, another hub that claims some of it may have had it before the
   * servers lost the list: it gets what it is heard to have in some time, and this hub takes back the rest.
   */
  #settle(own: readonly string[], owners: ReadonlyMap<string, string>) {
    const { hub, heard, clock } = this.#options;
    const nowMs = clock.now();
    if (nowMs >= this.#newUntilMs) this.#disputedSinceMs.clear();
    const kept = new Set<string>();
    const disputed = new Set<string>();
    for (const id of own) {
      const owner = owners.get(id) ?? hub;
      const sinceMs = this.#disputedSinceMs.get(id) ?? nowMs;
      if (owner === hub || nowMs >= this.#newUntilMs || nowMs - sinceMs >= disputeMs) kept.add(id);
      else if (heard().get(id) !== owner) {
        this.#disputedSinceMs.set(id, sinceMs);
        disputed.add(id);
      }
    }
    return { kept, disputed };
  }

  /** What the list said this hub had. */
  #listed(): string[] {
    return [...(this.#list ?? [])].flatMap(([id, owner]) => (owner === this.#options.hub ? id : []));
  }

  /** Those hubs that have ended, or are not heard of any more. */
  async #goneOf(hubs: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const { leaseOf, hasNoTerm, clock } = this.#options;
    const hasMissed = clock.now() - this.#askedMs > 3 * lookMs; // no answers, or this hub was stopped: what it saw is too old
    this.#askedMs = clock.now();
    if (hasMissed) this.#sightings.clear();
    for (const hub of this.#sightings.keys()) if (!hubs.has(hub)) this.#sightings.delete(hub);
    const gone = new Set<string>();
    const look = async (hub: string) => {
      const sighting = this.#sightings.get(hub) ?? { lease: leaseOf(hub), sequence: -1, sinceMs: 0 };
      this.#sightings.set(hub, sighting);
      const held = await sighting.lease.read().catch(() => undefined);
      if (held === undefined) {
        this.#sightings.delete(hub); // it cannot renew what nobody can read
        return;
      }
      const { sequence, value } = held;
      if (sequence !== sighting.sequence) Object.assign(sighting, { sequence, sinceMs: clock.now() });
      // servers that have lost its lease say nothing of whether it is there: it takes the lease anew
      const isOver = value?.isReleased === true || clock.now() - sighting.sinceMs >= goneMs;
      if (isOver && !hasNoTerm(hub)) gone.add(hub);
    };
    await Promise.all([...hubs].map(look));
    return gone;
  }
}

/** Whether something stored cannot have come after something else, so the servers have lost that. */
function isOlder(one: Held<ClaimList>, other: Held<ClaimList>): boolean {
  if (one.sequence !== other.sequence) return one.sequence < other.sequence;
  return JSON.stringify(one.value) !== JSON.stringify(other.value);
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

/** Which Connection IDs a hub wants for itself: those of its connections that share a parameter. */
export interface Wanted {
  /** The IDs at this moment. */
  ids(): ReadonlySet<string>;
  /** Whether a connection that is no gateway shares a parameter, also while it is being started. */
  isShared(id: string): boolean;
  stop(): void;
}

/** Finds out which connections share a parameter, anew after parameters were added or taken out; `onChange` is told then. */
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
