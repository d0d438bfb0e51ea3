// The channel of one parameter as a group observes it: it knows where a change waits until it is sent.

import type { Change } from '../../../../../model/parameter.ts';
import type { Delivery } from '../../../../../wire/v1/client-messages.ts';
import type { Channel, Observer, Subscriber } from '../../channel.ts';

/** Keeps changes until they are sent. */
export interface ChangeKeeper {
  readonly delivery: Delivery;
  /** Takes a change; `isFirst`: none of this channel waits. */
  put(channel: GroupChannel, change: Change, isFirst: boolean): void;
}

export class GroupChannel implements Observer {
  readonly subscriber: Subscriber;
  readonly channel: Channel;
  readonly outbox: ChangeKeeper;
  /** Whether a change waits to be sent. */
  isPending = false;
  /** The revision of the last change before those that wait. */
  previousRevision = 0;

  constructor(subscriber: Subscriber, channel: Channel, outbox: ChangeKeeper) {
    this.subscriber = subscriber;
    this.channel = channel;
    this.outbox = outbox;
  }

  tell(change: Change): void {
    const isFirst = !this.isPending;
    if (isFirst) {
      this.isPending = true;
      this.previousRevision = this.channel.revision;
    }
    this.outbox.put(this, change, isFirst);
  }
}
