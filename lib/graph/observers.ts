// The observers of a parameter. rxjs takes one out of its list by searching it and moving all others: thousands of rules on one
// source would take seconds to stop. In a long list an observer that leaves stays, deaf, until half of the list has left.

import { type Subscriber, Subscription } from 'rxjs';

/** What rxjs has within a subject; the spec of these subjects fails when rxjs has it otherwise. */
interface Within {
  observers: Subscriber<unknown>[];
  currentObservers: Subscriber<unknown>[] | null;
}

const longestShortList = 16;

/** How many observers have left and are still in the long list of a subject. */
const left = new WeakMap<object, number>();

/** Adds an observer to a subject, in place of what rxjs does. */
export function addObserver(subject: object, subscriber: Subscriber<unknown>): Subscription {
  const within = subject as Within;
  within.currentObservers = null;
  within.observers.push(subscriber);
  return new Subscription(() => {
    within.currentObservers = null;
    const { observers } = within;
    if (observers.length <= longestShortList) {
      observers.splice(observers.indexOf(subscriber), 1);
      return;
    }
    const count = (left.get(subject) ?? 0) + 1;
    const isHalf = 2 * count >= observers.length;
    left.set(subject, isHalf ? 0 : count);
    if (isHalf) within.observers = observers.filter(({ closed }) => !closed);
  });
}
