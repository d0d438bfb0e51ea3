// The outboxes of a group, one for each rate and delivery that its subscriptions ask for, the liveliest first.

import type { Parameter } from '../../../../../model/parameter.ts';
import { byLiveliness, type Subscription } from '../subscription.ts';
import { AllOutbox } from './all-outbox.ts';
import type { GroupChannel } from './group-channel.ts';
import { LatestOutbox } from './latest-outbox.ts';
import type { Outbox } from './outbox.ts';
import type { Packer } from './packer.ts';
import type { Ticker } from './ticker.ts';

export interface OutboxesOptions {
  readonly hub: { readonly revision: number };
  readonly tickerOf: (rate: number) => Ticker;
  /** Called when it is time. */
  readonly flush: (outbox: Outbox) => void;
}

export class Outboxes {
  readonly #all: Outbox[] = [];
  readonly #subscriptions: readonly Subscription[];
  readonly #hub: { readonly revision: number };

  constructor(subscriptions: Iterable<Subscription>, { hub, tickerOf, flush }: OutboxesOptions) {
    this.#hub = hub;
    this.#subscriptions = [...subscriptions].sort(byLiveliness);
    for (const subscription of this.#subscriptions) {
      if (this.#find(subscription) !== undefined) continue;
      const OutboxClass = subscription.delivery === 'all' ? AllOutbox : LatestOutbox;
      this.#all.push(new OutboxClass(subscription.rate, tickerOf(subscription.rate), flush));
    }
  }

  /** Whether some subscription wants every change. */
  get isExact(): boolean {
    return this.#all.some(({ delivery }) => delivery === 'all');
  }

  /** Those in which something waits. */
  get due(): Outbox[] {
    return this.#all.filter(({ oldest }) => oldest !== undefined);
  }

  /** Everything up to this revision has left. */
  get sent(): number {
    return this.sentWith([]);
  }

  /** The revision up to which everything has left once these have been flushed. */
  sentWith(flushed: readonly Outbox[]): number {
    let sent = this.#hub.revision;
    for (const outbox of this.#all)
      if (outbox.oldest !== undefined && !flushed.includes(outbox)) sent = Math.min(sent, outbox.oldest - 1);
    return sent;
  }

  matches(parameter: Parameter): boolean {
    return this.#subscriptions.some(({ selection }) => selection.has(parameter));
  }

  /** The outbox of the liveliest subscription that matches a parameter, which one does. */
  of(parameter: Parameter): Outbox {
    return this.#find(this.#subscriptions.find(({ selection }) => selection.has(parameter))!)!;
  }

  /** Encodes what waits of revisions after `from`, for one client; it goes on waiting. */
  encode(packer: Packer, from: number, onlyFires: boolean): void {
    for (const outbox of this.due) outbox.encode(packer, undefined, from, onlyFires);
  }

  /** Yields the channel of each change that waits, of revisions after `from`. */
  *waiting(from: number): Generator<GroupChannel, void, void> {
    for (const outbox of this.#all) yield* outbox.waiting(from);
  }

  #find({ rate, delivery }: Subscription): Outbox | undefined {
    return this.#all.find((outbox) => outbox.rate === rate && outbox.delivery === delivery);
  }
}
