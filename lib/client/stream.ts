// What the library hands out to be subscribed to: a hot stream with the shape that RxJS and others take for an Observable
// (`Symbol.observable`, https://github.com/benlesh/symbol-observable), without depending on any of them.

declare global {
  interface SymbolConstructor {
    readonly observable: symbol;
  }
}

export interface Observer<T> {
  readonly next?: (value: T) => void;
  /** Nothing more comes, because of a mistake or a limit. */
  readonly error?: (error: unknown) => void;
  /** Nothing more comes: the hub was closed by `hub.close()`. */
  readonly complete?: () => void;
}

export interface Unsubscribable {
  unsubscribe(): void;
}

/** A stream: `stream.subscribe((value) => …)`, or RxJS's `from(stream)`. */
export interface Stream<T> {
  subscribe(observer: Observer<T> | ((value: T) => void)): Unsubscribable;
  [Symbol.observable](): Stream<T>;
}

/** The key under which RxJS looks for streams; the text is for where nobody has defined the symbol. */
const keys = ['@@observable', ...(Symbol.observable ? [Symbol.observable] : [])];

/** Creates a stream whose subscriptions are made by `subscribe`. */
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

/** Observers and what they are told. One that throws does not keep the others from hearing; its error is uncaught. */
export class Emitter<T> {
  /** Replaced and never changed, so that who comes or goes meanwhile does not disturb a round. */
  #observers: readonly Observer<T>[] = [];

  get isObserved(): boolean {
    return this.#observers.length > 0;
  }

  /** Adds an observer and tells it `first`; the function that it returns takes it out. */
  add(observer: Observer<T>, ...first: readonly T[]): () => void {
    const own: Observer<T> = {
      next: (value) => observer.next?.(value),
      error: (error) => observer.error?.(error),
      complete: () => observer.complete?.(),
    }; // of its own: one observer may subscribe twice
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

/** Calls what an author wrote; what it throws is reported as uncaught, after the present work. */
function safely(call: () => void): void {
  try {
    call();
  } catch (error) {
    setTimeout(() => {
      throw error;
    });
  }
}
