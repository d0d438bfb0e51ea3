// Another hub of the name of this one, which has the lease. It may be an earlier run of this hub, so it is waited for whether somebody
// renews that; once it is met, this hub leaves it the name.

import { Subscription } from 'rxjs';
import { leaseTimes } from '../lease/times.ts';
import type { Following } from './standing.ts';

/** An earlier run of this hub, whose lease nobody renews, is over by then. */
const rivalMs = leaseTimes.expiryMs + leaseTimes.graceMs;
/** So long another one of the name that is there may take to end. */
const endingMs = 1000;

/** Hubs that have found another one of their name when they last looked: when they start again it is no news. */
const rivalled = new WeakSet<object>();

/** Whether a hub has found another one of its name when it last looked. */
export function hasMetRival(hub: object): boolean {
  return rivalled.has(hub);
}

export class Rival {
  readonly #all: Following;
  readonly #begin: () => void;
  /** What is to happen next, if nothing else does before. */
  #next = Subscription.EMPTY;
  #isMet = false;

  /** `begin` begins the work of this hub, unless it has begun: connections that the other one does not have run on. */
  constructor(all: Following, begin: () => void) {
    this.#all = all;
    this.#begin = begin;
  }

  /** Whether it was met, and this hub has not had the lease since. */
  get isMet(): boolean {
    return this.#isMet;
  }

  /** It is there: this hub leaves it the name, and the connection fails. */
  meet(name: string): void {
    if (this.#isMet) return;
    this.#isMet = true;
    const { context, hub, claims, standing, trouble$ } = this.#all;
    const { settings, scheduler } = context;
    standing.hasName = false;
    const reason = `hub "${settings.hub}" of domain "${settings.domain}" is there already, on ${name}`;
    const isNews = standing.term === 0 && !rivalled.has(hub);
    rivalled.add(hub);
    if (isNews) trouble$.next(reason);
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

  /** Meets it when somebody has renewed its lease after a time. */
  waitFor(name: string): void {
    const { context, lease } = this.#all;
    this.#next.unsubscribe();
    const look = () => (lease.isAnswered && lease.isRenewed ? this.meet(name) : this.waitFor(name));
    this.#next = context.scheduler.schedule(look, rivalMs);
  }

  /** Nobody has the lease, or this hub has, or it ends: there is nothing to wait for. */
  stopWaiting(): void {
    this.#next.unsubscribe();
  }

  /** This hub has the lease. */
  forget(): void {
    this.#isMet = false;
    rivalled.delete(this.#all.hub);
  }
}
