// One hub of a pair: it runs connections and rules while it holds the lease, and stands by while it does not.

import { merge, Subscription } from 'rxjs';
import { audit, filter } from 'rxjs/operators';
import type { LeaseState } from '../lease/lease.ts';
import type { NamesakeTold } from './namesake.ts';
import type { Following } from './standing.ts';
import { Vacancy } from './vacancy.ts';

export function followPair(all: Following): Subscription {
  const { context, hub, lease, claims, standing, trouble$, confirm, hasMirrored, namesake$ } = all;
  const { settings, log, timeOfDay } = context;
  const goesOnAlone = settings.isolated === 'go-on';
  const vacancy = new Vacancy({
    port: hub,
    hub: settings.hub,
    reason: `no hub runs the connections of "${settings.hub}" at the moment`,
    isFor: (connectionId) => !hub.mirroring.isLocal(connectionId),
  });
  let isRunning = false;
  const begin = (term: number) => {
    if (isRunning && standing.term === term) return;
    const goesOn = hub.duty.hasBegun || hasMirrored();
    isRunning = standing.isHolder = standing.hasName = standing.answers = true;
    standing.term = term;
    claims.hurry();
    vacancy.end();
    claims.inherit();
    standing.tell();
    const mayAct = goesOnAlone ? () => isRunning : () => lease.isHeld();
    hub.duty.begin({ term, goesOn, mayAct, ...(confirm && { confirm }) });
    log.info({ term }, `runs the connections and rules of "${settings.hub}", term ${term}`);
  };
  const end = (reason: string, isTaken: boolean) => {
    const wasRunning = isRunning;
    isRunning = false;
    void hub.duty.end(reason, isTaken);
    standing.isHolder = false;
    standing.answers = !isTaken;
    vacancy.begin(timeOfDay());
    standing.tell();
    if (wasRunning) log.warn({ term: standing.term }, `has ended the work of term ${standing.term}: ${reason}`);
  };
  const enter = (state: LeaseState) => {
    if (state.is === 'held') begin(state.term);
    else if (state.is === 'taken') end(`stands by for ${state.name}, which runs them in term ${state.term}`, true);
    else if (state.is === 'fenced' && !goesOnAlone) end('the lease could not be renewed in time', false);
  };
  /** Whoever runs them is heard of also while nobody can read the lease: what this hub had when it ended is out of date. */
  const hear = ({ term }: NamesakeTold) => {
    if (!isRunning && term > standing.term) standing.answers = false;
  };
  /** A reload adds parameters one by one. */
  const added$ = hub.declared$.pipe(
    filter(({ remote }) => !isRunning && remote === undefined),
    audit(() => Promise.resolve()),
  );
  /** What a reload of a hub that stands by adds is not its own, and neither is what the hub that runs the connections has withdrawn. */
  const take = () => {
    if (!isRunning) vacancy.begin(timeOfDay());
  };
  const following = new Subscription();
  following.add(merge(hub.mirroring.returned$, added$).subscribe({ next: take, error: () => {} }));
  following.add(lease.state$.subscribe({ next: enter, error: () => {} }));
  following.add(namesake$.subscribe({ next: hear, error: () => {} }));
  following.add(lease.trouble$.subscribe({ next: (why) => trouble$.next(why && `no lease: ${why}`), error: () => {} }));
  following.add(() => {
    if (hasMirrored()) hub.duty.hasBegun = true; // for who follows after a reload of the settings
    vacancy.end();
  });
  if (hub.duty.watch === undefined) vacancy.begin(timeOfDay());
  return following;
}
