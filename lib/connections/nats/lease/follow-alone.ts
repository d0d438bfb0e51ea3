// A hub that has no other one of its name. It runs whatever the servers do; its lease only finds out whether there is another.

import { Subscription } from 'rxjs';
import type { LinkState } from '../link/link.ts';
import type { LeaseState } from './lease.ts';
import type { Following } from './standing.ts';
import { leaseTimes } from './times.ts';

/** How long connections and rules wait for the first word of the domain, about who has which connection. */
export const longestWaitMs = 2000;
/** An earlier run of this hub, whose lease nobody renews, is over by then. */
const rivalMs = leaseTimes.expiryMs + leaseTimes.graceMs;

export function followAlone({ context, hub, link, lease, claims, standing, trouble$, fail }: Following): Subscription {
  const { settings, scheduler } = context;
  const following = new Subscription();
  const begin = () => {
    if (hub.duty.watch === undefined) hub.duty.begin({ term: standing.term, goesOn: false });
  };
  let rival = Subscription.EMPTY;
  const giveUp = (name: string) => {
    begin();
    fail(`hub "${settings.hub}" of domain "${settings.domain}" is there already, on ${name}`);
  };
  const enter = (state: LeaseState) => {
    rival.unsubscribe();
    if (state.is === 'held') {
      standing.term = state.term;
      claims.start();
      standing.tell();
    } else if (state.is === 'taken' && standing.term > 0) giveUp(state.name);
    else if (state.is === 'taken') rival = scheduler.schedule(() => giveUp(state.name), rivalMs);
  };
  following.add(lease.state$.subscribe({ next: enter, error: () => {} }));
  following.add(claims.refusals$.subscribe({ next: (known) => known && begin(), error: () => {} }));
  const isCutOff = (state: LinkState) => state.session === undefined && state.reason !== '';
  following.add(link.state$.subscribe({ next: (state) => isCutOff(state) && begin(), error: () => {} }));
  following.add(scheduler.schedule(begin, longestWaitMs));
  following.add(lease.trouble$.subscribe({ next: (why) => trouble$.next(why && `no lease: ${why}`), error: () => {} }));
  following.add(() => rival.unsubscribe());
  return following;
}
