// Who of several hubs may do something: at most one at a time, whatever stops, dies or is cut off. A holder renews its lease each
// second; another one takes it when it has seen no renewal for 4 s by a clock of its own, which no setting of the time moves. The
// holder stops at its fence 3 s after it asked for the last renewal that succeeded, so it is over before anybody else begins.

import { BehaviorSubject, type Observable, type SchedulerLike, Subscription } from 'rxjs';
import { messageOf } from '../../../model/error.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import { type LeaseRecord, leaseTimes, maxTerm } from './lease-record.ts';
import { type Holder, ofOneRegister, unknownRivals, type Whole } from './parties.ts';
import { NotReplaced, type Register } from './register.ts';
import { Sighting, Succession } from './succession.ts';

/**
 * - *unknown*: the servers have not answered yet.
 * - *held*: it is this hub's.
 * - *fenced*: it was this hub's, who has it now is not known.
 * - *taken*: another one has it. `isThere`: it has said so itself; left out, it may have ended, or was not asked.
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
  readonly #trouble = new BehaviorSubject('');
  readonly #sighting = new Sighting();
  readonly #succession: Succession;
  /** The term of this hub's own record, as far as it knows. */
  #ownTerm: number | undefined;
  /** Whether who takes the newest record, or who has taken it, has the whole lease. */
  #isWhole = false;
  /** As in the record, as long as this hub has not begun since it took the part. */
  #before: LeaseRecord['before'];
  /** The term of this hub's own record that nobody has begun after who had this part: they have given it back. */
  #returnedTerm: number | undefined;
  #fenceMs = Number.NEGATIVE_INFINITY;
  /** How many records this hub has made. */
  #records = 0;
  /** How often it was renewed, and who waits for the next time; to take it anew is none, as another hub may have had it meanwhile. */
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

  /** Hot, replays last, synchronous, never completes, never errors. */
  get state$(): Observable<LeaseState> {
    return this.#state.asObservable();
  }

  get state(): LeaseState {
    return this.#state.value;
  }

  /** Begins to ask for the lease, and to renew it. */
  start(): void {
    this.#working ??= this.#work();
  }

  /** Looks at the clock: whether the lease is held at this moment. Past the fence the state is *fenced* before it answers. */
  isHeld(): boolean {
    if (this.state.is !== 'held') return false;
    if (this.#clock.now() < this.#fenceMs) return true;
    this.#state.next({ is: 'fenced', term: this.state.term });
    return false;
  }

  /** Until when it is held unless it is renewed, by the clock. */
  get fenceMs(): number {
    return this.#fenceMs;
  }

  /** Whether another hub has it, and has renewed it lately. */
  get isRenewed(): boolean {
    if (this.state.is !== 'taken' || !this.#sighting.isTaken) return false;
    return this.#sighting.unseenMs(this.#clock.now()) < leaseTimes.expiryMs;
  }

  /** Whether another hub has it, and has not renewed it in time, though the servers have answered. */
  get hasRunOut(): boolean {
    return this.state.is === 'taken' && this.#sighting.isOver(this.#clock.now());
  }

  /** Whether the last holder has left the whole lease in this cell, which nobody has taken since, or this hub has. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Hears that something has happened to the lease: it is looked at without a pause. */
  hurry(): void {
    if (this.#ownTerm === undefined) this.#pause.wake();
  }

  /** The term in which this hub had this part before another one, which did not begin, took it and gave it back; undefined: none has. */
  get returnedTerm(): number | undefined {
    return this.#returnedTerm;
  }

  /** Hears that this hub has begun: from now on it gives nothing back to who was before. */
  begin(): void {
    this.#before = undefined;
  }

  /** Renews it at once, if it is this hub's; resolves to whether that has succeeded. Never rejects. */
  confirm(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    if (this.#ownTerm === undefined || this.#hasEnded) resolve(false);
    else {
      this.#confirming.push(resolve);
      this.#pause.wake();
    }
    return promise;
  }

  /** Hears of a record that somebody has asked to write into the cell. */
  overheard(record: LeaseRecord): void {
    this.#sighting.overheard(record, this.#clock.now());
  }

  /** Hears of a term: the next holder's is greater, also when the servers have lost the lease. */
  heardOf(term: number): void {
    const { terms } = this.#whole;
    terms.greatest = Math.max(terms.greatest, term);
  }

  /** Asks for nothing any more; what is held runs out by itself. */
  stop(): void {
    this.#hasEnded = true;
    this.#fenceTimer.unsubscribe();
    this.#pause.wake();
  }

  /**
   * Gives the lease to whoever wants it, the whole of it or this part. What it protects must have ended before. Never rejects; resolves to
   * false only when it is certain that nobody was given anything.
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
      ? { ...this.#record(this.#whole.terms.greatest), isReleased: true, isWhole } // whoever takes it may know of no other term
      : { ...this.#record(term), isReleased: true };
    try {
      if ((await this.#register.replace(released, this.#sighting.sequence)) !== undefined) return true;
      const { sequence, value } = await this.#register.read(); // a renewal that was not answered may have succeeded, and so may this
      if (value?.holder === this.#me.id && !value.isReleased) await this.#register.replace(released, sequence);
      return true;
    } catch (error) {
      return !(error instanceof NotReplaced); // it runs out by itself
    }
  }

  /** Why the servers have not answered for a while; empty: they do. Told with each answer. Hot, replays last, never completes, never errors. */
  get trouble$(): Observable<string> {
    return this.#trouble.asObservable();
  }

  /** Whether they have answered lately. */
  get isAnswered(): boolean {
    return this.#sighting.silentMs(this.#clock.now()) <= leaseTimes.troubleMs;
  }

  /** Forgets why they have not answered: what is to be asked now is not known yet. */
  forgetTrouble(): void {
    if (this.#trouble.value !== '') this.#trouble.next('');
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
        if (!this.isAnswered) this.#trouble.next(messageOf(error));
      }
      for (const resolve of confirming) resolve(this.#renewals > renewals);
      if (pauseMs > 0 && !this.#pause.isWoken && !this.#hasEnded) await this.#pause.for(pauseMs);
    }
    for (const resolve of this.#confirming.splice(0)) resolve(false);
  }

  /** Renews the lease; returns the pause until the next time. */
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

  /** Whether who had it before may go on by it, as this hub has not begun. */
  async #isAwaited(): Promise<boolean> {
    return (await this.#succession.isAwaited(this.#before)) && this.#before !== undefined;
  }

  /** Leaves it to others, and goes on to look; returns the pause until then. */
  async #giveUp(term: number): Promise<number> {
    this.#fenceMs = Number.NEGATIVE_INFINITY;
    this.isHeld();
    this.#ownTerm = undefined;
    await this.#register.replace({ ...this.#record(term), isReleased: true }, this.#sighting.sequence);
    return leaseTimes.lookMs;
  }

  /** Looks who has the lease, and takes it if nobody does; returns the pause until the next look. */
  async #look(): Promise<number> {
    const held = await this.#register.read();
    const { value } = held;
    const nowMs = this.#clock.now();
    this.#noteAnswer(nowMs);
    this.heardOf(value?.term ?? 0);
    this.#sighting.note(held, nowMs);
    const isOwn = value !== undefined && !value.isReleased && value.holder === this.#me.id;
    this.#ownTerm = isOwn ? value.term : undefined;
    if (!isOwn) this.#noteReleased(value); // its own record is in the place of the one it saw
    if (isOwn) return 0; // a write that was not answered has succeeded: it is held once it is renewed
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
    terms.greatest = 0; // somebody has written the last term there is: terms begin anew
    return 1;
  }

  async #take(term: number, before: LeaseRecord['before']): Promise<number> {
    const askedMs = this.#clock.now();
    this.#before = this.#whole.hasBegun?.() ? undefined : before;
    const sequence = await this.#register.replace(this.#record(term), this.#sighting.sequence);
    if (sequence === undefined) return 0;
    this.#ownTerm = term;
    this.heardOf(term);
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

  /** A timer may be a little early: it looks again then. */
  #stopAtFence(): void {
    this.#fenceTimer.unsubscribe();
    const leftMs = Math.ceil(this.#fenceMs - this.#clock.now());
    this.#fenceTimer = this.#clock.schedule(() => {
      if (this.isHeld()) this.#stopAtFence();
    }, leftMs);
  }

  #noteAnswer(nowMs: number): void {
    this.#sighting.answered(nowMs);
    this.#trouble.next('');
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
