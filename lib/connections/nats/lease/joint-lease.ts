// The lease on a hub's name, which consists of one or several registers. To begin, a hub must hold all registers at the same time, or the
// register in which the last holder has left the whole lease. To continue, a hub needs only one register that it has held ever since, or
// that was returned by a hub that did not begin. Therefore, a hub that begins knows that no other hub continues. If a register cannot be
// written for some seconds because it has no leader, the term does not end.

import { BehaviorSubject, combineLatest, type Observable, type SchedulerLike } from 'rxjs';
import { distinctUntilChanged, map } from 'rxjs/operators';
import { within } from '../../../model/time/deadline.ts';
import { Lease, type LeaseState } from './lease.ts';
import type { LeaseRecord } from './lease-record.ts';
import type { Holder, Rivals, Terms, Whole } from './parties.ts';
import type { ForeignRegister, Register } from './register.ts';

/**
 * The number of parts that each confirmation renews at first. There may be up to a hundred confirmations per second, so not all parts are
 * renewed. If no renewal has succeeded after `allAfterMs`, the remaining parts are renewed as well.
 */
const confirmedFirst = 3;
const allAfterMs = 200;
/** The minimum interval between reads of the registers that are caused by notifications, in milliseconds. */
const hurryEveryMs = 20;

export class JointLease {
  readonly #me: Holder;
  readonly #clock: SchedulerLike;
  /**
   * The parts in the order in which they are taken. Because this order is fixed, two hubs that want all parts never wait for each other.
   */
  readonly #parts: readonly Lease[];
  readonly #state = new BehaviorSubject<LeaseState>({ is: 'unknown' });
  /**
   * The parts with which this hub may continue, each with the term in which it was taken: parts held since this hub began, parts taken
   * later, and parts returned to this hub.
   */
  readonly #kept = new Map<Lease, number>();
  /** The term of the whole lease, which is set when this hub begins. */
  #term = 0;
  readonly #terms: Terms = { greatest: 0 };
  #hasEnded = false;
  #hurriedMs = Number.NEGATIVE_INFINITY;

  constructor(registers: readonly Register<LeaseRecord>[], me: Holder, clock: SchedulerLike, rivals: Rivals) {
    this.#me = me;
    this.#clock = clock;
    const own = { ...me, parts: registers.length };
    const wholeOf = (index: number): Whole => ({
      terms: this.#terms,
      isWanted: () => this.#wants(index),
      hasRunOut: () => this.#parts.some((part, place) => place !== index && (part.isHeld() || part.hasRunOut)),
      hasBegun: () => this.#kept.size > 0,
      begunIn: () => (this.#kept.size > 0 ? this.#term : undefined),
      nextTerm: () => this.#nextTerm(index),
    });
    this.#parts = registers.map((register, index) => new Lease(register, own, clock, rivals, wholeOf(index)));
    for (const part of this.#parts) part.state$.subscribe({ next: () => this.#look(), error: () => {} });
  }

  /** The state of the lease. Hot, replays last, synchronous, never completes, never errors. */
  get state$(): Observable<LeaseState> {
    return this.#state.asObservable();
  }

  get state(): LeaseState {
    return this.#state.value;
  }

  /** The name of this hub as shown to other hubs. */
  get ownName(): string {
    return this.#me.name;
  }

  /** Starts to request the lease and to renew it. */
  start(): void {
    for (const part of this.#parts) part.start();
  }

  /**
   * Returns whether the lease is held at this moment, according to the clock. If the fence has passed, the state first changes to *fenced*.
   */
  isHeld(): boolean {
    if (this.state.is !== 'held') return false;
    for (const part of this.#parts) if (part.isHeld()) return true;
    return false;
  }

  /** Whether this hub holds every part. In this case, the loss of any one part does not end the term. */
  get isHeldByAll(): boolean {
    return this.isHeld() && this.#parts.every((part) => part.isHeld());
  }

  /** Reads the registers immediately, because the lease may have changed. */
  hurry(): void {
    for (const part of this.#parts) part.hurry();
  }

  /**
   * Renews the lease immediately. Resolves to whether this hub then holds the lease. If it does, no other hub had begun before the call.
   * Never rejects.
   */
  async confirm(): Promise<boolean> {
    const parts = this.#byLastRenewal();
    const soon = within(confirmAny(parts.slice(0, confirmedFirst)), allAfterMs, this.#clock);
    return ((await soon) || (await confirmAny(parts))) && this.isHeld();
  }

  /** Records that a hub has requested to write a record into the register with the index `part`. */
  noteRequest(record: LeaseRecord, part: number): void {
    this.#parts[part]!.noteRequest(record);
    const nowMs = this.#clock.now();
    if (!record.isReleased || nowMs - this.#hurriedMs < hurryEveryMs) return;
    this.#hurriedMs = nowMs;
    this.hurry();
  }

  /** Records a term. The next holder gets a greater term, even if the servers have lost the lease. */
  noteTerm(term: number): void {
    this.#parts[0]!.noteTerm(term);
  }

  /** Stops all requests. Parts that this hub holds expire. */
  stop(): void {
    for (const part of this.#parts) part.stop();
  }

  /**
   * Releases the lease to any hub that wants it. Connections and rules must have ended before. Never rejects. The whole lease is left in
   * one part, so that other hubs do not have to wait for parts that currently cannot be written. No other part is marked as the whole
   * lease.
   */
  async release(): Promise<void> {
    this.stop();
    const wasHeld = this.isHeld();
    this.#hasEnded = true;
    if (wasHeld) this.#enter({ is: 'fenced', term: this.#term });
    const tried = new Set<Lease>();
    for (const part of wasHeld ? this.#byLastRenewal() : []) {
      tried.add(part);
      if (await part.release(true)) break;
    }
    await Promise.all(this.#parts.map((part) => tried.has(part) || part.release()));
  }

  /**
   * The reason why the servers have not answered for any part for some time; '' if they answer. Hot, replays last, never completes, never
   * errors.
   */
  get problem$(): Observable<string> {
    return combineLatest(this.#parts.map((part) => part.problem$)).pipe(
      map((all) => (all.includes('') ? '' : all[0]!)),
      distinctUntilChanged(),
    );
  }

  /** Whether the servers have recently answered requests for any part. */
  get isAnswered(): boolean {
    return this.#parts.some((part) => part.isAnswered);
  }

  /** Whether another hub has recently renewed any part. */
  get isRenewed(): boolean {
    return this.#parts.some((part) => part.isRenewed);
  }

  /** Clears the problem, for example because the hub uses other servers from now on. */
  clearProblem(): void {
    for (const part of this.#parts) part.clearProblem();
  }

  /** Returns the parts with which this hub continues. The most recently renewed part is first, because it is most likely to be writable. */
  #byLastRenewal(): Lease[] {
    const kept = this.#parts.filter((part) => part.isHeld() && this.#isKept(part));
    return kept.sort((one, other) => other.fenceMs - one.fenceMs);
  }

  /** Determines the state from the parts after a part has changed. */
  #look(): void {
    if (this.#hasEnded) return;
    const held = this.#parts.filter((part) => part.isHeld());
    for (const part of held) if (this.#isReturned(part)) this.#kept.set(part, termOf(part));
    const continues = held.some((part) => this.#isKept(part));
    if (continues || held.length === this.#parts.length || held.some((part) => part.isWhole)) {
      if (!continues) this.#begin(held);
      for (const part of held) this.#kept.set(part, termOf(part));
      this.#enter({ is: 'held', term: this.#term });
      return;
    }
    if (this.#parts.some((part) => this.#isKept(part))) {
      this.#enter({ is: 'fenced', term: this.#term });
      return;
    }
    this.#kept.clear();
    const [holder] = this.#parts.filter(({ state }) => state.is === 'taken').sort(byRenewal);
    if (holder?.state.is === 'taken') this.#enter(holder.state);
    else if (this.state.is === 'held') this.#enter({ is: 'fenced', term: this.#term });
    if (held.length > 0) this.hurry(); // the next part may be taken
  }

  #begin(held: readonly Lease[]): void {
    this.#kept.clear();
    this.#term = Math.max(...held.map(termOf));
    for (const part of this.#parts) part.begin();
  }

  /**
   * Returns whether this hub holds a part or may hold it again, provided that no other hub can have begun with this part since this hub
   * began.
   */
  #isKept(part: Lease): boolean {
    const { state } = part;
    return (state.is === 'held' || state.is === 'fenced') && this.#kept.get(part) === state.term;
  }

  /** Returns whether a hub that did not begin has returned a part with which this hub continued. */
  #isReturned(part: Lease): boolean {
    return part.returnedTerm !== undefined && this.#kept.get(part) === part.returnedTerm;
  }

  /**
   * Returns whether this hub should take or renew a part. It always wants the part with the whole lease. It wants any other part as soon as
   * it holds all parts before it, unless another hub continues with a later part.
   */
  #wants(index: number): boolean {
    const wanted = this.#parts[index]!;
    if (this.isHeld() || this.#isKept(wanted) || this.#isReturned(wanted) || wanted.isWhole) return true;
    return this.#parts.every((part, place) => {
      if (place === index) return true;
      return place < index ? part.isHeld() : !part.isRenewed;
    });
  }

  /**
   * Returns the greatest known term if this hub holds another part in this term, so that the part is taken in the same term. Otherwise
   * returns undefined.
   */
  #nextTerm(index: number): number | undefined {
    const { greatest } = this.#terms;
    const isHeldIn = this.#parts.some((part, place) => place !== index && part.isHeld() && termOf(part) === greatest);
    return isHeldIn ? greatest : undefined;
  }

  #enter(state: LeaseState): void {
    if (JSON.stringify(state) !== JSON.stringify(this.state)) this.#state.next(state);
  }
}

/**
 * Returns a reader for another hub's lease. The reader reads the first register, and further registers only if the first register shows
 * that they exist.
 */
export function readJointly(registers: readonly ForeignRegister<LeaseRecord>[]): Pick<Register<LeaseRecord>, 'read'> {
  return {
    async read() {
      const [first, ...others] = registers;
      const one = await first!.peek();
      const rest = await Promise.all(others.slice(0, (one.value?.parts ?? 1) - 1).map((register) => register.peek()));
      const all = [one, ...rest];
      const value = all.find((held) => held.value?.isReleased === false)?.value ?? one.value;
      return { sequence: all.reduce((sum, { sequence }) => sum + sequence, 0), value };
    },
  };
}

/**
 * Resolves to the terms in which another hub's lease is held, according to all registers that can be read. Further registers are read only
 * if the first register shows that they exist. Rejects if no register can be read.
 */
export async function readTerms(registers: readonly ForeignRegister<LeaseRecord>[]): Promise<ReadonlySet<number>> {
  const [first, ...others] = registers;
  const one = await first!.peek().catch(() => undefined);
  const parts = one?.sequence === 0 ? 1 : one?.value === undefined ? registers.length : (one.value.parts ?? 1);
  const asked = await Promise.allSettled(others.slice(0, parts - 1).map((register) => register.peek()));
  const read = [one, ...asked.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined))];
  if (read.every((held) => held === undefined)) throw new Error('the lease cannot be read');
  const records = read.flatMap((held) => held?.value ?? []).filter(({ isReleased }) => !isReleased);
  return new Set(records.map(({ term, begun = term }) => begun));
}

/** Renews parts. Resolves to whether any part has been renewed. */
function confirmAny(parts: readonly Lease[]): Promise<boolean> {
  const asked = parts.map(async (part) => {
    if (!(await part.confirm())) throw new Error('not renewed');
  });
  return Promise.any(asked).then(
    () => true,
    () => false,
  );
}

function termOf({ state }: Lease): number {
  return state.is === 'unknown' ? 0 : state.term;
}

/** Compares two parts so that the most recently renewed part comes first. */
function byRenewal(one: Lease, other: Lease): number {
  return Number(other.isRenewed) - Number(one.isRenewed) || termOf(other) - termOf(one);
}
