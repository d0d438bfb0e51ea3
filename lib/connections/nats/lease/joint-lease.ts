// The lease on the name of a hub, which is on one cell or on several. To begin, a hub has to hold all of them at one moment, or the one in
// which the last holder has left the whole lease; to go on, any one is enough that it has held since, or that was given back by who did
// not begin. So whoever begins knows that nobody else goes on, and a cell that servers cannot write for some seconds, since they are
// without a leader, ends nobody.

import { BehaviorSubject, combineLatest, type Observable, type SchedulerLike } from 'rxjs';
import { distinctUntilChanged, map } from 'rxjs/operators';
import { within } from '../../../model/time/deadline.ts';
import { Lease, type LeaseState } from './lease.ts';
import type { LeaseRecord } from './lease-record.ts';
import type { Holder, Rivals, Terms, Whole } from './parties.ts';
import type { ForeignRegister, Register } from './register.ts';

/** Confirmations may come a hundred times a second: so many parts are renewed for one, and all others if none has succeeded by then. */
const confirmedFirst = 3;
const allAfterMs = 200;
/** What is heard has the cells looked at so often at most. */
const hurryEveryMs = 20;

export class JointLease {
  readonly #me: Holder;
  readonly #clock: SchedulerLike;
  /** Cells are taken in this order, so that of two hubs that want all of them none waits for the other. */
  readonly #parts: readonly Lease[];
  readonly #state = new BehaviorSubject<LeaseState>({ is: 'unknown' });
  /** The parts that this hub has held since it began, has come to hold while it went on, or was given back, and in which term it has taken each. */
  readonly #kept = new Map<Lease, number>();
  /** The term of all, as it was when this hub began. */
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

  /** Hot, replays last, synchronous, never completes, never errors. */
  get state$(): Observable<LeaseState> {
    return this.#state.asObservable();
  }

  get state(): LeaseState {
    return this.#state.value;
  }

  /** How others name who asks. */
  get ownName(): string {
    return this.#me.name;
  }

  /** Begins to ask for the lease, and to renew it. */
  start(): void {
    for (const part of this.#parts) part.start();
  }

  /** Looks at the clock: whether the lease is held at this moment. Past the fence the state is *fenced* before it answers. */
  isHeld(): boolean {
    if (this.state.is !== 'held') return false;
    for (const part of this.#parts) if (part.isHeld()) return true;
    return false;
  }

  /** Whether it is held by every part, so that the loss of any one would end nobody. */
  get isHeldByAll(): boolean {
    return this.isHeld() && this.#parts.every((part) => part.isHeld());
  }

  /** Hears that something has happened to the lease: it is looked at without a pause. */
  hurry(): void {
    for (const part of this.#parts) part.hurry();
  }

  /** Renews it at once; resolves to whether it is held after that, so nobody else can have begun by the time of the call. Never rejects. */
  async confirm(): Promise<boolean> {
    const parts = this.#byLastRenewal();
    const soon = within(confirmAny(parts.slice(0, confirmedFirst)), allAfterMs, this.#clock);
    return ((await soon) || (await confirmAny(parts))) && this.isHeld();
  }

  /** Hears of a record that somebody has asked to write into one of the cells, which are counted from 0. */
  overheard(record: LeaseRecord, part: number): void {
    this.#parts[part]!.overheard(record);
    const nowMs = this.#clock.now();
    if (!record.isReleased || nowMs - this.#hurriedMs < hurryEveryMs) return;
    this.#hurriedMs = nowMs;
    this.hurry();
  }

  /** Hears of a term: the next holder's is greater, also when the servers have lost the lease. */
  heardOf(term: number): void {
    this.#parts[0]!.heardOf(term);
  }

  /** Asks for nothing any more; what is held runs out by itself. */
  stop(): void {
    for (const part of this.#parts) part.stop();
  }

  /**
   * Gives the lease to whoever wants it. What it protects must have ended before. Never rejects. The whole of it is left in one part, so
   * that others need not wait for those which cannot be written at the moment; no other part can be taken for the whole.
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

  /** Why the servers have answered for no part for a while; empty: they do. Hot, replays last, never completes, never errors. */
  get trouble$(): Observable<string> {
    return combineLatest(this.#parts.map((part) => part.trouble$)).pipe(
      map((all) => (all.includes('') ? '' : all[0]!)),
      distinctUntilChanged(),
    );
  }

  /** Whether the servers have answered for a part lately. */
  get isAnswered(): boolean {
    return this.#parts.some((part) => part.isAnswered);
  }

  /** Whether another hub has renewed a part lately. */
  get isRenewed(): boolean {
    return this.#parts.some((part) => part.isRenewed);
  }

  /** Forgets why they have not answered, as when others are asked from now on. */
  forgetTrouble(): void {
    for (const part of this.#parts) part.forgetTrouble();
  }

  /** The parts by which this hub goes on, first that which most likely can be written. */
  #byLastRenewal(): Lease[] {
    const kept = this.#parts.filter((part) => part.isHeld() && this.#isKept(part));
    return kept.sort((one, other) => other.fenceMs - one.fenceMs);
  }

  /** Looks what its parts come to, after one of them has changed. */
  #look(): void {
    if (this.#hasEnded) return;
    const held = this.#parts.filter((part) => part.isHeld());
    for (const part of held) if (this.#isReturned(part)) this.#kept.set(part, termOf(part));
    const goesOn = held.some((part) => this.#isKept(part));
    if (goesOn || held.length === this.#parts.length || held.some((part) => part.isWhole)) {
      if (!goesOn) this.#begin(held);
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
    if (held.length > 0) this.hurry(); // for the next one
  }

  #begin(held: readonly Lease[]): void {
    this.#kept.clear();
    this.#term = Math.max(...held.map(termOf));
    for (const part of this.#parts) part.begin();
  }

  /** Whether a part is held, or may be held again, and nobody else can have begun by it since this hub began. */
  #isKept(part: Lease): boolean {
    const { state } = part;
    return (state.is === 'held' || state.is === 'fenced') && this.#kept.get(part) === state.term;
  }

  /** Whether another hub, which did not begin, has given back what this one was going on by. */
  #isReturned(part: Lease): boolean {
    return part.returnedTerm !== undefined && this.#kept.get(part) === part.returnedTerm;
  }

  /**
   * Whether to take or renew a part: what has the whole lease, else those behind it only once it is held, and none where another hub goes
   * on by one of these.
   */
  #wants(index: number): boolean {
    const wanted = this.#parts[index]!;
    if (this.isHeld() || this.#isKept(wanted) || this.#isReturned(wanted) || wanted.isWhole) return true;
    return this.#parts.every((part, place) => {
      if (place === index) return true;
      return place < index ? part.isHeld() : !part.isRenewed;
    });
  }

  /** A part is taken in the same term as those that are held, if nobody has had a greater one meanwhile. */
  #nextTerm(index: number): number | undefined {
    const { greatest } = this.#terms;
    const isHeldIn = this.#parts.some((part, place) => place !== index && part.isHeld() && termOf(part) === greatest);
    return isHeldIn ? greatest : undefined;
  }

  #enter(state: LeaseState): void {
    if (JSON.stringify(state) !== JSON.stringify(this.state)) this.#state.next(state);
  }
}

/** What is known of the lease of another hub: of the first cell alone, unless that says that there are more. It is only read. */
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
 * The terms in which the lease of another hub is held: of its cells that can be read, which are more than one only if the first says so.
 * Errors: none of them can be read.
 */
export async function readTerms(registers: readonly ForeignRegister<LeaseRecord>[]): Promise<ReadonlySet<number>> {
  const [first, ...others] = registers;
  const one = await first!.peek().catch(() => undefined);
  const parts = one?.sequence === 0 ? 1 : one?.value === undefined ? registers.length : (one.value.parts ?? 1);
  const asked = await Promise.allSettled(others.slice(0, parts - 1).map((register) => register.peek()));
  const read = [one, ...asked.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined))];
  if (read.every((held) => held === undefined)) throw new Error('nobody can read the lease');
  const records = read.flatMap((held) => held?.value ?? []).filter(({ isReleased }) => !isReleased);
  return new Set(records.map(({ term, begun = term }) => begun));
}

/** Whether any of them was renewed. */
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

/** First those that somebody renews. */
function byRenewal(one: Lease, other: Lease): number {
  return Number(other.isRenewed) - Number(one.isRenewed) || termOf(other) - termOf(one);
}
