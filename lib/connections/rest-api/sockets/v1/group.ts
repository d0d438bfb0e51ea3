// Clients that subscribed to the same. A change is kept and encoded once for all of them, in the outbox of the liveliest
// subscription that matches.

import type { Parameter } from '../../../../model/parameter.ts';
import { limits } from '../../limits/limits.ts';
import type { Channel, Subscriber } from '../channel.ts';
import type { Client } from './client.ts';
import type { Sources } from './members/catch-up.ts';
import { deliver, variantsOf } from './members/flush.ts';
import { Members } from './members/members.ts';
import { GroupChannel } from './outboxes/group-channel.ts';
import type { Outbox } from './outboxes/outbox.ts';
import { Outboxes } from './outboxes/outboxes.ts';
import { Packer } from './outboxes/packer.ts';
import type { Ticker } from './outboxes/ticker.ts';
import type { Subscription } from './subscription.ts';

/** How many counts of missed changes a group keeps; beyond, whoever has been full longest is given up. */
const maxMissed = limits.missedChanges.default;

/** Ends a client that reads too slowly, and counts by which limit that shows. */
export type GiveUp = (client: Client, limit: 'stallMs' | 'unsentFrames' | 'missedChanges') => void;

/** What groups have in common. */
export interface GroupContext extends Sources {
  readonly tickerOf: (rate: number) => Ticker;
  /** Tells of parameters that have come and gone, before anything else is told of them. */
  tellStructure(): void;
  readonly giveUp: GiveUp;
}

export class Group implements Subscriber {
  /** Equal for what clients share. */
  readonly key: string;
  readonly members: Members;
  readonly #outboxes: Outboxes;
  readonly #context: GroupContext;

  constructor(key: string, subscriptions: Iterable<Subscription>, context: GroupContext) {
    this.key = key;
    this.#context = context;
    const flush = (outbox: Outbox) => this.#flush([outbox]);
    this.#outboxes = new Outboxes(subscriptions, { ...context, flush });
    this.members = new Members(this.#outboxes, context);
  }

  matches(parameter: Parameter): boolean {
    return this.#outboxes.matches(parameter);
  }

  observe(channel: Channel): GroupChannel {
    return new GroupChannel(this, channel, this.#outboxes.of(channel.parameter));
  }

  /** Sends all that waits. */
  flush(): void {
    this.#flush(this.#outboxes.due);
  }

  /** Sends a frame about parameters that came or went to all clients; those that are full get it later. */
  sendToAll(frame: string): void {
    const { live, apart } = this.members;
    for (const client of [...live, ...apart])
      if (!client.sendOrKeep(frame)) this.#context.giveUp(client, 'unsentFrames');
  }

  #flush(outboxes: readonly Outbox[]): void {
    this.#context.tellStructure();
    const due = outboxes.filter(({ oldest }) => oldest !== undefined);
    if (due.length === 0) return;
    const before = this.#outboxes.sent;
    const shared = new Packer();
    const variants = variantsOf(
      this.members,
      shared,
      before,
      due.some(({ isExact }) => isExact),
    );
    for (const [index, outbox] of due.entries()) {
      const span = {
        before: this.#outboxes.sentWith(due.slice(0, index)),
        after: this.#outboxes.sentWith(due.slice(0, index + 1)),
      };
      outbox.encode(shared, span, -1);
      for (const { from, packer } of variants) if (from !== undefined) outbox.encode(packer, undefined, from);
    }
    for (const outbox of due) outbox.clear();
    deliver(this.members, shared, variants, before, this.#outboxes.isExact);
    this.#bound();
  }

  /** Gives up those who have been full longest, until what is counted for all is within its bound. */
  #bound(): void {
    const { losses, apart } = this.members;
    if (apart.size === 0) return;
    const waiting = [...apart].filter(({ isFull }) => isFull);
    let size = waiting.reduce((sum, { missed }) => sum + missed.size, losses.size);
    if (size <= maxMissed) return;
    waiting.sort((one, other) => one.fullSinceMs! - other.fullSinceMs!);
    for (const client of waiting) {
      const counted = losses.size;
      const own = client.missed.size;
      this.#context.giveUp(client, 'missedChanges');
      size -= own + counted - losses.size;
      if (size <= maxMissed) break;
    }
  }
}
