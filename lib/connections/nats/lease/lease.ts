// A lease that at most one of several hubs holds at any time, even if hubs, servers or links fail. The holder renews its lease every
// second. Another hub takes the lease if it has seen no renewal for 4 s on its own clock, which is not affected by changes to the system
// time. The holder stops at its fence, 3 s after it requested the last successful renewal. Therefore, it ends before any other hub begins.

import { BehaviorSubject, type Observable, type SchedulerLike, Subscription } from 'rxjs';
import { messageOf } from '../../../model/error.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import { type LeaseRecord, leaseTimes, maxTerm } from './lease-record.ts';
import { type Holder, ofOneRegister, unknownRivals, type Whole } from './parties.ts';
import { NotReplaced, type Register } from './register.ts';
import { Sighting, Succession } from './succession.ts';

/**
 * The state of a lease, as seen by this hub:
 * - *unknown*: the servers have not answered yet.
 * - *held*: this hub holds the lease.
 * - *fenced*: this hub held the lease; the current holder is not known.
 * - *taken*: another hub holds the lease. If `isThere` is true, that hub has answered; otherwise, that hub may have ended or was not
 *   asked.
 */
export type LeaseState =
  | { readonly is: 'unknown' }
  | { readonly is: 'held' | 'fenced'; readonly term: number }
  | { readonly is: 'taken'; readonly term: number; readonly name: string; readonly isThere?: true };

export class Lease {
  readonly #register: Register<LeaseRecord>;
  readonly #me: Holder;
  readonly #clock: SchedulerLike;
  readonly #whole: Whole;
  readonly #state = new BehaviorSubject<LeaseState>({ is: 'unknown' });
  #fenceTimer = Subscription.EMPTY;
  #working: Promise<void> | undefined;
  readonly #pause: Pause;
  #hasEnded = false;
  readonly #problem = new BehaviorSubject('');
  readonly #sighting = new Sighting();
  readonly #succession: Succession;
  /** The term of the record that this hub has written, as far as this hub knows. */
  #ownTerm: number | undefined;
  /** Whether the whole lease belongs to the next hub that takes the newest record, or to this hub if it has taken this record. */
  #isWhole = false;
  /** The previous holder in the record, while this hub has not begun since it took the part. */
  #before: LeaseRecord['before'];
  /** The term of the record that this hub wrote before another hub took the part, did not begin, and returned the part. */
  #returnedTerm: number | undefined;
  #fenceMs = Number.NEGATIVE_INFINITY;
  /** The number of records that this hub has written. */
  #records = 0;
  /**
   * The number of renewals so far, and the callers that are waiting for the next renewal. Taking the lease again does not count as a
   * renewal, because another hub may have held the lease in between.
   */
  #renewals = 0;
  #confirming: ((isRenewed: boolean) => void)[] = [];

  constructor(
    register: Register<LeaseRecord>,
    me: Holder,
    clock: SchedulerLike,
    rivals = unknownRivals,
    whole = ofOneRegister(),
  ) {
    this.#register = register;
    this.#me = me;
    this.#clock = clock;
    this.#pause = new Pause(clock);
    this.#whole = whole;
    this.#succession = new Succession(me, this.#sighting, rivals, whole);
  }

  /** The state of the lease. Hot, replays last, synchronous, never completes, never errors. */
  get state$(): Observable<LeaseState> {
    return this.#state.asObservable();
  }

  get state(): LeaseState {
    return this.#state.value;
  }

  /** Starts to request the lease and to renew it. */
  start(): void {
    this.#working ??= this.#work();
  }

  /**
   * Returns whether the lease is held at this moment, according to the clock. If the fence has passed, the state first changes to *fenced*.
   */
  isHeld(): boolean {
    if (this.state.is !== 'held') return false;
    if (this.#clock.now() < this.#fenceMs) return true;
    this.#state.next({ is: 'fenced', term: this.state.term });
    return false;
  }

  /** The time at which the lease ends unless it is renewed, in milliseconds on the clock. */
  get fenceMs(): number {
    return this.#fenceMs;
  }

  /** Whether another hub holds the lease and has recently renewed it. */
  get isRenewed(): boolean {
    if (this.state.is !== 'taken' || !this.#sighting.isTaken) return false;
    return this.#sighting.unseenMs(this.#clock.now()) < leaseTimes.expiryMs;
  }

  /** Whether another hub holds the lease and has not renewed it in time, although the servers have been answering. */
  get hasRunOut(): boolean {
    return this.state.is === 'taken' && this.#sighting.isOver(this.#clock.now());
  }

  /**
   * Whether the last holder has left the whole lease in this register, and no hub other than this hub has taken the register since then.
   */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Reads the register immediately, because the lease may have changed. */
  hurry(): void {
    if (this.#ownTerm === undefined) this.#pause.wake();
  }

  /**
   * The term in which this hub held the part before another hub took the part, did not begin, and returned it; undefined if this has not
   * happened.
   */
  get returnedTerm(): number | undefined {
    return this.#returnedTerm;
  }

  /** Records that this hub has begun. From now on, it does not return the part to the previous holder. */
  begin(): void {
    this.#before = undefined;
  }

  /** Renews the lease immediately if this hub holds it. Resolves to whether the renewal has succeeded. Never rejects. */
  confirm(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    if (this.#ownTerm === undefined || this.#hasEnded) resolve(false);
    else {
      this.#confirming.push(resolve);
      this.#pause.wake();
    }
    return promise;
  }

  /** Records that a hub has requested to write a record into the register. */
  noteRequest(record: LeaseRecord): void {
    this.#sighting.noteRequest(record, this.#clock.now());
  }

  /** Records a term. The next holder gets a greater term, even if the servers have lost the lease. */
  noteTerm(term: number): void {
    const { terms } = this.#whole;
    terms.greatest = Math.max(terms.greatest, term);
  }

  /** Stops all requests. A lease that this hub holds expires. */
  stop(): void {
    this.#hasEnded = true;
    this.#fenceTimer.unsubscribe();
    this.#pause.wake();
  }

  /**
   * Releases this part, or with `isWhole` the whole lease, to any hub that wants the lease. Connections and rules must have ended before.
   * Never rejects. Resolves to false only if it is certain that nothing has been released.
   */
  async release(isWhole = false): Promise<boolean> {
    this.stop();
    await this.#working;
    const term = this.#ownTerm;
    this.#ownTerm = undefined;
    this.#fenceMs = Number.NEGATIVE_INFINITY;
    this.isHeld();
    if (term === undefined) return false;
    const released: LeaseRecord = isWhole
      ? { ...this.#record(this.#whole.terms.greatest), isReleased: true, isWhole } // the hub that takes the lease may know no other term
      : { ...this.#record(term), isReleased: true };
    try {
      if ((await this.#register.replace(released, this.#sighting.sequence)) !== undefined) return true;
      const { sequence, value } = await this.#register.read(); // a renewal without an answer may have succeeded, and so may this release
      if (value?.holder === this.#me.id && !value.isReleased) await this.#register.replace(released, sequence);
      return true;
    } catch (error) {
      return !(error instanceof NotReplaced); // the lease expires
    }
  }

  /**
   * The reason why the servers have not answered for some time; '' if they answer. Emits after each answer. Hot, replays last, never
   * completes, never errors.
   */
  get problem$(): Observable<string> {
    return this.#problem.asObservable();
  }

  /** Whether the servers have recently answered a request for the register. */
  get isAnswered(): boolean {
    return this.#sighting.silentMs(this.#clock.now()) <= leaseTimes.problemAfterMs;
  }

  /** Clears the problem, because it is not known yet whether the next servers answer. */
  clearProblem(): void {
    if (this.#problem.value !== '') this.#problem.next('');
  }

  async #work(): Promise<void> {
    while (!this.#hasEnded) {
      let pauseMs: number = leaseTimes.retryMs;
      this.#pause.forget();
      const confirming = this.#confirming.splice(0);
      const renewals = this.#renewals;
      try {
        pauseMs = this.#ownTerm === undefined ? await this.#look() : await this.#renew(this.#ownTerm);
      } catch (error) {
        this.#sighting.unanswered();
        if (!this.isAnswered) this.#problem.next(messageOf(error));
      }
      for (const resolve of confirming) resolve(this.#renewals > renewals);
      if (pauseMs > 0 && !this.#pause.isWoken && !this.#hasEnded) await this.#pause.for(pauseMs);
    }
    for (const resolve of this.#confirming.splice(0)) resolve(false);
  }

  /** Renews the lease. Resolves to the pause until the next renewal, in milliseconds. */
  async #renew(term: number): Promise<number> {
    if (!this.#whole.isWanted() || (await this.#isAwaited())) return this.#giveUp(term);
    const askedMs = this.#clock.now();
    const sequence = await this.#register.replace(this.#record(term), this.#sighting.sequence);
    this.#noteAnswer(this.#clock.now());
    if (sequence === undefined) return this.#look();
    this.#renewals++;
    this.#hold(term, sequence, askedMs);
    return leaseTimes.renewMs - (this.#clock.now() - askedMs);
  }

  /** Resolves to whether the previous holder may continue with this part because this hub has not begun. */
  async #isAwaited(): Promise<boolean> {
    return (await this.#succession.isAwaited(this.#before)) && this.#before !== undefined;
  }

  /** Gives the part up to other hubs. Resolves to the pause until the next read, in milliseconds. */
  async #giveUp(term: number): Promise<number> {
    this.#fenceMs = Number.NEGATIVE_INFINITY;
    this.isHeld();
    this.#ownTerm = undefined;
    await this.#register.replace({ ...this.#record(term), isReleased: true }, this.#sighting.sequence);
    return leaseTimes.lookMs;
  }

  /**
   * Determines the holder of the lease, and takes the lease if it has no holder. Resolves to the pause until the next read, in
   * milliseconds.
   */
  async #look(): Promise<number> {
    const held = await this.#register.read();
    const { value } = held;
    const nowMs = this.#clock.now();
    this.#noteAnswer(nowMs);
    this.noteTerm(value?.term ?? 0);
    this.#sighting.note(held, nowMs);
    const isOwn = value !== undefined && !value.isReleased && value.holder === this.#me.id;
    this.#ownTerm = isOwn ? value.term : undefined;
    if (!isOwn) this.#noteReleased(value); // otherwise, a record by this hub has replaced the record that it has read
    if (isOwn) return 0; // a write without an answer has succeeded; the lease is held as soon as it is renewed
    const { mayTake, isThere, before } = await this.#succession.find(value, nowMs, this.isHeld());
    if (mayTake && !this.#hasEnded && this.#whole.isWanted()) return this.#take(this.#nextTerm(value), before);
    if (value !== undefined && value.holder !== this.#me.id)
      this.#enter({ is: 'taken', term: value.term, name: value.name, ...(isThere && { isThere }) });
    return leaseTimes.lookMs;
  }

  #noteReleased(value: LeaseRecord | undefined): void {
    const released = value?.isReleased === true ? value : undefined;
    this.#isWhole = released?.isWhole === true;
    this.#returnedTerm = released?.before?.holder === this.#me.id ? released.before.term : undefined;
  }

  #nextTerm(value: LeaseRecord | undefined): number {
    const { terms, nextTerm } = this.#whole;
    const next = Math.max(nextTerm?.() ?? terms.greatest + 1, (value?.term ?? 0) + 1);
    if (next <= maxTerm) return next;
    terms.greatest = 0; // a hub has written the last possible term, after which terms start again
    return 1;
  }

  async #take(term: number, before: LeaseRecord['before']): Promise<number> {
    const askedMs = this.#clock.now();
    this.#before = this.#whole.hasBegun?.() ? undefined : before;
    const sequence = await this.#register.replace(this.#record(term), this.#sighting.sequence);
    if (sequence === undefined) return 0;
    this.#ownTerm = term;
    this.noteTerm(term);
    this.#hold(term, sequence, askedMs);
    return leaseTimes.renewMs;
  }

  #hold(term: number, sequence: number, askedMs: number): void {
    this.#sighting.noteOwn(sequence, this.#clock.now());
    this.#fenceMs = askedMs + leaseTimes.fenceMs;
    if (this.#hasEnded || this.#clock.now() >= this.#fenceMs) return;
    this.#stopAtFence();
    this.#enter({ is: 'held', term });
  }

  /** Changes the state to *fenced* at the fence. If the timer fires slightly too early, it is set again. */
  #stopAtFence(): void {
    this.#fenceTimer.unsubscribe();
    const leftMs = Math.ceil(this.#fenceMs - this.#clock.now());
    this.#fenceTimer = this.#clock.schedule(() => {
      if (this.isHeld()) this.#stopAtFence();
    }, leftMs);
  }

  #noteAnswer(nowMs: number): void {
    this.#sighting.answered(nowMs);
    this.#problem.next('');
  }

  #enter(state: LeaseState): void {
    if (JSON.stringify(state) !== JSON.stringify(this.state)) this.#state.next(state);
  }

  #record(term: number): LeaseRecord {
    const { id, name, parts } = this.#me;
    const begun = this.#whole.begunIn?.();
    return {
      term,
      holder: id,
      name,
      isReleased: false,
      renewal: this.#records++,
      ...(parts !== undefined && { parts }),
      ...(begun !== undefined && begun !== term && { begun }),
      ...(this.#before !== undefined && { before: this.#before }),
    };
  }
}
