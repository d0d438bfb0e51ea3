// A hub that has no other one of its name. It runs whatever the servers do; its lease only finds out whether there is another. While
// nobody can read that, it goes by whether another one is heard of.

import { combineLatest, NEVER, Subscription, timer } from 'rxjs';
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
  const { context, hub, link, lease, claims, standing, trouble$ } = all;
  const { scheduler } = context;
  const following = new Subscription();
  const begin = () => {
    if (hub.duty.watch !== undefined) return;
    if (claims.refusals === undefined) all.refused.holdBack();
    hub.duty.begin({ term: standing.term, goesOn: false });
  };
  const rival = new Rival(all, begin);
  const enter = (state: LeaseState) => {
    if (state.is === 'taken') {
      if (state.isThere || standing.term > 0) rival.meet(state.name);
      else if (!rival.isMet) rival.waitFor(state.name);
      return;
    }
    rival.stopWaiting();
    if (state.is !== 'held') return;
    rival.forget();
    standing.term = state.term;
    haveName();
  };
  const haveName = () => {
    standing.hasName = true;
    claims.start();
    standing.tell();
  };
  /** Of two that wait for the lease one has the name: another one that has it, or else the lesser epoch. */
  const hearNamesake = ({ term, epoch }: NamesakeTold) => {
    if (standing.term > 0 || !standing.hasName || (term === 0 && epoch > hub.epoch)) return;
    standing.hasName = false;
    standing.tell();
  };
  const tell = ([why, { is }]: readonly [string, LeaseState]) => {
    if (why !== '') trouble$.next(`no lease: ${why}`);
    else if (is !== 'unknown' && !rival.isMet) trouble$.next('');
  };
  const isWaiting = () => standing.term === 0 && !rival.isMet;
  const waiting$ = timer(longestWaitMs, lookMs, scheduler).pipe(takeWhile(isWaiting, true));
  const waited$ = link.state$.pipe(switchMap(({ session }) => (session ? waiting$ : NEVER)));
  const goOn = () => {
    if (trouble$.value === undefined) trouble$.next('');
    /** So it is also as long as the lease can be read and not written, as without the permission for it. */
    const isUnclear = isWaiting() && (lease.state.is === 'unknown' || !lease.isAnswered || !lease.isRenewed);
    if (isUnclear && !standing.hasName && !all.namesake.isHeard) haveName();
  };
  following.add(all.namesake$.subscribe({ next: hearNamesake, error: () => {} }));
  following.add(waited$.subscribe({ next: goOn, error: () => {} }));
  following.add(lease.state$.subscribe({ next: enter, error: () => {} }));
  following.add(claims.refusals$.subscribe({ next: (known) => known && begin(), error: () => {} }));
  const isCutOff = (state: LinkState) => state.session === undefined && state.reason !== '';
  following.add(link.state$.subscribe({ next: (state) => isCutOff(state) && begin(), error: () => {} }));
  following.add(scheduler.schedule(begin, longestWaitMs));
  following.add(combineLatest([lease.trouble$, lease.state$]).subscribe({ next: tell, error: () => {} }));
  following.add(() => rival.stopWaiting());
  return following;
}
