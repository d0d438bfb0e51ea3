// A hub in a pair. It runs connections and rules while it holds the lease; otherwise, it is the standby.

import { merge, type Observable, Subscription } from 'rxjs';
import { audit, filter } from 'rxjs/operators';
import type { LeaseState } from '../lease/lease.ts';
import type { NamesakeReport } from './namesake.ts';
import type { LeaseContext } from './standing.ts';
import { Vacancy } from './vacancy.ts';

export function followPair(all: LeaseContext): Subscription {
  return new PairedHub(all).follow();
}

class PairedHub {
  readonly #all: LeaseContext;
  /** Whether this hub continues to run while it cannot renew the lease. */
  readonly #continuesAlone: boolean;
  readonly #vacancy: Vacancy;
  #isRunning = false;

  constructor(all: LeaseContext) {
    const { hub, context } = all;
    const { settings } = context;
    this.#all = all;
    this.#continuesAlone = settings.isolated === 'go-on';
    this.#vacancy = new Vacancy({
      port: hub,
      hub: settings.hub,
      reason: `no hub currently runs the connections of "${settings.hub}"`,
      isFor: (connectionId) => !hub.mirroring.isLocal(connectionId),
    });
  }

  follow(): Subscription {
    const { hub, lease, namesake$, problem$ } = this.#all;
    const following = new Subscription();
    const taken$ = merge(hub.mirroring.returned$, this.#added());
    following.add(taken$.subscribe({ next: () => this.#standIn(), error: () => {} }));
    following.add(lease.state$.subscribe({ next: (state) => this.#enter(state), error: () => {} }));
    following.add(namesake$.subscribe({ next: (report) => this.#receive(report), error: () => {} }));
    following.add(
      lease.problem$.subscribe({ next: (why) => problem$.next(why && `no lease: ${why}`), error: () => {} }),
    );
    following.add(() => this.#stop());
    if (hub.leadership.term === undefined) this.#beginVacancy();
    return following;
  }

  #enter(state: LeaseState): void {
    if (state.is === 'held') this.#begin(state.term);
    else if (state.is === 'taken')
      this.#end(`standby of ${state.name}, which runs the connections (term ${state.term})`, true);
    else if (state.is === 'fenced' && !this.#continuesAlone) this.#end('the lease could not be renewed in time', false);
  }

  #begin(term: number): void {
    const { context, hub, lease, claims, standing, confirm, hasMirrored } = this.#all;
    if (this.#isRunning && standing.term === term) return;
    const continues = hub.leadership.hasBegun || hasMirrored();
    this.#isRunning = standing.isHolder = standing.hasName = standing.answers = true;
    standing.term = term;
    claims.hurry();
    this.#vacancy.end();
    claims.inherit();
    standing.notify();
    const mayAct = this.#continuesAlone ? () => this.#isRunning : () => lease.isHeld();
    hub.leadership.begin({ number: term, continues, mayAct, ...(confirm && { confirm }) });
    context.log.info({ term }, `running the connections and rules of "${context.settings.hub}", term ${term}`);
  }

  #end(reason: string, isTaken: boolean): void {
    const { context, hub, standing } = this.#all;
    const wasRunning = this.#isRunning;
    this.#isRunning = false;
    void hub.leadership.end(reason, isTaken);
    standing.isHolder = false;
    standing.answers = !isTaken;
    this.#beginVacancy();
    standing.notify();
    if (!wasRunning) return;
    const { term } = standing;
    context.log.warn({ term }, `stopped running the connections and rules (term ${term}): ${reason}`);
  }

  /**
   * Handles a message from the active hub, which arrives even while the lease cannot be read. The values that this hub had when it stopped
   * are then outdated.
   */
  #receive({ term }: NamesakeReport): void {
    const { standing } = this.#all;
    if (!this.#isRunning && term > standing.term) standing.answers = false;
  }

  /** Emits after parameters have been added while this hub is the standby. A reload adds parameters one by one. */
  #added(): Observable<unknown> {
    return this.#all.hub.declared$.pipe(
      filter(({ remote }) => !this.#isRunning && remote === undefined),
      audit(() => Promise.resolve()),
    );
  }

  /**
   * Gives up the ownership of parameters that a reload has added or the active hub has withdrawn, because a standby does not own such
   * parameters.
   */
  #standIn(): void {
    if (!this.#isRunning) this.#beginVacancy();
  }

  #beginVacancy(): void {
    this.#vacancy.begin(this.#all.context.timeOfDay());
  }

  #stop(): void {
    const { hub, hasMirrored } = this.#all;
    if (hasMirrored()) hub.leadership.hasBegun = true; // for the next instance after a reload of the settings
    this.#vacancy.end();
  }
}
