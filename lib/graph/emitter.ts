// A hot stream designed for a hundred thousand instances and cheap emissions, because most instances have at most one listener. An emitter
// is an RxJS Observable. Frequent listeners use `addListener`, which bypasses RxJS.

import { Observable, type Subscriber } from 'rxjs';

/** Receives values. A listener must not throw. An RxJS Subscriber is a listener. */
export interface Listener<T> {
  next(value: T): void;
  /** Whether the listener has stopped receiving values. Set this before removing the listener. */
  readonly closed: boolean;
  /** Whether the listener acts only on changes, and thus does not receive values that are merely shown. */
  readonly isOfChanges?: boolean;
}

const longestShortList = 16;

/**
 * A stream of values. Hot, replays nothing, synchronous, never completes, never errors. Calls listeners in the order in which they were
 * added.
 */
export class Emitter<T> extends Observable<T> {
  /**
   * The listener if there is only one, because a list would cost two more memory accesses. Frequent callers of `emit` check this field
   * first, so that V8 knows the listener at that call site. Only the emitter sets this field.
   */
  only: Listener<T> | undefined = undefined;
  #many: ListenerList<T> | undefined = undefined;

  constructor(subscribe: (this: Observable<T>, subscriber: Subscriber<T>) => () => void = listen) {
    super(subscribe);
  }

  get listenerCount(): number {
    return this.#many?.count ?? Number(this.only !== undefined);
  }

  emit(value: T): void {
    if (this.only !== undefined) this.only.next(value);
    else if (this.#many !== undefined) this.#many.emit(value);
  }

  /** Emits a value to all listeners except those that act only on changes. */
  show(value: T): void {
    const listeners = this.only === undefined ? [...(this.#many?.list ?? [])] : [this.only];
    for (const listener of listeners) if (!listener.closed && listener.isOfChanges !== true) listener.next(value);
  }

  /** Adds a listener, which is called after all listeners that were added before. */
  addListener(listener: Listener<T>): void {
    if (this.#many !== undefined) this.#many.add(listener);
    else if (this.only === undefined) this.only = listener;
    else {
      this.#many = new ListenerList([this.only, listener]);
      this.only = undefined;
    }
  }

  /** Removes a listener whose `closed` is already true. */
  removeListener(listener: Listener<T>): void {
    if (this.only === listener) this.only = undefined;
    if (this.#many === undefined) return;
    this.#many.remove(listener);
    if (this.#many.list.length > 1) return;
    [this.only] = this.#many.list;
    this.#many = undefined;
  }
}

/** A list of at least two listeners. A long list keeps closed listeners until half of its entries are closed. */
class ListenerList<T> {
  list: Listener<T>[];
  /**
   * The list for emissions, which stays the same if listeners are added or removed during an emission; undefined means that the next
   * emission creates the list.
   */
  #snapshot: readonly Listener<T>[] | undefined = undefined;
  #closedCount = 0;

  constructor(list: Listener<T>[]) {
    this.list = list;
  }

  get count(): number {
    return this.list.length - this.#closedCount;
  }

  add(listener: Listener<T>): void {
    this.list.push(listener);
    this.#snapshot = undefined;
  }

  remove(listener: Listener<T>): void {
    if (this.list.length <= longestShortList) {
      const place = this.list.indexOf(listener);
      if (place >= 0) this.list.splice(place, 1);
    } else if (2 * ++this.#closedCount >= this.list.length) {
      this.list = this.list.filter(({ closed }) => !closed);
      this.#closedCount = 0;
    }
    this.#snapshot = undefined;
  }

  emit(value: T): void {
    this.#snapshot ??= [...this.list];
    for (const listener of this.#snapshot) if (!listener.closed) listener.next(value);
  }
}

/** Adds an RxJS subscriber as a listener. Returns a function that removes the subscriber. */
export function listen<T>(this: Observable<T>, subscriber: Subscriber<T>): () => void {
  const emitter = this as Emitter<T>;
  emitter.addListener(subscriber);
  return () => emitter.removeListener(subscriber);
}
