// A hot stream for a hundred thousand instances and cheap emissions: most have no listener or one. It is an rxjs Observable. Frequent
// listeners use `addListener`, without rxjs in between.

import { Observable, type Subscriber } from 'rxjs';

/** Receives values. It must not throw. An rxjs Subscriber is one. */
export interface Listener<T> {
  next(value: T): void;
  /** Whether it has stopped receiving values; set it before removing the listener. */
  readonly closed: boolean;
  /** Whether it acts on changes only, and so does not receive what is merely shown. */
  readonly isOfChanges?: boolean;
}

const longestShortList = 16;

/** Hot, synchronous, never completes, never errors; replays nothing. Calls listeners in the order in which they were added. */
export class Emitter<T> extends Observable<T> {
  /**
   * The listener, if there is only one: a list would cost two more memory accesses. Frequent callers of `emit` check it first, so V8 knows
   * the listener at that call site. Only the emitter sets it.
   */
  only: Listener<T> | undefined = undefined;
  /** All listeners, if there are several. A long list keeps closed listeners until half of its entries are closed. */
  #list: Listener<T>[] | undefined = undefined;
  /** The list during an emission, even if it adds or removes listeners; undefined: the next emission creates it. */
  #snapshot: readonly Listener<T>[] | undefined = undefined;
  #closedInList = 0;

  constructor(subscribe: (this: Observable<T>, subscriber: Subscriber<T>) => () => void = listen) {
    super(subscribe);
  }

  get listenerCount(): number {
    return this.#list === undefined ? Number(this.only !== undefined) : this.#list.length - this.#closedInList;
  }

  emit(value: T): void {
    if (this.only !== undefined) this.only.next(value);
    else if (this.#list !== undefined) this.#emitToMany(value);
  }

  /** Emits to all listeners that do more than act on changes. */
  show(value: T): void {
    const listeners = this.only === undefined ? [...(this.#list ?? [])] : [this.only];
    for (const listener of listeners) if (!listener.closed && listener.isOfChanges !== true) listener.next(value);
  }

  /** Adds a listener behind all others. */
  addListener(listener: Listener<T>): void {
    if (this.#list !== undefined) this.#list.push(listener);
    else if (this.only === undefined) this.only = listener;
    else {
      this.#list = [this.only, listener];
      this.only = undefined;
    }
    this.#snapshot = undefined;
  }

  /** Removes a closed listener. */
  removeListener(listener: Listener<T>): void {
    if (this.only === listener) this.only = undefined;
    const list = this.#list;
    if (list === undefined) return;
    if (list.length <= longestShortList) {
      const place = list.indexOf(listener);
      if (place >= 0) list.splice(place, 1);
    } else if (2 * ++this.#closedInList >= list.length) {
      this.#list = list.filter(({ closed }) => !closed);
      this.#closedInList = 0;
    }
    this.#shrink();
    this.#snapshot = undefined;
  }

  #shrink(): void {
    const list = this.#list!;
    if (list.length > 1) return;
    [this.only] = list;
    this.#list = undefined;
    this.#closedInList = 0;
  }

  #emitToMany(value: T): void {
    this.#snapshot ??= [...this.#list!];
    for (const listener of this.#snapshot) if (!listener.closed) listener.next(value);
  }
}

/** Adds an rxjs subscriber; returns a function that removes it. */
export function listen<T>(this: Observable<T>, subscriber: Subscriber<T>): () => void {
  const emitter = this as Emitter<T>;
  emitter.addListener(subscriber);
  return () => emitter.removeListener(subscriber);
}
