// The outbox keeps what groups are told until the end of the round of the event loop, and publishes it then. uWebSockets.js sends what one
// round publishes in runs of 32 frames, each run in one piece; but while it calls a handler of a socket, it sends frame by frame. For
// each frame it goes through all sockets of a topic. So topics are small, and each gets a whole run while its sockets are in the cache.

import type { Value } from '../../../../model/value.ts';
import type { FairQueue } from '../../pacing/fair-queue.ts';
import type { Round } from '../../pacing/round.ts';
import type { ProtocolContext, Publisher } from '../socket-protocol.ts';
import type { Tally } from '../tally.ts';
import { FrameEncoder } from './frame.ts';

/** How many frames wait at most. When there would be more, they leave at once. */
const maxHeldFrames = 65_536;
/** One topic is handed so many frames before the next topic is handed the same ones. */
const maxRun = 32;

/** Sockets subscribe to a topic; `sent` counts what was published on it. */
export interface Topic {
  readonly name: ArrayBuffer;
  readonly sent: Tally;
}

/** Who is sent a frame: each topic that there is when it leaves. */
export interface Audience {
  readonly topics: readonly Topic[];
  /** How many sockets they have. */
  readonly members: number;
}

export interface Outbox {
  /** Puts in a frame. `prefix` is its part before the value. */
  put(audience: Audience, prefix: Uint8Array, value: Value): void;
  /** Publishes now what waits. */
  flush(): void;
  /** These leave their topic as soon as the frame that is being published is out. */
  readonly leaving: Set<Leaver>;
}

/** A socket that has missed something. As long as it has its topic, later frames overtake what it missed. */
interface Leaver {
  leaveTopic(): void;
}

/** Creates an outbox. The bytes that the publisher gets are valid only during its call. */
export function createOutbox(
  publisher: Publisher,
  round: Pick<Round, 'willPublish' | 'hasPublished'>,
  queue: Pick<FairQueue, 'atEnd'>,
  notePublished: ProtocolContext['notePublished'],
): Outbox {
  const leaving = new Set<Leaver>();
  const encoder = new FrameEncoder();
  const audiences: Audience[] = [];
  const prefixes: Uint8Array[] = [];
  const values: Value[] = [];
  /** How many characters texts have, once for each socket that is sent them. */
  let characters = 0;
  const endOfRun = (first: number) => {
    const last = Math.min(first + maxRun, audiences.length);
    let end = first + 1;
    while (end < last && audiences[end] === audiences[first]) end++;
    return end;
  };
  const flush = () => {
    let prefix: Uint8Array | undefined;
    let value: Value | undefined;
    let frame: Uint8Array | undefined;
    for (let first = 0, end = 0; first < audiences.length; first = end) {
      end = endOfRun(first);
      for (const { name, sent } of audiences[first]!.topics)
        for (let index = first; index < end; index++) {
          if (frame === undefined || prefixes[index] !== prefix || values[index] !== value) {
            prefix = prefixes[index]!;
            value = values[index]!;
            frame = encoder.encode(prefix, value);
          }
          publisher.publish(name, frame);
          if (leaving.size > 0) for (const leaver of leaving) leaver.leaveTopic();
          sent.add(frame.length);
        }
    }
    audiences.length = 0;
    prefixes.length = 0;
    values.length = 0;
    round.hasPublished();
    if (characters > 0) notePublished(characters);
    characters = 0;
  };
  return {
    put(audience, prefix, value) {
      if (audiences.length === 0) queue.atEnd(flush);
      else if (audiences.length === maxHeldFrames) flush();
      const { members } = audience;
      const length = typeof value === 'string' ? value.length : 0;
      round.willPublish(members, length);
      characters += members * length;
      audiences.push(audience);
      prefixes.push(prefix);
      values.push(value);
    },
    flush,
    leaving,
  };
}
