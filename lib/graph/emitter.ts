// A hot stream that is cheap to have a hundred thousand of, and cheap to emit: mostly nobody or one listens. For rxjs it is an
// Observable; what listens a lot adds a listener, with nothing of rxjs between the two.

import { Observable, type Subscriber } from 'rxjs';

/** It must not throw. A Subscriber of rxjs is one. */
export interface Listener<T> {
  next(value: T): void;
  /** Whether it hears nothing any more; to be set before it is removed. */
  readonly closed: boolean;
}

const longestShortList = 16;

/** Hot, synchronous, never completes, never errors; replays nothing. Listeners are called in the order in which they came. */
export class Emitter<T> extends Observable<T> {
  /**
   * The listener, where there is one: to look into a list would be two more places in memory. Who emits much looks here first, so that V8
   * knows at that place what listens. Only the emitter sets it.
   */
  only: Listener<T> | undefined = undefined;
  /** All listeners, where there are several. In a long list one that leaves stays, closed, until half of them have left. */
  #list: Listener<T>[] | undefined = undefined;
  /** The list as it is told a value, whoever comes or leaves meanwhile; undefined: it is made at the next value. */
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

  /** Takes out a listener that is closed. */
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

/** Adds a subscriber of rxjs; what it returns takes the subscriber out. */
export function listen<T>(this: Observable<T>, subscriber: Subscriber<T>): () => void {
  const emitter = this as Emitter<T>;
  emitter.addListener(subscriber);
  return () => emitter.removeListener(subscriber);
}
