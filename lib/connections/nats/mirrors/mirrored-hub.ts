// Mirrors one other hub. It takes over what follows on what it has. Where something is missing, it asks the owner for the rest, keeps what
// comes meanwhile, and goes on there.

import { type SchedulerLike, Subscription } from 'rxjs';
import { messageOf } from '../../../model/error.ts';
import type { Parameter, Remote, RemoteCause, RemoteWrite } from '../../../model/parameter.ts';
import { Backoff } from '../../../model/time/backoff.ts';
import type { Value } from '../../../model/value.ts';
import type { Log } from '../../connection.ts';
import type { HubName } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';
import type { Receipt, Told } from '../wire/messages.ts';
import { FireCounts } from './fire-counts.ts';
import { fetchMending, type Mending, type Position } from './mend.ts';
import { MirroredParameters, type MirrorPort } from './mirrored-parameters.ts';
import { OwnerClock } from './owner-clock.ts';
import type { RemoteWrites } from './remote-writes.ts';

/** After this long without its owner a mirror is stale. */
const staleAfterMs = 3000;
/** How many messages are kept while something is asked for; beyond, all of them are let go, and it is asked again. */
const maxKeptMessages = 4096;
/** After what makes no sense it is asked again so soon, and later each time, until all made sense for a minute. */
const distrust = { firstMs: 100, longestMs: 30_000, provenMs: 60_000 };

export interface MirroredHubContext {
  readonly hub: MirrorPort;
  readonly owner: HubName;
  readonly isOwn: boolean;
  readonly isSelected: (address: string) => boolean;
  readonly writes: RemoteWrites;
  readonly scheduler: SchedulerLike;
  /** Milliseconds since 1970. */
  readonly timeOfDay: () => number;
  readonly log: Log;
}

export class MirroredHub implements Remote {
  readonly hub: string;
  readonly clock: OwnerClock;
  staleSince: number | undefined;
  /** The last one, which names the machine of who told it. */
  heartbeat: Pick<Told, 'term' | 'machine'> | undefined;
  /** Whether it has had all that its owner had told. */
  hasMirrored = false;
  readonly #context: MirroredHubContext;
  readonly #parameters: MirroredParameters;
  readonly #backoff = new Backoff({ firstMs: 100, longestMs: 1000 });
  readonly #distrust = new Backoff(distrust);
  #senselessAtMs = 0;
  #transport: Transport | undefined;
  #position: Position | undefined;
  #term = 0;
  /** When this hub last had all that its owner had told, on the monotonic clock. */
  #freshAtMs: number;
  /** Since when nothing has come that was taken, though it could have. */
  #listensSinceMs: number;
  /** What has come since something was asked for. */
  #kept: Told[] = [];
  /** Counts what is asked for, so that an answer to an earlier question is known as such. */
  #asking = 0;
  #isMending = false;
  /** Whether an answer is awaited; else the next question is. */
  #isAsked = false;
  /** Whether it was heard of since there is the present network: before that, nobody could answer. */
  #isHeard = false;
  #waiting = Subscription.EMPTY;
  readonly #fires: FireCounts;
  /** What happened since the hub started, for those who look. */
  readonly counts = { turns: 0, gaps: 0, snapshots: 0, lostFires: 0, refused: 0 };

  constructor(context: MirroredHubContext) {
    const { hub, owner, isSelected, isOwn } = context;
    this.#context = context;
    this.hub = owner.hub;
    this.clock = new OwnerClock(context.scheduler);
    this.staleSince = context.timeOfDay();
    this.#freshAtMs = this.#listensSinceMs = context.scheduler.now();
    this.#parameters = new MirroredParameters({ hub, owner: owner.hub, remote: this, isSelected, isOwn });
    this.#fires = new FireCounts((number) => this.#parameters.at(number));
  }

  get size(): number {
    return this.#parameters.size;
  }

  get term(): number {
    return this.#term;
  }

  /** The present network; undefined: there is none. */
  get transport(): Transport | undefined {
    return this.#transport;
  }

  get epoch(): string | undefined {
    return this.#position?.epoch;
  }

  /** How far it has come; `null`: it has nothing. */
  get receipt(): Receipt {
    return this.#position === undefined ? null : { epoch: this.#position.epoch, rev: this.#position.rev };
  }

  /** For how long this hub has not had all that its owner tells, in milliseconds. */
  get lagMs(): number {
    return this.#context.scheduler.now() - this.#freshAtMs;
  }

  attach(transport: Transport | undefined): void {
    this.#transport = transport;
    this.#listensSinceMs = this.#context.scheduler.now();
    this.#isHeard = false;
    this.#stopMending();
    if (this.#position !== undefined) this.#mend();
  }

  write(writes: readonly RemoteWrite[], by: RemoteCause): Promise<readonly (Value | Error)[]> {
    return this.#context.writes.send(this, writes, by);
  }

  /** Takes over what the owner tells. */
  take(told: Told): void {
    if (told.term < this.#term && !this.#isAnew(told)) {
      this.counts.refused++;
      return;
    }
    this.#listensSinceMs = this.#context.scheduler.now();
    this.#term = told.term;
    this.clock.hear(told);
    if (told.machine !== undefined) this.heartbeat = told;
    const isBack = !this.#isHeard;
    this.#isHeard = true;
    if (this.#isMending && !this.#isAsked && isBack) this.#mend();
    else if (this.#isMending) this.#keep(told);
    else this.#follow(told);
  }

  /** Whether a lesser term is that of another run, and nobody else is heard of: servers have lost the leases, or cannot read them. */
  #isAnew({ epoch }: Told): boolean {
    return epoch !== this.epoch && this.#context.scheduler.now() - this.#listensSinceMs >= staleAfterMs;
  }

  /** When it becomes stale if its owner is not heard of by then, on the monotonic clock; infinite: it is stale. */
  get staleAtMs(): number {
    return this.staleSince === undefined ? this.#freshAtMs + staleAfterMs : Number.POSITIVE_INFINITY;
  }

  /** Looks whether the owner is heard of; to be called when it may be stale. Returns whether it has become stale by that. */
  look(): boolean {
    if (this.#context.scheduler.now() < this.staleAtMs) return false;
    const { hub, timeOfDay, log } = this.#context;
    this.staleSince = timeOfDay() - this.lagMs;
    log.warn({ hub: this.hub }, `hub "${this.hub}" is not heard of: its ${this.size} parameters are stale`);
    hub.mirroring.tellStale(this.#parameters.all());
    return true;
  }

  /** Whether it could show more, were it not for what another hub has. */
  isHiddenBy(other: MirroredHub): boolean {
    const { hub } = this.#context;
    for (const address of this.#parameters.hidden()) if (hub.find(address)?.remote === other) return true;
    return false;
  }

  /** The IDs of the connections that its owner shares something of. */
  connections(): ReadonlySet<string> {
    return this.#parameters.connections();
  }

  hides(address: string): boolean {
    return this.#parameters.hides(address);
  }

  /** Something that it told was not understood: what it has is asked for again. */
  mistrust(reason: string): void {
    this.#context.log.warn({ hub: this.hub }, `what hub "${this.hub}" tells makes no sense: ${reason}`, 'senseless');
    this.#position = undefined;
    if (this.staleSince !== undefined) this.#context.hub.mirroring.tellStale(this.#parameters.all());
    if (this.#isMending) return;
    const nowMs = this.#context.scheduler.now();
    this.#distrust.ran(nowMs - this.#senselessAtMs);
    this.#senselessAtMs = nowMs;
    this.#mendAfter(this.#distrust.next());
  }

  /**
   * Parameters that could not be shown before may be shown with the next message, or one that was shown is no longer. What is taken
   * out here, while something is taken over, does not count: where this mirror is, is known after that.
   */
  lookAgain(): void {
    if (this.#position === undefined) return;
    this.#position = undefined;
    if (this.#isMending) this.#mend(); // the answer that is awaited goes on from before
  }

  /** Shows its parameters no longer. */
  end(): void {
    this.#stopMending();
    this.#transport = undefined;
    this.#position = undefined;
    this.#parameters.clear();
  }

  #follow(told: Told): void {
    const position = this.#position;
    if (position === undefined || told.epoch !== position.epoch) {
      this.#position = undefined;
      this.#mend();
    } else if (told.rev < position.rev || (told.rev === position.rev && told.structure <= position.structure)) {
      if (told.rev === position.rev && told.structure === position.structure) this.#refresh();
    } else if (told.prev !== position.rev || told.turns.length === 0) {
      this.counts.gaps++;
      this.#mend();
    } else this.#takeOver(told, position);
  }

  #takeOver({ turns, rev, structure }: Told, { epoch, structure: known }: Position): void {
    const changed = turns.filter((turn) => !Array.isArray(turn)).length;
    if (known + changed !== structure) {
      this.counts.gaps++;
      this.#mend();
      return;
    }
    try {
      this.#parameters.take(turns, this.#fires.add);
    } catch (error) {
      this.mistrust(messageOf(error).split('\n', 1)[0]!);
      return;
    }
    this.counts.turns += turns.length;
    this.#position = { epoch, structure, rev };
    this.#refresh();
  }

  #refresh(): void {
    this.#freshAtMs = this.#context.scheduler.now();
    if (this.staleSince === undefined) return;
    this.staleSince = undefined;
    const { hub, log } = this.#context;
    log.info({ hub: this.hub }, `hub "${this.hub}" is heard of: its ${this.size} parameters are fresh`);
    hub.mirroring.tellStale(this.#parameters.all());
  }

  #keep(told: Told): void {
    if (!this.#isAsked) return; // the answer will have it
    if (this.#kept.length >= maxKeptMessages) this.#kept = [];
    this.#kept.push(told);
  }

  #mend(): void {
    const transport = this.#transport;
    if (transport === undefined) return;
    this.#waiting.unsubscribe();
    this.#isMending = true;
    this.#isAsked = true;
    const asking = ++this.#asking;
    const isCurrent = () => asking === this.#asking;
    fetchMending(transport, this.#context.owner, this.#position).then(
      (mending) => {
        if (isCurrent()) this.#takeMending(mending);
      },
      () => {
        if (isCurrent()) this.#mendAfter(this.#backoff.next());
      },
    );
  }

  #mendAfter(pauseMs: number): void {
    this.#isMending = true;
    this.#isAsked = false;
    this.#kept = [];
    this.#waiting = this.#context.scheduler.schedule(() => this.#mend(), pauseMs);
  }

  #takeMending({ definitions, changes, fires, epoch, structure, rev, term, clock }: Mending): void {
    this.#stopMending(false);
    this.#backoff.reset();
    if (term < this.#term) return; // who has answered holds no longer
    const shown = this.#fires.shownOf(fires, epoch);
    try {
      if (definitions !== undefined) {
        this.counts.snapshots++;
        this.#parameters.replace(definitions, changes);
      }
      this.#parameters.takeTurn(changes);
    } catch (error) {
      this.mistrust(messageOf(error).split('\n', 1)[0]!);
      return;
    }
    this.#tellLost(this.#fires.takeOver(fires, shown));
    this.#term = term;
    this.clock.hear({ epoch, clock });
    this.hasMirrored = true;
    this.#position = { epoch, structure, rev };
    this.#refresh();
    const kept = this.#kept;
    this.#kept = [];
    for (const told of kept) this.take(told);
  }

  #stopMending(forgets = true): void {
    this.#asking++;
    this.#isMending = false;
    this.#waiting.unsubscribe();
    if (forgets) this.#kept = [];
  }

  #tellLost(lostFires: ReadonlyMap<Parameter, number>): void {
    if (lostFires.size === 0) return;
    const { hub, log } = this.#context;
    const lost = [...lostFires.values()].reduce((sum, one) => sum + one);
    this.counts.lostFires += lost;
    log.warn({ hub: this.hub, lost }, `${lost} fires of hub "${this.hub}" were lost`, 'fires lost');
    hub.mirroring.tellLost(lostFires);
  }
}
