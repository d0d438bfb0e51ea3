// The subscriptions of a socket. They are sent as soon as the hub has sent `hello`, and again after a lost connection, starting at the last
// known revision (docs/protocol.md "Revisions", "Resuming").

import type { Subscribe, SubscriptionRequest, Unsubscribe } from '../../wire/v1/client-messages.ts';
import type { Greeting, ReceivedMessage } from '../../wire/v1/hub-messages.ts';
import type { Replica } from '../replica/replica.ts';
import type { ReplicaParameter } from '../replica/replica-parameter.ts';

/** A protocol subscription, whose parameters are in the replica. */
export interface Subscription {
  readonly request: SubscriptionRequest;
  /** Returns the parameters in the replica that belong to the subscription. */
  parameters(): Iterable<ReplicaParameter>;
  /** Called when everything for the subscription has arrived, before observers are notified. */
  complete(): void;
  /** Called when the hub has refused the subscription. */
  fail(error: Error): void;
}

interface Sent {
  readonly subscription: Subscription;
  mode: ReceivedMessage['mode'];
  /** Whether the `end` of the subscription has arrived, either on this connection or on a connection that this connection may resume. */
  isWhole: boolean;
}

interface SubscriptionsOptions {
  readonly replica: Replica;
  send(message: Subscribe | Unsubscribe): void;
  /** Called when everything for all subscriptions has arrived. */
  whole(): void;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  /** The subscriptions, keyed by number. The callers bound their number (`maxSelections`, `maxGroups`). */
  readonly #all = new Map<number, Sent>();
  /** The subscriptions whose `end` has not arrived yet. */
  readonly #pending = new Set<Sent>();
  #isUp = false;
  #nextNumber = 1;
  #epoch = '';
  #revision = 0;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Whether the `end` of each subscription has arrived. */
  get areWhole(): boolean {
    return this.#pending.size === 0;
  }

  add(subscription: Subscription): void {
    const number = this.#nextNumber++;
    const sent: Sent = { subscription, mode: undefined, isWhole: false };
    this.#all.set(number, sent);
    if (this.#isUp) this.#send(number, sent);
  }

  remove(subscription: Subscription): void {
    for (const [number, sent] of this.#all) {
      if (sent.subscription !== subscription) continue;
      this.#forget(number, sent);
      if (this.#isUp) this.#options.send({ unsub: number });
    }
    this.#emitWhole();
  }

  hello({ epoch }: Greeting): void {
    this.#isUp = true;
    this.#options.replica.connection++;
    if (epoch !== this.#epoch) {
      this.#options.replica.forgetIds();
      for (const sent of this.#all.values()) sent.isWhole = false;
      this.#epoch = epoch;
      this.#revision = 0;
    }
    for (const [number, sent] of this.#all) this.#send(number, sent);
    this.#emitWhole();
  }

  down(): void {
    this.#isUp = false;
    this.#pending.clear();
  }

  /** Applies a message from the hub to the subscriptions. The caller has already applied the message to the parameters. */
  take({ sub, mode, error, end, rev }: ReceivedMessage): void {
    if (sub !== undefined) this.#answered(sub, mode, error);
    if (end !== undefined) this.#ended(end);
    // A revision does not cover a subscription without its `end`.
    if (rev !== undefined && this.#pending.size === 0) this.#revision = Math.max(this.#revision, rev);
    if (end !== undefined) this.#emitWhole();
  }

  #answered(number: number, mode: ReceivedMessage['mode'], error: string | undefined): void {
    const sent = this.#all.get(number);
    if (sent === undefined) return;
    if (error !== undefined) {
      this.#forget(number, sent);
      sent.subscription.fail(new Error(error));
      this.#emitWhole();
    } else if (mode !== undefined) {
      sent.mode = mode;
      if (mode === 'snapshot') sent.isWhole = false;
    }
  }

  #ended(number: number): void {
    const sent = this.#all.get(number);
    if (sent === undefined) return;
    this.#pending.delete(sent);
    sent.isWhole = true;
    sent.subscription.complete();
    this.#options.replica.complete(sent.subscription.parameters(), sent.mode === 'snapshot');
  }

  #send(number: number, sent: Sent): void {
    this.#pending.add(sent);
    const since = sent.isWhole ? { epoch: this.#epoch, rev: this.#revision } : undefined;
    this.#options.send({ sub: number, ...sent.subscription.request, since });
  }

  #forget(number: number, sent: Sent): void {
    this.#all.delete(number);
    this.#pending.delete(sent);
  }

  #emitWhole(): void {
    if (this.#isUp && this.#pending.size === 0) this.#options.whole();
  }
}
