// Mirrors another hub. A mirror applies the reports that continue from its state. If data is missing, the mirror requests this data from
// the owner, keeps the reports that arrive in the meantime, and continues from there.

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

/** The time without messages from its owner after which a mirror is stale, in milliseconds. */
const staleAfterMs = 3000;
/**
 * The maximum number of reports, and of their bytes, that are kept while a request is open. Beyond this limit, all of them are dropped and
 * requested again.
 */
const maxKeptMessages = 4096;
const maxKeptBytes = 8 * 1024 * 1024;
/**
 * The pauses between requests for missing data, in milliseconds. The first request is sent immediately. While the requests yield nothing,
 * the pauses grow from the first to the longest pause.
 */
const gapPauses = { firstMs: 20, longestMs: 1000 };
/** The pauses between reads of the owner's lease while it contradicts the reported term, in milliseconds. */
const leasePauses = { firstMs: 100, longestMs: 1000 };
/**
 * The pauses before a request after an invalid message, in milliseconds. The pauses start over when all messages have been valid for a
 * minute. Answers come from the owner itself. Reports may come from other clients if the servers permit this; therefore, the longest pause
 * after an invalid report is short enough to keep the mirror from becoming stale.
 */
const invalidPauses = { firstMs: 100, longestMs: 30_000, provenMs: 60_000 };
const longestReportPauseMs = 1000;
/** The interval at which the log reports that parameters are not shown, in milliseconds. */
const refusedEveryMs = 1000;

export interface MirroredHubContext {
  readonly hub: MirrorPort;
  readonly owner: HubName;
  readonly isOwn: boolean;
  readonly isSelected: (address: string) => boolean;
  /** Returns whether to show a connection that the mirrored hub reports as its own. */
  readonly mayShow: (connectionId: string) => boolean;
  /** Resolves to the terms in which a hub's lease is held, or to undefined if they are currently unknown. Never rejects. */
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
  /** The content of the last heartbeat, which names the sender's machine. */
  heartbeat: Pick<HubReport, 'term' | 'machine'> | undefined;
  /** Whether the complete state of the owner has been received at least once. */
  hasMirrored = false;
  readonly #context: MirroredHubContext;
  readonly #parameters: MirroredParameters;
  readonly #backoff = new Backoff({ firstMs: 100, longestMs: 1000 });
  /** The pauses between requests to a sender that has never answered and may not be a hub. */
  readonly #unknownBackoff = new Backoff({ firstMs: 100, longestMs: 5000 });
  readonly #invalidBackoff = new Backoff(invalidPauses);
  #invalidAtMs = 0;
  #transport: Transport | undefined;
  #position: Position | undefined;
  #term = 0;
  /** The terms of the owner's lease at the time when the lease was last read. */
  #termsOfLease: ReadonlySet<number> = new Set();
  #isLooking = false;
  /** The earliest times for the next read of the lease and for the next request for missing data, in milliseconds. */
  #lookAfterMs = Number.NEGATIVE_INFINITY;
  #repairAfterMs = Number.NEGATIVE_INFINITY;
  readonly #lookBackoff = new Backoff(leasePauses);
  readonly #gapBackoff = new Backoff(gapPauses);
  /** The time at which this mirror last had the complete state of its owner, in milliseconds on the monotonic clock. */
  #freshAtMs: number;
  /** The start of the current period in which no report was accepted although a report could have arrived, in milliseconds. */
  #listensSinceMs: number;
  /** The reports that have arrived since the open request was sent. */
  #kept: { readonly report: HubReport; readonly bytes: number }[] = [];
  readonly #account: Account;
  /** The number of requests so far, by which answers to earlier requests are recognized. */
  #asking = 0;
  #isRepairing = false;
  /** Whether the mirror is waiting for an answer. If it is not, it is pausing before the next request. */
  #isAsked = false;
  /** Whether the owner has sent any message in this session. Before its first message, it could not answer. */
  #hasReceived = false;
  /** Whether a report has been applied since the last snapshot. In this case, an older report comes from another sender. */
  #hasFollowed = false;
  /** Whether this mirror is currently changing parameters. */
  #isStepping = false;
  /** Whether the selection of parameters to show has changed since the open request was sent. */
  #isOutdated = false;
  #waiting = Subscription.EMPTY;
  /** The stale connections in a report that is waiting for its values. */
  #staleDue: HubReport['stale'];
  readonly #fires: FireCounts;
  /** The numbers of turns, gaps, snapshots, lost firings and refused messages since the hub started, for operators. */
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
      if (nowMs - refusedAtMs < refusedEveryMs) return; // `refuse` may be called a million times
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

  /** The network of the current session; undefined if there is no session. */
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

  /** The position up to which data from the owner has been received; `null` if no data has been received. */
  get receipt(): Receipt {
    return this.#position === undefined ? null : { epoch: this.#position.epoch, rev: this.#position.rev };
  }

  /** How far this mirror lags behind its owner, in milliseconds. */
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

  /** Applies a report from the owner. Returns the remaining steps, or undefined if there are none. */
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
   * Returns whether a report with this term comes from the active hub. A message may contain any term, but the lease contains the true
   * term. While the lease cannot be read, only the previous term is accepted.
   */
  #accepts({ term, epoch }: Pick<HubReport, 'term' | 'epoch'>): boolean {
    if (term === this.#term || (term < this.#term && this.#isRestarted(epoch))) return true;
    if (this.#termsOfLease.has(term)) return true;
    if (!this.#isLooking && this.#context.scheduler.now() >= this.#lookAfterMs) void this.#lookAtLease(term);
    return false;
  }

  /**
   * Returns whether a lower term comes from a new run of the owner. This is the case if no other run is sending messages, because the
   * servers have lost the leases or cannot read them.
   */
  #isRestarted(epoch: string): boolean {
    return epoch !== this.epoch && this.#context.scheduler.now() - this.#listensSinceMs >= staleAfterMs;
  }

  /** Reads the terms of the owner's lease after a report with another term. */
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
   * The time at which the mirror becomes stale if no message from its owner arrives, in milliseconds on the monotonic clock; Infinity if
   * the mirror is already stale.
   */
  get staleAtMs(): number {
    return this.staleSince === undefined ? this.#freshAtMs + staleAfterMs : Number.POSITIVE_INFINITY;
  }

  /**
   * Checks whether messages from the owner are still arriving. Must be called when the mirror may be stale. Returns whether the mirror has
   * just become stale.
   */
  look(): boolean {
    if (this.#context.scheduler.now() < this.staleAtMs) return false;
    const { hub, timeOfDay, log } = this.#context;
    this.#staleSince = wallClock.pin(timeOfDay() - this.lagMs);
    log.warn({ hub: this.hub }, `no messages from hub "${this.hub}": ${counted(this.size, 'parameter')} now stale`);
    hub.mirroring.reportStale(this.#parameters.all());
    return true;
  }

  /** Returns whether this mirror could show more parameters if another mirror's parameters were removed. */
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

  /** Handles an invalid report. Requests all data again after a pause. */
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

  /** Applies changed claims: hides the parameters that now belong to another hub, and shows the parameters that may now be shown. */
  applyClaims(): void {
    const parameters = this.#parameters;
    if (parameters.lacksAny()) this.lookAgain();
    if (!parameters.hasMisplaced()) return;
    const steps = parameters.hideMisplaced();
    void this.#context.intake.goThrough(this.hub, { next: () => this.#step(steps) });
  }

  /** Records that a mirrored parameter has been removed, because this hub or a third hub now has its address. */
  noteRemoved({ address }: Parameter): void {
    if (!this.#isStepping) this.#parameters.noteGone(address); // otherwise, this mirror itself is removing the parameter
  }

  /** Requests all data again, with the next message or after the current answer, because more parameters may now be shown. */
  lookAgain(): void {
    if (this.#isRepairing && this.#isAsked) this.#isOutdated = true;
    else this.#position = undefined;
  }

  /** Ends the mirror and removes all mirrored parameters. */
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
        if (!isCurrent()) return; // all data is requested again, including the rest of this report
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

  /** Runs a step of this mirror. Parameters that the step itself removes are not treated as removed by other code (`lookAgain`). */
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
    log.info(
      { hub: this.hub },
      `hub "${this.hub}" is reachable again: ${counted(this.size, 'parameter')} no longer stale`,
    );
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

  /** Requests the missing data. A sender of false reports causes fewer and fewer requests. */
  #repairWithBackoff(): void {
    const nowMs = this.#context.scheduler.now();
    if (nowMs < this.#repairAfterMs) return;
    this.#repairAfterMs = nowMs + this.#gapBackoff.next();
    this.#repair();
  }

  /** Requests all data after a report that contradicts earlier reports. */
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

/** Returns whether a report continues exactly from a mirror's state and its turns are not too long. */
function follows({ prev, turns, structure }: HubReport, position: Position): boolean {
  if (prev !== position.rev || turns.length === 0 || turns.some((turn) => sizeOf(turn) > maxStep)) return false;
  return position.structure + turns.filter((turn) => !Array.isArray(turn)).length === structure;
}

/** Returns whether a mirror is already ahead of a report. */
function isBehind({ rev, structure, turns }: HubReport, position: Position): boolean {
  if (rev !== position.rev) return rev < position.rev;
  return structure < position.structure || (structure === position.structure && turns.length > 0);
}
