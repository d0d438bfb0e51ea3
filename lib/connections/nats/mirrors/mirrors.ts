// Mirrors all other hubs in the domain.

import { type SchedulerLike, type Subject, Subscription } from 'rxjs';
import { messageOf } from '../../../model/error.ts';
import type { Parameter } from '../../../model/parameter.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Intake, Steps } from '../link/nats-intake.ts';
import { type HubName, hubOf, subjectOf, subjectOfAll } from '../link/subjects.ts';
import type { Message, Transport } from '../link/transport.ts';
import type { Ownership } from '../ownership/ownership.ts';
import { isHubName } from '../wire/causes.ts';
import { type HubReport, type Receipt, readHubReport } from '../wire/domain-messages.ts';
import { Bounds } from './mirror-bounds.ts';
import { MirroredHub } from './mirrored-hub.ts';
import { RemoteWrites } from './remote-writes.ts';

/**
 * The maximum number of mirrored hubs. Beyond this number, the hub that has been stale for the longest time is dropped. If no hub is stale,
 * the new hub is dropped.
 */
const maxHubs = 256;
/** The time without messages after which the subscription is renewed although the link is up, in milliseconds. */
const silentMs = 2000;
/** The maximum number of unknown hubs that are added within a second. Messages from further unknown hubs are dropped. */
const newHubsPerSecond = 50;
/** The maximum number of leases that are read at the same time for hubs that have never been mirrored and may not exist. */
const maxLeaseReads = 8;
/** The interval at which the log reports invalid messages, in milliseconds. Composing a log entry takes longer than dropping a message. */
const reportEveryMs = 1000;

interface MirrorsContext {
  readonly hub: Pick<HubPort, 'epoch' | 'find' | 'turn' | 'mirroring' | 'declared$' | 'removed$'>;
  readonly name: HubName;
  readonly ownership: Ownership;
  readonly isSelected: (address: string) => boolean;
  /** The maximum number of parameters that are shown for each other hub. */
  readonly maxParameters: number;
  readonly intake: Intake;
  /** Receives the reports from another hub with this hub's name, even if this hub does not mirror that hub. */
  readonly namesake$: Pick<Subject<HubReport>, 'next'>;
  readonly scheduler: SchedulerLike;
  readonly timeOfDay: () => number;
  readonly log: Log;
}

export class Mirrors {
  readonly #context: MirrorsContext;
  readonly #writes: RemoteWrites;
  readonly #bounds: Bounds;
  readonly #hubs = new Map<string, MirroredHub>();
  readonly #running = new Subscription();
  #transport: Transport | undefined;
  #unsubscribe = () => {};
  #endReceipts = () => {};
  #receivedAtMs = 0;
  /** The number of hubs added in the current second, and the time at which this second began, in milliseconds. */
  #newHubs = 0;
  #newHubsSinceMs = Number.NEGATIVE_INFINITY;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  /** The number of leases that are currently being read for hubs that have never been mirrored. */
  #openLeaseReads = 0;

  constructor(context: MirrorsContext) {
    const { scheduler, name, ownership, hub, maxParameters } = context;
    this.#context = context;
    this.#bounds = new Bounds(maxParameters);
    this.#writes = new RemoteWrites(name, scheduler);
    const look = () => this.#look();
    this.#running.add(
      scheduler.schedule(function () {
        this.schedule(undefined, look());
      }, silentMs),
    );
    const follow = { next: () => this.#own(), error: () => {} };
    this.#running.add(ownership.changed$.subscribe(follow));
    this.#running.add(ownership.claimed$.subscribe({ next: () => this.#applyClaims(), error: () => {} }));
    this.#running.add(hub.removed$.subscribe({ next: (parameter) => this.#makeRoom(parameter), error: () => {} }));
    this.#running.add(hub.declared$.subscribe({ next: (parameter) => this.#entrust(parameter), error: () => {} }));
  }

  hubs(): Iterable<MirroredHub> {
    return this.#hubs.values();
  }

  /**
   * Returns the name of the hub that has each connection, keyed by Connection ID, for hubs that have sent a message within the last
   * `withinMs` milliseconds.
   */
  owners(withinMs: number): ReadonlyMap<string, string> {
    const others = [...this.#hubs.values()].filter(
      ({ hub, lagMs }) => lagMs < withinMs && hub !== this.#context.name.hub,
    );
    return new Map(others.flatMap((one) => [...one.connections()].map((id) => [id, one.hub] as const)));
  }

  /** Returns whether a hub without a term has sent a message within the last `withinMs` milliseconds. */
  hasNoTerm(hub: string, withinMs: number): boolean {
    return [...this.#hubs.values()].some((one) => one.hub === hub && one.term === 0 && one.lagMs < withinMs);
  }

  attach(transport: Transport): void {
    const { name, ownership } = this.#context;
    this.#transport = transport;
    this.#subscribe(transport);
    this.#endReceipts = sendReceipts(transport, name, ownership, () => this.#hubs.get(name.hub)?.receipt ?? null);
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
    for (const hub of this.#hubs.values()) this.#forget(hub);
  }

  #subscribe(transport: Transport): void {
    this.#unsubscribe();
    this.#receivedAtMs = this.#context.scheduler.now();
    const subject = subjectOfAll(this.#context.name.domain, 'turns');
    this.#unsubscribe = transport.subscribe(subject, (message) => this.#take(message));
  }

  #take({ data, subject }: Message): Steps | undefined {
    this.#receivedAtMs = this.#context.scheduler.now();
    const sender = hubOf(subject);
    if (!isHubName(sender)) return undefined;
    let report: HubReport;
    try {
      report = readHubReport(data);
      // servers let a hub send only on its own subjects, which is the only proof of the sender's identity
      if (report.hub !== sender) throw new Error(`the message names hub "${report.hub}"`);
    } catch (error) {
      this.#refuse(sender, messageOf(error));
      return undefined;
    }
    const { hub, name, namesake$ } = this.#context;
    if (report.epoch.startsWith(hub.epoch)) return undefined;
    if (sender === name.hub) namesake$.next(report);
    return this.#hubOf(sender)?.take(report, data.length);
  }

  /** Drops an invalid message. If a valid message is lost in this way, the next message reveals the gap, and the mirror repairs it. */
  #refuse(sender: string, reason: string): void {
    const known = this.#hubs.get(sender);
    if (known !== undefined) known.counts.refused++;
    const nowMs = this.#context.scheduler.now();
    if (nowMs - this.#refusedAtMs < reportEveryMs) return;
    this.#refusedAtMs = nowMs;
    this.#context.log.warn({ hub: sender }, `invalid message from hub "${sender}": ${reason}`, 'invalid message');
  }

  #hubOf(name: string): MirroredHub | undefined {
    const known = this.#hubs.get(name);
    if (known !== undefined) return known;
    const { name: own, ownership, hub, isSelected, intake, scheduler, timeOfDay, log } = this.#context;
    const isOwn = name === own.hub;
    if ((isOwn && ownership.isHolder) || !this.#mayComeNow()) return undefined;
    if (this.#hubs.size >= maxHubs && !this.#forgetStalest()) {
      log.warn(
        { hub: name },
        `hub "${name}" is not mirrored: this hub already mirrors ${maxHubs} other hubs`,
        'too many hubs',
      );
      return undefined;
    }
    const mirrored = new MirroredHub({
      hub,
      owner: { domain: own.domain, hub: name },
      isOwn,
      isSelected: isOwn ? () => true : isSelected,
      mayShow: (connectionId) => this.#mayShow(connectionId, name),
      termsOf: (hub) => this.#termsOf(hub),
      writes: this.#writes,
      bounds: this.#bounds,
      intake,
      scheduler,
      timeOfDay,
      log,
    });
    mirrored.attach(this.#transport);
    this.#hubs.set(name, mirrored);
    return mirrored;
  }

  async #termsOf(name: string): Promise<ReadonlySet<number> | undefined> {
    const { ownership } = this.#context;
    if (this.#hubs.get(name)?.hasMirrored) return ownership.termsOf(name);
    if (this.#openLeaseReads >= maxLeaseReads) return undefined;
    this.#openLeaseReads++;
    try {
      return await ownership.termsOf(name);
    } finally {
      this.#openLeaseReads--;
    }
  }

  #mayComeNow(): boolean {
    const nowMs = this.#context.scheduler.now();
    if (nowMs - this.#newHubsSinceMs >= 1000) {
      this.#newHubsSinceMs = nowMs;
      this.#newHubs = 0;
    }
    return ++this.#newHubs <= newHubsPerSecond;
  }

  /**
   * Returns whether to show a connection that a hub reports. The connection is shown if the claims assign it to no other hub, and if this
   * hub either has no connection with this ID or has lost this ID according to the claims.
   */
  #mayShow(connectionId: string, sender: string): boolean {
    const { hub, ownership } = this.#context;
    const isOwn = hub.mirroring.hasConnection(connectionId);
    if (isOwn && hub.mirroring.isLocal(connectionId)) return false;
    const owner = ownership.ownerOf(connectionId);
    return owner === undefined ? !isOwn || sender === this.#context.name.hub : owner === sender;
  }

  /** Applies changed claims. Shown parameters may now belong to another hub. */
  #applyClaims(): void {
    for (const hub of this.#hubs.values()) hub.applyClaims();
  }

  /**
   * Drops the hub that has been stale for the longest time. Hubs that have never sent their complete state and may not exist are dropped
   * first. Returns whether a hub was dropped.
   */
  #forgetStalest(): boolean {
    const [stalest] = [...this.#hubs.values()]
      .filter(({ staleSince }) => staleSince !== undefined)
      .sort((one, other) => Number(one.hasMirrored) - Number(other.hasMirrored) || one.staleSince! - other.staleSince!);
    if (stalest === undefined) return false;
    this.#forget(stalest);
    return true;
  }

  #forget(mirrored: MirroredHub): void {
    mirrored.end();
    this.#hubs.delete(mirrored.hub);
    this.#context.intake.know(mirrored.hub, false);
  }

  /** Drops the mirror of the hub with this hub's name, because this hub now holds that name. */
  #own(): void {
    const { ownership, name } = this.#context;
    const own = this.#hubs.get(name.hub);
    if (ownership.isHolder && own !== undefined) this.#forget(own);
  }

  /**
   * Handles the removal of a parameter. Mirrors that hide another parameter with the same address may now show that parameter. If the
   * removed parameter was mirrored, its mirror records that this hub or a third hub now owns the address.
   */
  #makeRoom(parameter: Parameter): void {
    const { address, remote } = parameter;
    if (remote instanceof MirroredHub) remote.noteRemoved(parameter);
    for (const hub of this.#hubs.values()) if (hub.hides(address)) hub.lookAgain();
  }

  /** Lets the mirrors of other hubs replace the parameters of a stale hub. */
  #replace(stale: MirroredHub): void {
    for (const hub of this.#hubs.values()) if (hub !== stale && hub.isHiddenBy(stale)) hub.lookAgain();
  }

  /** Handles a parameter that this hub has declared. While this hub is the standby, the active hub owns this parameter. */
  #entrust({ remote }: Parameter): void {
    if (remote === undefined) this.#hubs.get(this.#context.name.hub)?.lookAgain();
  }

  /**
   * Checks which hubs have become stale. Returns the number of milliseconds after which the next hub may become stale. In an idle hub, this
   * is the only timer here.
   */
  #look(): number {
    const transport = this.#transport;
    const nowMs = this.#context.scheduler.now();
    if (nowMs - this.#receivedAtMs >= silentMs) {
      this.#receivedAtMs = nowMs;
      if (transport !== undefined && this.#hubs.size > 0) this.#subscribe(transport);
    }
    let nextMs = this.#receivedAtMs + silentMs;
    for (const hub of this.#hubs.values()) {
      if (hub.look()) this.#replace(hub);
      nextMs = Math.min(nextMs, hub.staleAtMs);
    }
    return Math.max(1, Math.ceil(nextMs - nowMs));
  }
}

/** Makes a standby answer requests from the active hub for its received position. Returns a function that ends the subscription. */
function sendReceipts(
  transport: Transport,
  name: HubName,
  ownership: Pick<Ownership, 'isHolder' | 'changed$'>,
  receiptOf: () => Receipt,
): () => void {
  let end = () => {};
  const follow = () => {
    end();
    end = ownership.isHolder
      ? () => {}
      : transport.subscribe(subjectOf(name, 'receipt'), (message) => {
          message.reply(JSON.stringify(receiptOf()));
          return undefined;
        });
  };
  follow();
  const following = ownership.changed$.subscribe({ next: follow, error: () => {} });
  return () => {
    following.unsubscribe();
    end();
  };
}
