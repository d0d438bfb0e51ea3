// Packs frames into batches. A socket takes a batch in one piece, or misses it with all that follow.

import { frameLength } from '../frames.ts';
import type { GroupChannel } from './group-channel.ts';

/** Frames that are sent together, and the channel of each change in them. */
export interface Batch {
  readonly frames: Uint8Array[];
  readonly channels: GroupChannel[];
  bytes: number;
}

export class Packer {
  readonly batches: Batch[] = [];
  /** The lowest of the revisions that the parameters had before what waited. */
  leastPrevious = Number.POSITIVE_INFINITY;

  put(frame: string, channels: readonly GroupChannel[]): void {
    const bytes = Buffer.from(frame);
    let last = this.batches.at(-1);
    if (last === undefined || last.bytes + bytes.length > frameLength) {
      last = { frames: [], channels: [], bytes: 0 };
      this.batches.push(last);
    }
    last.frames.push(bytes);
    for (const channel of channels) {
      last.channels.push(channel);
      if (channel.previousRevision < this.leastPrevious) this.leastPrevious = channel.previousRevision;
    }
    last.bytes += bytes.length;
  }
}
