// The streams of the library: hot, and compatible with RxJS and other libraries (`Symbol.observable`,
// https://github.com/benlesh/symbol-observable) without depending on any of them.

declare global {
  interface SymbolConstructor {
    readonly observable: symbol;
  }
}

export interface Observer<T> {
  readonly next?: (value: T) => void;
  /** Called when the stream has ended because of an error, or because it exceeds a limit. */
  readonly error?: (error: unknown) => void;
  /** Called when the stream has ended because `hub.close()` was called. */
  readonly complete?: () => void;
}

export interface Unsubscribable {
  unsubscribe(): void;
}

/** A stream of values: `stream.subscribe((value) => …)`, or `from(stream)` with RxJS. */
export interface Stream<T> {
  subscribe(observer: Observer<T> | ((value: T) => void)): Unsubscribable;
  [Symbol.observable](): Stream<T>;
}

/** The keys by which RxJS recognizes streams. The string is used where the symbol is not defined. */
const keys = ['@@observable', ...(Symbol.observable ? [Symbol.observable] : [])];

/** Creates a stream. `subscribe` adds an observer, and returns a function that removes the observer. */
export function createStream<T>(subscribe: (observer: Observer<T>) => () => void): Stream<T> {
  const stream = {
    subscribe(given: Observer<T> | ((value: T) => void)) {
      let end: (() => void) | undefined = subscribe(typeof given === 'function' ? { next: given } : given);
      return {
        unsubscribe() {
          end?.();
          end = undefined;
        },
      };
    },
  } as Stream<T>;
  for (const key of keys) Object.assign(stream, { [key]: () => stream });
  return stream;
}

/** Emits to a list of observers. If an observer throws, the other observers are still called, and the error is reported as uncaught. */
export class Emitter<T> {
  /**
   * The observers. The list is replaced and never modified, so that adding or removing an observer does not disturb an ongoing emission.
   */
  #observers: readonly Observer<T>[] = [];

  get isObserved(): boolean {
    return this.#observers.length > 0;
  }

  /** Adds an observer and emits `first` to it. Returns a function that removes the observer. */
  add(observer: Observer<T>, ...first: readonly T[]): () => void {
    const own: Observer<T> = {
      next: (value) => observer.next?.(value),
      error: (error) => observer.error?.(error),
      complete: () => observer.complete?.(),
    }; // a copy of the observer, because the same observer may subscribe twice
    this.#observers = [...this.#observers, own];
    for (const value of first) safely(() => own.next?.(value));
    return () => {
      this.#observers = this.#observers.filter((one) => one !== own);
    };
  }

  next(value: T): void {
    for (const observer of this.#observers) safely(() => observer.next?.(value));
  }

  error(error: unknown): void {
    const observers = this.#observers;
    this.#observers = [];
    for (const observer of observers) safely(() => observer.error?.(error));
  }

  complete(): void {
    const observers = this.#observers;
    this.#observers = [];
    for (const observer of observers) safely(() => observer.complete?.());
  }
}

/** Calls code of the user. If the code throws an error, the error is reported as uncaught later. */
function safely(call: () => void): void {
  try {
    call();
  } catch (error) {
    setTimeout(() => {
      throw error;
    });
  }
}
