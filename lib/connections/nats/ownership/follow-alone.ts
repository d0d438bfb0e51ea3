// A hub that has no other one of its name. It runs whatever the servers do; its lease only finds out whether there is another. While
// nobody can read that, it goes by whether another one is heard of.

import { combineLatest, NEVER, Subscription, timer } from 'rxjs';
import { switchMap, takeWhile } from 'rxjs/operators';
import type { LeaseState } from '../lease/lease.ts';
import { leaseTimes } from '../lease/times.ts';
import type { LinkState } from '../link/link.ts';
import { longestWaitMs } from './claims.ts';
import type { NamesakeTold } from './namesake.ts';
import type { Following } from './standing.ts';

/** An earlier run of this hub, whose lease nobody renews, is over by then. */
const rivalMs = leaseTimes.expiryMs + leaseTimes.graceMs;
/** How often it is looked whether one of the name is still heard of, while nobody says who has the lease. */
const lookMs = 500;
/** So long another one of the name that is there may take to end. */
const endingMs = 1000;

/** Hubs that have found another one of their name when they last looked: when they start again it is no news. */
const rivalled = new WeakSet<object>();

/** Whether a hub has found another one of its name when it last looked. */
export function hasMetRival(hub: object): boolean {
  return rivalled.has(hub);
}

export function followAlone(all: Following): Subscription {
  const { context, hub, link, lease, claims, standing, trouble$, fail } = all;
  const { settings, scheduler } = context;
  const following = new Subscription();
  const begin = () => {
    if (hub.duty.watch !== undefined) return;
    if (claims.refusals === undefined) all.refused.holdBack();
    hub.duty.begin({ term: standing.term, goesOn: false });
  };
  let rival = Subscription.EMPTY;
  let hasRival = false;
  const meet = (name: string) => {
    if (hasRival) return;
    hasRival = true;
    standing.hasName = false;
    const reason = `hub "${settings.hub}" of domain "${settings.domain}" is there already, on ${name}`;
    const isNews = standing.term === 0 && !rivalled.has(hub);
    rivalled.add(hub);
    if (isNews) trouble$.next(reason);
    const yielded = claims.yield(reason);
    const giveUp = () => {
      if (rival.closed) return;
      begin();
      fail(reason);
    };
    rival.unsubscribe();
    rival = new Subscription();
    rival.add(scheduler.schedule(() => void yielded.then(giveUp), isNews ? endingMs : 0));
  };
  const enter = (state: LeaseState) => {
    if (state.is === 'taken') {
      if (state.isThere || standing.term > 0) meet(state.name);
      else if (!hasRival) wait(state.name);
      return;
    }
    rival.unsubscribe();
    if (state.is !== 'held') return;
    hasRival = false;
    rivalled.delete(hub);
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
  const wait = (name: string) => {
    rival.unsubscribe();
    const look = () => (lease.isAnswered && lease.isRenewed ? meet(name) : wait(name));
    rival = scheduler.schedule(look, rivalMs);
  };
  const tell = ([why, { is }]: readonly [string, LeaseState]) => {
    if (why !== '') trouble$.next(`no lease: ${why}`);
    else if (is !== 'unknown' && !hasRival) trouble$.next('');
  };
  const isWaiting = () => standing.term === 0 && !hasRival;
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
  following.add(() => rival.unsubscribe());
  return following;
}
