// A parameter within a view: where its changes wait until they are sent.

import type { Change } from '../../../../../model/parameter.ts';
import type { Value } from '../../../../../model/value.ts';
import type { Channel, Observer } from '../../channel.ts';
import { item } from '../frames.ts';
import type { View } from './group.ts';
import type { Lane } from './outbox.ts';

export class Slot implements Observer {
  readonly subscriber: View;
  readonly channel: Channel;
  readonly lane: Lane;
  /** Whether a change waits to be sent. */
  isPending = false;
  /** The revision of the last change before those that wait. */
  previousRevision = 0;

  constructor(view: View, channel: Channel, lane: Lane) {
    this.subscriber = view;
    this.channel = channel;
    this.lane = lane;
  }

  tell(change: Change): void {
    const isFirst = !this.isPending;
    if (isFirst) {
      this.isPending = true;
      this.previousRevision = this.channel.revision;
    }
    this.lane.put(this, change, isFirst);
  }
}

/** Encodes each value once, however many views send it. */
export function itemOf(channel: Channel, value: Value, revision: number): string {
  if (channel.itemRevision !== revision) {
    channel.itemRevision = revision;
    channel.item = item(channel.id, value);
  }
  return channel.item;
}
