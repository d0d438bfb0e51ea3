// Selections: lists of parameters by pattern. Equal requests share one protocol subscription.

import type { Delivery, SubscriptionRequest } from '../../wire/v1/client-messages.ts';
import type { Replica } from '../replica/replica.ts';
import type { Change, ParameterView } from '../replica/replica-parameter.ts';
import { type AddressPattern, createMatcher, encodePattern } from '../replica/replica-pattern.ts';
import { createStream, type Observer, type Stream } from '../stream.ts';
import { type Batch, LiveQuery } from './live-query.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';

/** The maximum number of different selections that have subscribers at the same time. */
const maxSelections = 16;

/** A request for the parameters whose addresses match at least one pattern in `include` (default: all) and no pattern in `exclude`. */
export interface SelectionRequest {
  readonly include?: readonly AddressPattern[];
  readonly exclude?: readonly AddressPattern[];
  readonly rate?: number;
  readonly delivery?: Delivery;
}

/**
 * The parameters that match a request. As a stream, it replays the known values, then emits each change. The selection is live while the
 * selection or `batches` has a subscriber.
 */
export interface Selection extends Stream<Change> {
  /** The same changes as one batch per message from the hub, for long lists. Replays the current state as one batch. */
  readonly batches: Stream<Batch>;
  /** All matching parameters in their current state, keyed by address; empty while the selection is not live. */
  readonly parameters: ReadonlyMap<string, ParameterView>;
  /** Whether all matching parameters have arrived; `hub.stale` shows whether their values may be outdated. */
  readonly isComplete: boolean;
}

interface SelectionsOptions {
  readonly replica: Replica;
  readonly subscriptions: Subscriptions;
  readonly defaults: Pick<SubscriptionRequest, 'rate' | 'delivery'>;
}

interface Shared {
  readonly query: LiveQuery;
  readonly subscription: Subscription;
}

export class Selections {
  readonly #options: SelectionsOptions;
  /** The selections that have subscribers, keyed by request. */
  readonly #shared = new Map<string, Shared>();

  constructor(options: SelectionsOptions) {
    this.#options = options;
  }

  select({ include = ['**'], exclude = [], ...how }: SelectionRequest): Selection {
    const request = {
      ...this.#options.defaults,
      ...how,
      include: include.map(encodePattern),
      exclude: exclude.map(encodePattern),
    };
    const key = JSON.stringify(request);
    const present = () => this.#shared.get(key)?.query;
    const open = () => this.#open(key, request, new LiveQuery(createMatcher(include, exclude)));

    const observe = (observer: Observer<Batch>) => {
      if (!this.#shared.has(key) && this.#shared.size >= maxSelections) {
        observer.error?.(new RangeError(`select: expected at most ${maxSelections} different selections at a time`));
        return () => {};
      }
      const { query } = this.#shared.get(key) ?? open();
      const remove = query.observe(observer);
      return () => {
        remove();
        if (!query.isObserved && present() === query) this.#close(key);
      };
    };

    const changes = createStream<Change>((observer) =>
      observe({
        next({ changes, removed }) {
          for (const change of changes) observer.next?.(change);
          for (const address of removed) observer.next?.({ address, value: undefined });
        },
        error: (error) => observer.error?.(error),
        complete: () => observer.complete?.(),
      }),
    );
    return Object.defineProperties(changes, {
      batches: { value: createStream(observe) },
      parameters: { get: () => present()?.parameters ?? new Map() },
      isComplete: { get: () => present()?.isComplete ?? false },
    }) as Selection;
  }

  #open(key: string, request: SubscriptionRequest, query: LiveQuery): Shared {
    const { replica, subscriptions } = this.#options;
    const subscription: Subscription = {
      request,
      parameters: () => query.parameters.values(),
      complete() {
        if (query.isComplete) return;
        query.complete();
        replica.touch(query);
      },
      fail: (error) => {
        this.#shared.delete(key);
        replica.removeQuery(query);
        query.fail(error);
      },
    };
    const shared = { query, subscription };
    this.#shared.set(key, shared);
    replica.addQuery(query);
    subscriptions.add(subscription);
    return shared;
  }

  #close(key: string): void {
    const { replica, subscriptions } = this.#options;
    const { query, subscription } = this.#shared.get(key)!;
    this.#shared.delete(key);
    subscriptions.remove(subscription);
    replica.removeQuery(query);
  }
}
