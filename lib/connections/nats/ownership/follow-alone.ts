// A hub that has no other one of its name. It runs whatever the servers do; its lease only finds out whether there is another. While
// nobody can read that, it goes by whether another one is heard of.

import { combineLatest, NEVER, type Observable, Subscription, timer } from 'rxjs';
import { switchMap, takeWhile } from 'rxjs/operators';
import type { LeaseState } from '../lease/lease.ts';
import type { LinkState } from '../link/link.ts';
import { longestWaitMs } from './claims.ts';
import type { NamesakeTold } from './namesake.ts';
import { Rival } from './rival.ts';
import type { Following } from './standing.ts';

/** How often it is looked whether one of the name is still heard of, while nobody says who has the lease. */
const lookMs = 500;

export function followAlone(all: Following): Subscription {
  return new LoneHub(all).follow();
}

class LoneHub {
  readonly #all: Following;
  readonly #rival: Rival;

  constructor(all: Following) {
    this.#all = all;
    this.#rival = new Rival(all, () => this.#begin());
  }

  follow(): Subscription {
    const { context, link, lease, claims, namesake$ } = this.#all;
    const troubles$ = combineLatest([lease.trouble$, lease.state$]);
    const following = new Subscription();
    following.add(namesake$.subscribe({ next: (told) => this.#hearNamesake(told), error: () => {} }));
    following.add(this.#waited().subscribe({ next: () => this.#goOn(), error: () => {} }));
    following.add(lease.state$.subscribe({ next: (state) => this.#enter(state), error: () => {} }));
    following.add(claims.refusals$.subscribe({ next: (known) => known && this.#begin(), error: () => {} }));
    following.add(link.state$.subscribe({ next: (state) => isCutOff(state) && this.#begin(), error: () => {} }));
    following.add(context.scheduler.schedule(() => this.#begin(), longestWaitMs));
    following.add(troubles$.subscribe({ next: ([why, state]) => this.#tellTrouble(why, state), error: () => {} }));
    following.add(() => this.#rival.stopWaiting());
    return following;
  }

  #begin(): void {
    const { hub, claims, refused, standing } = this.#all;
    if (hub.duty.watch !== undefined) return;
    if (claims.refusals === undefined) refused.holdBack();
    hub.duty.begin({ term: standing.term, goesOn: false });
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
    standing.tell();
  }

  /** Of two that wait for the lease one has the name: another one that has it, or else the lesser epoch. */
  #hearNamesake({ term, epoch }: NamesakeTold): void {
    const { hub, standing } = this.#all;
    if (standing.term > 0 || !standing.hasName || (term === 0 && epoch > hub.epoch)) return;
    standing.hasName = false;
    standing.tell();
  }

  #tellTrouble(why: string, { is }: LeaseState): void {
    const { trouble$ } = this.#all;
    if (why !== '') trouble$.next(`no lease: ${why}`);
    else if (is !== 'unknown' && !this.#rival.isMet) trouble$.next('');
  }

  get #isWaiting(): boolean {
    return this.#all.standing.term === 0 && !this.#rival.isMet;
  }

  /** Emits while it waits for the lease in vain, from 2 s after each session began on. */
  #waited(): Observable<unknown> {
    const { context, link } = this.#all;
    const isWaiting = () => this.#isWaiting;
    const waiting$ = timer(longestWaitMs, lookMs, context.scheduler).pipe(takeWhile(isWaiting, true));
    return link.state$.pipe(switchMap(({ session }) => (session ? waiting$ : NEVER)));
  }

  #goOn(): void {
    const { lease, namesake, standing, trouble$ } = this.#all;
    if (trouble$.value === undefined) trouble$.next('');
    /** So it is also as long as the lease can be read and not written, as without the permission for it. */
    const isUnclear = this.#isWaiting && (lease.state.is === 'unknown' || !lease.isAnswered || !lease.isRenewed);
    if (isUnclear && !standing.hasName && !namesake.isHeard) this.#haveName();
  }
}

function isCutOff(state: LinkState): boolean {
  return state.session === undefined && state.reason !== '';
}
