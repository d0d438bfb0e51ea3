// All other hubs of the domain, as this one mirrors them.

import { type SchedulerLike, type Subject, Subscription } from 'rxjs';
import type { Parameter } from '../../../model/parameter.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import { type HubName, hubOf, subjectOfAll } from '../link/subjects.ts';
import type { Message, Transport } from '../link/transport.ts';
import type { Ownership } from '../ownership/ownership.ts';
import { readTold, type Told } from '../wire/messages.ts';
import { MirroredHub } from './mirrored-hub.ts';
import { RemoteWrites } from './remote-writes.ts';
import { tellReceipts } from './stand-by.ts';

/** How many hubs are mirrored; past that the one that has been stale for longest goes, and if none is, the new one is left out. */
const maxHubs = 256;
/** When nothing comes over the subscription for so long, although the link is there, it is made anew. */
const silentMs = 2000;

export interface MirrorsContext {
  readonly hub: Pick<HubPort, 'epoch' | 'find' | 'turn' | 'mirroring' | 'declared$' | 'removed$'>;
  readonly name: HubName;
  readonly ownership: Ownership;
  readonly isSelected: (address: string) => boolean;
  /** Is told when another hub of the name of this one is heard of, also one that this one does not mirror. */
  readonly namesake$: Pick<Subject<Told>, 'next'>;
  readonly scheduler: SchedulerLike;
  readonly timeOfDay: () => number;
  readonly log: Log;
}

export class Mirrors {
  readonly #context: MirrorsContext;
  readonly #writes: RemoteWrites;
  readonly #hubs = new Map<string, MirroredHub>();
  readonly #running = new Subscription();
  #transport: Transport | undefined;
  #unsubscribe = () => {};
  #endReceipts = () => {};
  #heardAtMs = 0;

  constructor(context: MirrorsContext) {
    const { scheduler, name, ownership, hub } = context;
    this.#context = context;
    this.#writes = new RemoteWrites(name, scheduler);
    const look = () => this.#look();
    this.#running.add(
      scheduler.schedule(function () {
        this.schedule(undefined, look());
      }, silentMs),
    );
    const follow = { next: () => this.#own(), error: () => {} };
    this.#running.add(ownership.changed$.subscribe(follow));
    this.#running.add(hub.removed$.subscribe({ next: (parameter) => this.#makeRoom(parameter), error: () => {} }));
    this.#running.add(hub.declared$.subscribe({ next: (parameter) => this.#entrust(parameter), error: () => {} }));
  }

  hubs(): Iterable<MirroredHub> {
    return this.#hubs.values();
  }

  /** Which hub has each connection, by Connection ID, of the others that were heard of in the last `withinMs`. */
  owners(withinMs: number): ReadonlyMap<string, string> {
    const others = [...this.#hubs.values()].filter(
      ({ hub, lagMs }) => lagMs < withinMs && hub !== this.#context.name.hub,
    );
    return new Map(others.flatMap((one) => [...one.connections()].map((id) => [id, one.hub] as const)));
  }

  attach(transport: Transport): void {
    const { name, ownership } = this.#context;
    this.#transport = transport;
    this.#subscribe(transport);
    this.#endReceipts = tellReceipts(transport, name, ownership, () => this.#hubs.get(name.hub)?.receipt ?? null);
    for (const hub of this.#hubs.values()) hub.attach(transport);
  }

  detach(): void {
    this.#unsubscribe();
    this.#endReceipts();
    this.#transport = undefined;
    for (const hub of this.#hubs.values()) hub.attach(undefined);
  }

  stop(): void {
    this.detach();
    this.#running.unsubscribe();
    for (const hub of this.#hubs.values()) hub.end();
    this.#hubs.clear();
  }

  #subscribe(transport: Transport): void {
    this.#unsubscribe();
    this.#heardAtMs = this.#context.scheduler.now();
    const subject = subjectOfAll(this.#context.name.domain, 'turns');
    this.#unsubscribe = transport.subscribe(subject, (message) => this.#take(message));
  }

  #take({ data, subject }: Message): void {
    this.#heardAtMs = this.#context.scheduler.now();
    const teller = hubOf(subject);
    let told: Told;
    try {
      told = readTold(data);
    } catch {
      this.#hubs.get(teller)?.mistrust('a message is no JSON of the right shape');
      return;
    }
    if (told.hub !== teller) {
      // what servers permit a hub is its own subject: nothing else tells whose a message is
      this.#hubs.get(teller)?.mistrust(`a message is said to be of hub "${told.hub}"`);
      return;
    }
    const { hub, name, namesake$ } = this.#context;
    if (told.epoch.startsWith(hub.epoch)) return;
    if (teller === name.hub) namesake$.next(told);
    this.#hubOf(teller)?.take(told);
  }

  #hubOf(name: string): MirroredHub | undefined {
    const known = this.#hubs.get(name);
    if (known !== undefined) return known;
    const { name: own, ownership, hub, isSelected, scheduler, timeOfDay, log } = this.#context;
    const isOwn = name === own.hub;
    if (isOwn && ownership.isHolder) return undefined;
    if (this.#hubs.size >= maxHubs && !this.#forgetStalest()) {
      log.warn({ hub: name }, `hub "${name}" is not mirrored: there are ${maxHubs} others`, 'too many hubs');
      return undefined;
    }
    const mirrored = new MirroredHub({
      hub,
      owner: { domain: own.domain, hub: name },
      isOwn,
      isSelected: isOwn ? () => true : isSelected,
      writes: this.#writes,
      scheduler,
      timeOfDay,
      log,
    });
    mirrored.attach(this.#transport);
    this.#hubs.set(name, mirrored);
    return mirrored;
  }

  #forgetStalest(): boolean {
    const [stalest] = [...this.#hubs.values()]
      .filter(({ staleSince }) => staleSince !== undefined)
      .sort((one, other) => one.staleSince! - other.staleSince!);
    if (stalest === undefined) return false;
    stalest.end();
    return this.#hubs.delete(stalest.hub);
  }

  /** A hub that holds its own name mirrors no other of that name. */
  #own(): void {
    const { ownership, name } = this.#context;
    if (!ownership.isHolder) return;
    this.#hubs.get(name.hub)?.end();
    this.#hubs.delete(name.hub);
  }

  /**
   * A parameter is gone: that of another hub may be shown in its place. Of its own hub it may be shown no longer, since this hub has come
   * to have it for itself, or a third one has.
   */
  #makeRoom({ address, remote }: Parameter): void {
    if (remote instanceof MirroredHub) remote.lookAgain();
    for (const hub of this.#hubs.values()) if (hub.hides(address)) hub.lookAgain();
  }

  /** What a hub has that is not heard of any more another one may have by now. */
  #replace(stale: MirroredHub): void {
    for (const hub of this.#hubs.values()) if (hub !== stale && hub.isHiddenBy(stale)) hub.lookAgain();
  }

  /** This hub has come to declare a parameter: while it stands by, it is that of the hub which runs the same connections. */
  #entrust({ remote }: Parameter): void {
    if (remote === undefined) this.#hubs.get(this.#context.name.hub)?.lookAgain();
  }

  /** Looks who is not heard of any more; returns in how many milliseconds the next one may be, which is all that wakes an idle hub here. */
  #look(): number {
    const transport = this.#transport;
    const nowMs = this.#context.scheduler.now();
    if (nowMs - this.#heardAtMs >= silentMs) {
      this.#heardAtMs = nowMs;
      if (transport !== undefined && this.#hubs.size > 0) this.#subscribe(transport);
    }
    let nextMs = this.#heardAtMs + silentMs;
    for (const hub of this.#hubs.values()) {
      if (hub.look()) this.#replace(hub);
      nextMs = Math.min(nextMs, hub.staleAtMs);
    }
    return Math.max(1, Math.ceil(nextMs - nowMs));
  }
}
