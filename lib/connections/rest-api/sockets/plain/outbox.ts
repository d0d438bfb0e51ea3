// What the fan-out publishes, kept until the end of the round of the event loop: uWebSockets.js sends what one round publishes
// in runs of 32 frames, each run in one piece, but frame by frame while it is calling a handler of a socket. For each frame it
// goes through all sockets of a topic; so topics are small, and each gets a whole run while its sockets are in the cache.

import type { Value } from '../../../../model/value.ts';
import type { Publisher } from '../protocol.ts';
import type { Tally } from '../tally.ts';
import { FrameEncoder } from './frame.ts';

/** How many frames wait at most; with more they leave at once. */
const maxHeldFrames = 65_536;
/** How many frames one topic is handed, before the same ones are handed to the next. */
const maxRun = 32;

/** What sockets subscribe to, and how much has been published on it. */
export interface Topic {
  readonly name: ArrayBuffer;
  readonly sent: Tally;
}

export interface Outbox {
  /** Has a frame published on each of the topics that there are when it leaves; `prefix` is its part before the value. */
  put(topics: readonly Topic[], prefix: Uint8Array, value: Value): void;
  /** Publishes now what waits. */
  flush(): void;
  /** Those who leave their topic as soon as the frame that is being published is out. */
  readonly leaving: Set<Leaver>;
}

/** A socket that has missed something: as long as it has its topic, later frames overtake what it missed. */
export interface Leaver {
  leaveTopic(): void;
}

/** The publisher is handed bytes that are valid during its call only. */
export function createOutbox(publisher: Publisher): Outbox {
  const leaving = new Set<Leaver>();
  const encoder = new FrameEncoder();
  const addressees: (readonly Topic[])[] = [];
  const prefixes: Uint8Array[] = [];
  const values: Value[] = [];
  const endOfRun = (first: number) => {
    const last = Math.min(first + maxRun, addressees.length);
    let end = first + 1;
    while (end < last && addressees[end] === addressees[first]) end++;
    return end;
  };
  const flush = () => {
    let prefix: Uint8Array | undefined;
    let value: Value | undefined;
    let frame: Uint8Array | undefined;
    for (let first = 0, end = 0; first < addressees.length; first = end) {
      end = endOfRun(first);
      for (const { name, sent } of addressees[first]!)
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
    addressees.length = 0;
    prefixes.length = 0;
    values.length = 0;
  };
  return {
    put(topics, prefix, value) {
      if (addressees.length === 0) setImmediate(flush);
      else if (addressees.length === maxHeldFrames) flush();
      addressees.push(topics);
      prefixes.push(prefix);
      values.push(value);
    },
    flush,
    leaving,
  };
}
