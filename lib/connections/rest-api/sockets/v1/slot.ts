// A parameter within a view: where its changes wait until they are sent.

import type { Change } from '../../../../model/parameter.ts';
import type { Value } from '../../../../model/value.ts';
import type { Feed, Listener } from '../feed.ts';
import { item } from './frames.ts';
import type { Lane } from './lane.ts';
import type { View } from './view.ts';

export class Slot implements Listener {
  readonly audience: View;
  readonly feed: Feed;
  readonly lane: Lane;
  /** Whether a change waits to be sent. */
  isPending = false;
  /** The revision of the last change before those that wait. */
  previousRevision = 0;

  constructor(view: View, feed: Feed, lane: Lane) {
    this.audience = view;
    this.feed = feed;
    this.lane = lane;
  }

  tell(change: Change): void {
    const isFirst = !this.isPending;
    if (isFirst) {
      this.isPending = true;
      this.previousRevision = this.feed.revision;
    }
    this.lane.put(this, change, isFirst);
  }
}

/** Encodes each value once, however many views send it. */
export function itemOf(feed: Feed, value: Value, revision: number): string {
  if (feed.itemRevision !== revision) {
    feed.itemRevision = revision;
    feed.item = item(feed.id, value);
  }
  return feed.item;
}
