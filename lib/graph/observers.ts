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

/** Who hears a parameter; rxjs calls them its observers. */
type Hearer = Subscriber<unknown> | Listener;

/** A subject that knows its observer, where it has one: to look into a list would be two more places in memory. */
export interface Observed {
  only: { next(value: unknown): void } | undefined;
}

/** What rxjs has within a subject; the spec of these subjects fails when rxjs has it otherwise. */
interface Within extends Observed {
  observers: Hearer[];
  currentObservers: Hearer[] | null;
}

/** The observers of all that have none: most parameters have none. Never added to. */
const nobody: Hearer[] = [];

const longestShortList = 16;

/** How many observers have left and are still in the long list of a subject. */
const left = new WeakMap<object, number>();

/** Takes the empty list of its own from a new subject. */
export function startUnobserved(subject: Observed): void {
  (subject as Within).observers = nobody;
}

/** Adds an observer to a subject, in place of what rxjs does. */
export function addObserver(subject: Observed, subscriber: Subscriber<unknown>): Subscription {
  add(subject as Within, subscriber);
  return new Subscription(() => remove(subject as Within, subscriber));
}

/** Adds a listener to a subject, behind all that observe it. */
export function addListener(subject: Observed, listener: Listener): void {
  add(subject as Within, listener);
}

/** Takes a listener out that is closed. */
export function removeListener(subject: Observed, listener: Listener): void {
  remove(subject as Within, listener);
}

function add(within: Within, hearer: Hearer): void {
  const { observers } = within;
  if (observers === nobody) within.observers = [hearer];
  else observers.push(hearer);
  renew(within);
}

function remove(within: Within, hearer: Hearer): void {
  const { observers } = within;
  if (observers.length <= longestShortList) observers.splice(observers.indexOf(hearer), 1);
  else {
    const count = (left.get(within) ?? 0) + 1;
    const isHalf = 2 * count >= observers.length;
    left.set(within, isHalf ? 0 : count);
    if (isHalf) within.observers = observers.filter(({ closed }) => !closed);
  }
  renew(within);
}

function renew(within: Within): void {
  within.currentObservers = null;
  within.only = within.observers.length === 1 ? (within.observers[0] as Observed['only']) : undefined;
}
