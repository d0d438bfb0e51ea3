// The observers of a parameter. rxjs takes one out of its list by searching it and moving all others: thousands of rules on one
// source would take seconds to stop. In a long list an observer that leaves stays, deaf, until half of the list has left.

import { type Subscriber, Subscription } from 'rxjs';
import type { Value } from '../model/value.ts';

/**
 * What hears a parameter without anything of rxjs between the two, each part of which would be one more place in memory to look at
 * for each change. It must not throw.
 */
export interface Listener {
  next(value: Value | undefined): void;
  /** Whether it hears nothing any more; to be set before it is removed. */
  readonly closed: boolean;
}

type Observer = Subscriber<unknown> | Listener;

/** What rxjs has within a subject; the spec of these subjects fails when rxjs has it otherwise. */
interface Within {
  observers: Observer[];
  currentObservers: Observer[] | null;
}

const longestShortList = 16;

/** How many observers have left and are still in the long list of a subject. */
const left = new WeakMap<object, number>();

/** Adds an observer to a subject, in place of what rxjs does. */
export function addObserver(subject: object, subscriber: Subscriber<unknown>): Subscription {
  add(subject as Within, subscriber);
  return new Subscription(() => remove(subject as Within, subscriber));
}

/** Adds a listener to a subject, behind all that observe it. */
export function addListener(subject: object, listener: Listener): void {
  add(subject as Within, listener);
}

/** Takes a listener out that is closed. */
export function removeListener(subject: object, listener: Listener): void {
  remove(subject as Within, listener);
}

function add(within: Within, observer: Observer): void {
  within.currentObservers = null;
  within.observers.push(observer);
}

function remove(within: Within, observer: Observer): void {
  within.currentObservers = null;
  const { observers } = within;
  if (observers.length <= longestShortList) {
    observers.splice(observers.indexOf(observer), 1);
    return;
  }
  const count = (left.get(within) ?? 0) + 1;
  const isHalf = 2 * count >= observers.length;
  left.set(within, isHalf ? 0 : count);
  if (isHalf) within.observers = observers.filter(({ closed }) => !closed);
}
