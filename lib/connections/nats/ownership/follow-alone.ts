// A hub without a pair. It runs regardless of the servers, and its lease only serves to detect another hub with the same name (`Rival`).
// While the lease cannot be read, the hub relies on the messages from other hubs.

import { combineLatest, NEVER, type Observable, Subscription, timer } from 'rxjs';
import { switchMap, takeWhile } from 'rxjs/operators';
import type { LeaseState } from '../lease/lease.ts';
import { leaseTimes } from '../lease/lease-record.ts';
import type { LinkState } from '../link/nats-link.ts';
import { longestWaitMs } from './connection-claims.ts';
import { lookMs, type NamesakeReport } from './namesake.ts';
import type { LeaseContext } from './standing.ts';

export function followAlone(all: LeaseContext): Subscription {
  return new LoneHub(all).follow();
}

class LoneHub {
  readonly #all: LeaseContext;
  readonly #rival: Rival;

  constructor(all: LeaseContext) {
    this.#all = all;
    this.#rival = new Rival(all, () => this.#begin());
  }

  follow(): Subscription {
    const { context, link, lease, claims, namesake$ } = this.#all;
    const problems$ = combineLatest([lease.problem$, lease.state$]);
    const following = new Subscription();
    following.add(namesake$.subscribe({ next: (report) => this.#receiveNamesake(report), error: () => {} }));
    following.add(this.#waited().subscribe({ next: () => this.#checkName(), error: () => {} }));
    following.add(lease.state$.subscribe({ next: (state) => this.#enter(state), error: () => {} }));
    following.add(claims.refusals$.subscribe({ next: (known) => known && this.#begin(), error: () => {} }));
    following.add(link.state$.subscribe({ next: (state) => isCutOff(state) && this.#begin(), error: () => {} }));
    following.add(context.scheduler.schedule(() => this.#begin(), longestWaitMs));
    following.add(problems$.subscribe({ next: ([why, state]) => this.#reportProblem(why, state), error: () => {} }));
    following.add(() => this.#rival.stopWaiting());
    return following;
  }

  #begin(): void {
    const { hub, claims, refused, standing } = this.#all;
    if (hub.leadership.term !== undefined) return;
    if (claims.refusals === undefined) refused.holdBack();
    hub.leadership.begin({ number: standing.term, continues: false });
  }

  #enter(state: LeaseState): void {
    const { standing } = this.#all;
    const rival = this.#rival;
    if (state.is === 'taken') {
      if (state.isThere || standing.term > 0) rival.meet(state.name);
      else if (!rival.isMet) rival.waitFor(state.name);
      return;
    }
    rival.stopWaiting();
    if (state.is !== 'held') return;
    rival.forget();
    standing.term = state.term;
    this.#haveName();
  }

  #haveName(): void {
    const { claims, standing } = this.#all;
    standing.hasName = true;
    claims.start();
    standing.notify();
  }

  /**
   * Resolves a conflict between two hubs that are both waiting for the lease. The hub that holds the lease may use the name. If neither hub
   * holds the lease, the hub with the lower epoch may use the name.
   */
  #receiveNamesake({ term, epoch }: NamesakeReport): void {
    const { hub, standing } = this.#all;
    if (standing.term > 0 || !standing.hasName || (term === 0 && epoch > hub.epoch)) return;
    standing.hasName = false;
    standing.notify();
  }

  #reportProblem(why: string, { is }: LeaseState): void {
    const { problem$ } = this.#all;
    if (why !== '') problem$.next(`no lease: ${why}`);
    else if (is !== 'unknown' && !this.#rival.isMet) problem$.next('');
  }

  get #isWaiting(): boolean {
    return this.#all.standing.term === 0 && !this.#rival.isMet;
  }

  /** Emits while the hub is still waiting for the lease, from 2 s after the start of each session. */
  #waited(): Observable<unknown> {
    const { context, link } = this.#all;
    const isWaiting = () => this.#isWaiting;
    const waiting$ = timer(longestWaitMs, lookMs, context.scheduler).pipe(takeWhile(isWaiting, true));
    return link.state$.pipe(switchMap(({ session }) => (session ? waiting$ : NEVER)));
  }

  #checkName(): void {
    const { lease, namesake, standing, problem$ } = this.#all;
    namesake.look();
    if (problem$.value === undefined) problem$.next('');
    /**
     * Whether the holder of the lease is unclear. This is also true while the lease can be read but not written, for example because of
     * missing permissions.
     */
    const isUnclear = this.#isWaiting && (lease.state.is === 'unknown' || !lease.isAnswered || !lease.isRenewed);
    if (isUnclear && !standing.hasName && !namesake.isPresent) this.#haveName();
  }
}

function isCutOff(state: LinkState): boolean {
  return state.session === undefined && state.reason !== '';
}

/** The time within which a lease from an earlier run of this hub, which is no longer renewed, has expired, in milliseconds. */
const rivalMs = leaseTimes.expiryMs + leaseTimes.graceMs;
/** The time that another hub with the same name may take to shut down, in milliseconds. */
const endingMs = 1000;

/** The hubs that have already found another hub with their name. They do not report this again when they restart. */
const hubsWithRival = new WeakSet<object>();

/** Returns whether a hub has already found another hub with its name. */
export function hasMetRival(hub: object): boolean {
  return hubsWithRival.has(hub);
}

/**
 * Another hub that has this hub's name and holds the lease. It may be an earlier run of this hub. Therefore, this hub first waits for a
 * renewal of the lease, and only then leaves the name to the other hub.
 */
class Rival {
  readonly #all: LeaseContext;
  readonly #begin: () => void;
  /** The timer for the next step. */
  #next = Subscription.EMPTY;
  #isMet = false;

  /**
   * `begin` starts the work of this hub unless it has already begun. This is necessary because connections that the other hub does not have
   * continue to run.
   */
  constructor(all: LeaseContext, begin: () => void) {
    this.#all = all;
    this.#begin = begin;
  }

  /** Whether this hub has met the other hub and has not held the lease since then. */
  get isMet(): boolean {
    return this.#isMet;
  }

  /** Leaves the name to the other hub and fails the connection. */
  meet(name: string): void {
    if (this.#isMet) return;
    this.#isMet = true;
    const { context, hub, claims, standing, problem$ } = this.#all;
    const { settings, scheduler } = context;
    standing.hasName = false;
    const reason = `hub "${settings.hub}" of domain "${settings.domain}" already exists, on ${name}`;
    const isNews = standing.term === 0 && !hubsWithRival.has(hub);
    hubsWithRival.add(hub);
    if (isNews) problem$.next(reason);
    const yielded = claims.yield(reason);
    this.#next.unsubscribe();
    this.#next = new Subscription();
    const giveUp = () => this.#giveUp(reason);
    this.#next.add(scheduler.schedule(() => void yielded.then(giveUp), isNews ? endingMs : 0));
  }

  #giveUp(reason: string): void {
    if (this.#next.closed) return;
    this.#begin();
    this.#all.fail(reason);
  }

  /** Waits, and then meets the other hub if its lease is still being renewed. */
  waitFor(name: string): void {
    const { context, lease } = this.#all;
    this.#next.unsubscribe();
    const look = () => (lease.isAnswered && lease.isRenewed ? this.meet(name) : this.waitFor(name));
    this.#next = context.scheduler.schedule(look, rivalMs);
  }

  /** Stops waiting, because no hub holds the lease, this hub holds the lease, or this hub is shutting down. */
  stopWaiting(): void {
    this.#next.unsubscribe();
  }

  /** Forgets the other hub, because this hub now holds the lease. */
  forget(): void {
    this.#isMet = false;
    hubsWithRival.delete(this.#all.hub);
  }
}
