// Mirrors another hub. A mirror applies reports that continue from its state. If data is missing, it requests this data from the owner,
// keeps the reports that arrive in between, and continues from there.

import { type SchedulerLike, Subscription } from 'rxjs';
import { counted } from '../../../model/digits.ts';
import { messageOf } from '../../../model/error.ts';
import { type Account, held } from '../../../model/held-bytes.ts';
import type { Parameter, Remote, RemoteCause, RemoteWrite } from '../../../model/parameter.ts';
import { Backoff } from '../../../model/time/backoff.ts';
import { wallClock } from '../../../model/time/wall-clock.ts';
import type { Value } from '../../../model/value.ts';
import type { Log } from '../../connection.ts';
import type { Intake, MadeSteps, Steps } from '../link/nats-intake.ts';
import type { HubName } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';
import { printable } from '../wire/causes.ts';
import { type HubReport, maxStep, type Receipt, sizeOf, type WalkAnswer } from '../wire/domain-messages.ts';
import { FireCounts } from './fire-counts.ts';
import type { Bounds } from './mirror-bounds.ts';
import { MirroredParameters, type MirrorPort } from './mirrored-parameters.ts';
import { OwnerClock, type RemoteWrites } from './remote-writes.ts';
import { InvalidAnswer, type Position, type Repaired, repair } from './repair.ts';

/** The time without messages from its owner after which a mirror is stale. */
const staleAfterMs = 3000;
/** The maximum amount of data that is kept while a request is open. Beyond this amount, everything is dropped and requested again. */
const maxKeptMessages = 4096;
const maxKeptBytes = 8 * 1024 * 1024;
/**
 * The pauses between requests for missing data. The first request is sent immediately. While requests yield nothing, the pauses grow from
 * the first to the longest.
 */
const gapPauses = { firstMs: 20, longestMs: 1000 };
/** The pauses between reads of the lease while the lease contradicts the reported term. */
const leasePauses = { firstMs: 100, longestMs: 1000 };
/**
 * The pauses before a request after an invalid message, until all messages have been valid for a minute. Answers come from the owner
 * itself. Reports may come from other clients if the servers permit this, so the longest pause after an invalid report is short enough to
 * keep the mirror from becoming stale.
 */
const invalidPauses = { firstMs: 100, longestMs: 30_000, provenMs: 60_000 };
const longestReportPauseMs = 1000;
/** The interval at which the log reports that parameters are not shown. */
const refusedEveryMs = 1000;

export interface MirroredHubContext {
  readonly hub: MirrorPort;
  readonly owner: HubName;
  readonly isOwn: boolean;
  readonly isSelected: (address: string) => boolean;
  /** Returns whether to show a connection that the mirrored hub reports as its own. */
  readonly mayShow: (connectionId: string) => boolean;
  /** Resolves to the terms in which the lease of a hub is held; undefined if unknown at the moment. Never rejects. */
  readonly termsOf: (hub: string) => Promise<ReadonlySet<number> | undefined>;
  readonly writes: RemoteWrites;
  readonly bounds: Bounds;
  readonly intake: Intake;
  readonly scheduler: SchedulerLike;
  /** Returns the time of day, in milliseconds since 1970. */
  readonly timeOfDay: () => number;
  readonly log: Log;
}

export class MirroredHub implements Remote {
  readonly hub: string;
  readonly clock: OwnerClock;
  #staleSince: (() => number) | undefined;
  /** The last heartbeat, which names the sender's machine. */
  heartbeat: Pick<HubReport, 'term' | 'machine'> | undefined;
  /** Whether the owner's complete state has been received once. */
  hasMirrored = false;
  readonly #context: MirroredHubContext;
  readonly #parameters: MirroredParameters;
  readonly #backoff = new Backoff({ firstMs: 100, longestMs: 1000 });
  /** The pauses for senders that have never answered and may not be hubs. */
  readonly #unknownBackoff = new Backoff({ firstMs: 100, longestMs: 5000 });
  readonly #invalidBackoff = new Backoff(invalidPauses);
  #invalidAtMs = 0;
  #transport: Transport | undefined;
  #position: Position | undefined;
  #term = 0;
  /** The terms of the owner's lease when the lease was last read. */
  #termsOfLease: ReadonlySet<number> = new Set();
  #isLooking = false;
  /** The earliest times of the next read of the lease, and of the next request for missing data. */
  #lookAfterMs = Number.NEGATIVE_INFINITY;
  #repairAfterMs = Number.NEGATIVE_INFINITY;
  readonly #lookBackoff = new Backoff(leasePauses);
  readonly #gapBackoff = new Backoff(gapPauses);
  /** The time at which this mirror last had its owner's complete state, on the monotonic clock. */
  #freshAtMs: number;
  /** The start of the current period without an accepted report, although a report could have arrived. */
  #listensSinceMs: number;
  /** Reports that have arrived since the open request. */
  #kept: { readonly report: HubReport; readonly bytes: number }[] = [];
  readonly #account: Account;
  /** Counts requests, so that an answer to an earlier request can be recognized. */
  #asking = 0;
  #isRepairing = false;
  /** Whether an answer is awaited; otherwise, the mirror is pausing before the next request. */
  #isAsked = false;
  /** Whether the owner has sent anything in this session. Before that, no answer was possible. */
  #hasReceived = false;
  /** Whether a report has been applied since the last snapshot, in which case an older report comes from another sender. */
  #hasFollowed = false;
  /** Whether this mirror is currently changing parameters. */
  #isStepping = false;
  /** Whether the set of parameters to show has changed since the open request. */
  #isOutdated = false;
  #waiting = Subscription.EMPTY;
  /** The stale connections in a report that is waiting for values. */
  #staleDue: HubReport['stale'];
  readonly #fires: FireCounts;
  /** Counts since the hub started, for operators. */
  readonly counts = { turns: 0, gaps: 0, snapshots: 0, lostFires: 0, refused: 0 };

  constructor(context: MirroredHubContext) {
    const { owner, log } = context;
    this.#context = context;
    this.hub = owner.hub;
    this.#account = held.open({ kind: 'mirrors', owner: `hub "${owner.hub}"`, letGo: () => this.#forgetKept() });
    this.clock = new OwnerClock(context.scheduler);
    this.#staleSince = wallClock.pin(context.timeOfDay());
    this.#freshAtMs = this.#listensSinceMs = context.scheduler.now();
    let refusedAtMs = Number.NEGATIVE_INFINITY;
    const refuse = (what: string) => {
      const nowMs = context.scheduler.now();
      if (nowMs - refusedAtMs < refusedEveryMs) return; // this may happen a million times
      refusedAtMs = nowMs;
      const message = `hub "${owner.hub}" shares ${what}: the rest is not shown here`;
      log.warn({ hub: owner.hub }, message, 'too many shared parameters');
    };
    this.#parameters = new MirroredParameters({ ...context, owner: owner.hub, remote: this, refuse });
    this.#fires = new FireCounts((number) => this.#parameters.at(number));
  }

  get staleSince(): number | undefined {
    return this.#staleSince?.();
  }

  get size(): number {
    return this.#parameters.size;
  }

  get term(): number {
    return this.#term;
  }

  /** The current network; undefined if there is none. */
  get transport(): Transport | undefined {
    return this.#transport;
  }

  get isThere(): boolean {
    if (this.staleSince === undefined) return true;
    return this.#hasReceived && this.#context.scheduler.now() - this.#listensSinceMs < staleAfterMs;
  }

  get epoch(): string | undefined {
    return this.#position?.epoch;
  }

  /** The position up to which data has been received; `null` if nothing has been received. */
  get receipt(): Receipt {
    return this.#position === undefined ? null : { epoch: this.#position.epoch, rev: this.#position.rev };
  }

  /** The lag behind the owner, in milliseconds. */
  get lagMs(): number {
    return this.#context.scheduler.now() - this.#freshAtMs;
  }

  attach(transport: Transport | undefined): void {
    this.#transport = transport;
    this.#listensSinceMs = this.#context.scheduler.now();
    this.#hasReceived = false;
    this.#stopRepair();
    if (this.#position !== undefined) this.#repair();
  }

  write(writes: readonly RemoteWrite[], by: RemoteCause): Promise<readonly (Value | Error)[]> {
    return this.#context.writes.send(this, writes, by);
  }

  /** Applies a report from the owner; returns the remaining steps. */
  take(report: HubReport, bytes: number): Steps | undefined {
    if (!this.#accepts(report)) {
      if (report.term < this.#term) this.counts.refused++;
      return undefined;
    }
    const isBack = !this.#hasReceived;
    this.#receive(report);
    if (report.machine !== undefined) this.heartbeat = { term: report.term, machine: printable(report.machine) };
    if (report.stale !== undefined) {
      const hasAll = !this.#isRepairing && this.#position !== undefined;
      if (hasAll) this.#parameters.setStale(report.stale);
      this.#staleDue = hasAll ? undefined : report.stale;
    }
    if (this.#isRepairing && !this.#isAsked && isBack) this.#repair();
    else if (this.#isRepairing) this.#keep(report, bytes);
    else return this.#follow(report);
    return undefined;
  }

  #receive(report: Pick<HubReport, 'term' | 'epoch' | 'clock'>): void {
    this.#listensSinceMs = this.#context.scheduler.now();
    this.#term = report.term;
    this.clock.note(report);
    this.#hasReceived = true;
  }

  /**
   * Returns whether a report in a term is from the active hub. A message may contain any term; the lease contains the true term. While the
   * lease cannot be read, only the previous term is accepted.
   */
  #accepts({ term, epoch }: Pick<HubReport, 'term' | 'epoch'>): boolean {
    if (term === this.#term || (term < this.#term && this.#isRestarted(epoch))) return true;
    if (this.#termsOfLease.has(term)) return true;
    if (!this.#isLooking && this.#context.scheduler.now() >= this.#lookAfterMs) void this.#lookAtLease(term);
    return false;
  }

  /**
   * Returns whether a lower term comes from a new run while no other run is sending messages, because the servers have lost the leases or
   * cannot read them.
   */
  #isRestarted(epoch: string): boolean {
    return epoch !== this.epoch && this.#context.scheduler.now() - this.#listensSinceMs >= staleAfterMs;
  }

  /** Reads the terms of the owner's lease after a report in another term. */
  async #lookAtLease(report: number): Promise<void> {
    const { termsOf, scheduler, owner, log } = this.#context;
    this.#isLooking = true;
    const terms = await termsOf(owner.hub);
    this.#isLooking = false;
    if (terms !== undefined) this.#termsOfLease = terms;
    if (terms?.has(report)) {
      this.#lookBackoff.reset();
      if (!this.#isRepairing || !this.#isAsked) this.#repair(); // the current holder knows the current state
      return;
    }
    this.#lookAfterMs = scheduler.now() + (this.hasMirrored ? this.#lookBackoff : this.#unknownBackoff).next();
    if (terms === undefined || report < this.#term) return; // a late message from the previous holder
    this.counts.refused++;
    const message = `ignored a message from hub "${owner.hub}" in term ${report}: its lease is in another term`;
    log.warn({ hub: owner.hub, term: report }, message, 'lease in another term');
  }

  /**
   * The time at which the mirror becomes stale without messages from its owner, on the monotonic clock; infinite if it is already stale.
   */
  get staleAtMs(): number {
    return this.staleSince === undefined ? this.#freshAtMs + staleAfterMs : Number.POSITIVE_INFINITY;
  }

  /**
   * Checks whether messages from the owner still arrive. To be called when the mirror may be stale. Returns whether the mirror has just
   * become stale.
   */
  look(): boolean {
    if (this.#context.scheduler.now() < this.staleAtMs) return false;
    const { hub, timeOfDay, log } = this.#context;
    this.#staleSince = wallClock.pin(timeOfDay() - this.lagMs);
    log.warn({ hub: this.hub }, `no messages from hub "${this.hub}": ${counted(this.size, 'stale parameter')}`);
    hub.mirroring.reportStale(this.#parameters.all());
    return true;
  }

  /** Returns whether this mirror could show more parameters without those of another hub. */
  isHiddenBy(other: MirroredHub): boolean {
    const { hub } = this.#context;
    for (const address of this.#parameters.hidden()) if (hub.find(address)?.remote === other) return true;
    return false;
  }

  /** Returns the IDs of the connections whose parameters the owner shares. */
  connections(): ReadonlySet<string> {
    return this.#parameters.connections();
  }

  hides(address: string): boolean {
    return this.#parameters.hides(address);
  }

  /** Handles an invalid report by requesting everything again. */
  #handleInvalid(reason: string, longestMs: number): void {
    this.#context.log.warn({ hub: this.hub }, `invalid message from hub "${this.hub}": ${reason}`, 'invalid message');
    this.#position = undefined;
    if (this.staleSince !== undefined) this.#context.hub.mirroring.reportStale(this.#parameters.all());
    if (this.#isRepairing) return;
    const nowMs = this.#context.scheduler.now();
    this.#invalidBackoff.ran(nowMs - this.#invalidAtMs);
    this.#invalidAtMs = nowMs;
    this.#repairAfter(Math.min(this.#invalidBackoff.next(), longestMs));
  }

  /** Applies changed claims: hides parameters that now belong to another hub, and shows parameters that may now be shown. */
  applyClaims(): void {
    const parameters = this.#parameters;
    if (parameters.lacksAny()) this.lookAgain();
    if (!parameters.hasMisplaced()) return;
    const steps = parameters.hideMisplaced();
    void this.#context.intake.goThrough(this.hub, { next: () => this.#step(steps) });
  }

  /** Notes that one of the mirrored parameters was removed, because this hub or a third hub now has it. */
  noteRemoved({ address }: Parameter): void {
    if (!this.#isStepping) this.#parameters.noteGone(address); // otherwise, this mirror removes the parameter itself
  }

  /** Requests everything again, with the next message or after the current answer, because more parameters may now be shown. */
  lookAgain(): void {
    if (this.#isRepairing && this.#isAsked) this.#isOutdated = true;
    else this.#position = undefined;
  }

  /** Removes the mirrored parameters. */
  end(): void {
    this.#stopRepair();
    this.#transport = undefined;
    this.#position = undefined;
    this.#parameters.clear();
  }

  #follow(report: HubReport): Steps | undefined {
    const position = this.#position;
    if (position === undefined) {
      this.#repair();
      return undefined;
    }
    if (report.epoch !== position.epoch) this.#repairWithBackoff();
    else if (isBehind(report, position)) {
      if (this.#hasFollowed) this.#handleContradiction();
    } else if (report.rev === position.rev && report.structure === position.structure) this.#refresh();
    else if (!follows(report, position)) {
      this.counts.gaps++;
      this.#repairWithBackoff();
    } else return this.#takeOver(report, position);
    return undefined;
  }

  *#takeOver({ turns, rev, structure }: HubReport, { epoch }: Position): MadeSteps {
    const transport = this.#transport;
    const isCurrent = () => this.#position?.epoch === epoch && this.#transport === transport && !this.#isRepairing;
    try {
      for (const steps = this.#parameters.take(turns, this.#fires.add); ; ) {
        const { done } = this.#step(steps);
        if (!isCurrent()) return; // everything is requested again, including the rest of this report
        if (done) break;
        yield;
      }
    } catch (error) {
      this.#handleInvalid(messageOf(error), longestReportPauseMs);
      return;
    }
    this.counts.turns += turns.length;
    this.#hasFollowed = true;
    this.#gapBackoff.reset();
    this.#position = { epoch, structure, rev };
    this.#refresh();
  }

  /** Runs a step. Removals by the step itself are marked, so that they do not count as removals by other code (`lookAgain`). */
  #step(steps: Steps): IteratorResult<undefined, void> {
    this.#isStepping = true;
    try {
      return steps.next();
    } finally {
      this.#isStepping = false;
    }
  }

  #refresh(): void {
    this.#freshAtMs = this.#context.scheduler.now();
    if (this.staleSince === undefined) return;
    this.#staleSince = undefined;
    const { hub, log } = this.#context;
    log.info({ hub: this.hub }, `hub "${this.hub}" is reachable again: ${counted(this.size, 'fresh parameter')}`);
    hub.mirroring.reportStale(this.#parameters.all());
  }

  #keep(report: HubReport, bytes: number): void {
    if (!this.#isAsked) return; // the answer will contain this change
    if (this.#kept.length >= maxKeptMessages || this.#account.bytes + bytes > maxKeptBytes) this.#forgetKept();
    this.#kept.push({ report, bytes });
    this.#account.add(bytes);
  }

  #forgetKept(): void {
    this.#kept = [];
    this.#account.set(0);
  }

  /** Requests the missing data. A sender of false reports causes increasingly fewer requests. */
  #repairWithBackoff(): void {
    const nowMs = this.#context.scheduler.now();
    if (nowMs < this.#repairAfterMs) return;
    this.#repairAfterMs = nowMs + this.#gapBackoff.next();
    this.#repair();
  }

  /** Requests everything after a report that contradicts earlier reports. */
  #handleContradiction(): void {
    if (this.#context.scheduler.now() < this.#repairAfterMs) return;
    const message = `messages from hub "${this.hub}" contradict each other: another sender may be using its name`;
    this.#context.log.warn({ hub: this.hub }, message, 'contradiction');
    this.#position = undefined;
    this.#repairWithBackoff();
  }

  #repair(): void {
    const transport = this.#transport;
    if (transport === undefined) return;
    this.#waiting.unsubscribe();
    this.#isRepairing = true;
    this.#isAsked = true;
    this.#isOutdated = false;
    const asking = ++this.#asking;
    const isWanted = () => asking === this.#asking;
    const { owner, intake } = this.#context;
    const parameters = this.#parameters;
    const accepts = (answer: WalkAnswer) => {
      const isAccepted = this.#accepts(answer);
      if (isAccepted) this.#receive(answer);
      return isAccepted;
    };
    const goThrough = (hub: string, steps: Steps) => intake.goThrough(hub, { next: () => this.#step(steps) });
    const ways = { run: <T>(hub: string, work: () => T) => intake.run(hub, work), goThrough };
    const from = this.#position;
    const begin = () => {
      this.#position = undefined; // from now on, the old numbers are reused for other parameters
    };
    repair({ transport, owner, intake: ways, parameters, accepts, isWanted, begin }, from).then(
      (repaired) => {
        if (isWanted()) this.#takeRepaired(repaired, from);
      },
      (error) => {
        if (!isWanted()) return;
        if (error instanceof InvalidAnswer) {
          this.#isRepairing = false;
          this.#handleInvalid(messageOf(error.cause ?? error), invalidPauses.longestMs);
        } else this.#repairAfter(this.hasMirrored ? this.#backoff.next() : this.#unknownBackoff.next());
      },
    );
  }

  #repairAfter(pauseMs: number): void {
    this.#isRepairing = true;
    this.#isAsked = false;
    this.#forgetKept();
    this.#waiting = this.#context.scheduler.schedule(() => this.#repair(), pauseMs);
  }

  #takeRepaired({ fires, epoch, structure, rev, isSnapshot }: Repaired, from: Position | undefined): void {
    this.#stopRepair(false);
    this.#backoff.reset();
    if (isSnapshot) this.counts.snapshots++;
    const hasMore = from !== undefined && (epoch !== from.epoch || structure !== from.structure || rev > from.rev);
    if (hasMore) {
      this.#gapBackoff.reset();
      this.#repairAfterMs = Number.NEGATIVE_INFINITY;
    }
    const shown = this.#fires.shownOf(fires, epoch);
    this.#reportLost(this.#fires.takeOver(fires, shown));
    if (!this.hasMirrored) this.#context.intake.know(this.hub, true);
    this.hasMirrored = true;
    this.#hasFollowed = false;
    this.#position = { epoch, structure, rev };
    if (this.#staleDue !== undefined) this.#parameters.setStale(this.#staleDue);
    this.#staleDue = undefined;
    this.#refresh();
    if (this.#isOutdated) {
      this.#position = undefined;
      this.#repair();
      return;
    }
    const kept = this.#kept;
    this.#forgetKept();
    if (kept.length > 0) void this.#context.intake.goThrough(this.hub, this.#takeKept(kept));
  }

  *#takeKept(kept: readonly { readonly report: HubReport; readonly bytes: number }[]): MadeSteps {
    for (const { report, bytes } of kept) {
      const steps = this.take(report, bytes);
      while (steps !== undefined && !steps.next().done) yield;
      yield;
    }
  }

  #stopRepair(forgets = true): void {
    this.#asking++;
    this.#isRepairing = false;
    this.#waiting.unsubscribe();
    if (forgets) this.#forgetKept();
  }

  #reportLost(lostFires: ReadonlyMap<Parameter, number>): void {
    if (lostFires.size === 0) return;
    const { hub, log } = this.#context;
    const lost = [...lostFires.values()].reduce((sum, one) => sum + one);
    this.counts.lostFires += lost;
    log.warn(
      { hub: this.hub, lost },
      `lost ${counted(lost, 'trigger firing')} from hub "${this.hub}"`,
      'lost trigger firings',
    );
    hub.mirroring.reportLost(lostFires);
  }
}

/** Returns whether a report continues exactly from a mirror's state, in steps that are not too long. */
function follows({ prev, turns, structure }: HubReport, position: Position): boolean {
  if (prev !== position.rev || turns.length === 0 || turns.some((turn) => sizeOf(turn) > maxStep)) return false;
  return position.structure + turns.filter((turn) => !Array.isArray(turn)).length === structure;
}

/** Returns whether a mirror is already ahead of a report. */
function isBehind({ rev, structure, turns }: HubReport, position: Position): boolean {
  if (rev !== position.rev) return rev < position.rev;
  return structure < position.structure || (structure === position.structure && turns.length > 0);
}
