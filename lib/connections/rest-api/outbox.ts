// What the fan-out publishes, kept until the end of the round of the event loop: uWebSockets.js sends what one round publishes
// in runs of 32 frames, each run in one piece, but frame by frame while it is calling a handler of a socket.

import type { Value } from '../../model/value.ts';
import { FrameEncoder } from './plain-frame.ts';
import type { Tally } from './tally.ts';

/** How many frames wait at most; with more they leave at once. */
const maxHeldFrames = 65_536;

/** What sockets subscribe to, and how much has been published on it. */
export interface Topic {
  readonly name: ArrayBuffer;
  readonly sent: Tally;
}

export interface Outbox {
  /** Has a frame published on a topic; `prefix` is its part before the value. */
  put(topic: Topic, prefix: Uint8Array, value: Value): void;
  /** Publishes now what waits. */
  flush(): void;
}

/** `publish` is handed bytes that are valid during its call only. */
export function createOutbox(publish: (topic: ArrayBuffer, frame: Uint8Array) => void): Outbox {
  const encoder = new FrameEncoder();
  const topics: Topic[] = [];
  const prefixes: Uint8Array[] = [];
  const values: Value[] = [];
  const flush = () => {
    let prefix: Uint8Array | undefined;
    let value: Value | undefined;
    let frame: Uint8Array | undefined;
    for (let index = 0; index < topics.length; index++) {
      if (frame === undefined || prefixes[index] !== prefix || values[index] !== value) {
        prefix = prefixes[index]!;
        value = values[index]!;
        frame = encoder.encode(prefix, value);
      }
      const { name, sent } = topics[index]!;
      publish(name, frame);
      sent.add(frame.length);
    }
    topics.length = 0;
    prefixes.length = 0;
    values.length = 0;
  };
  return {
    put(topic, prefix, value) {
      if (topics.length === 0) setImmediate(flush);
      else if (topics.length === maxHeldFrames) flush();
      topics.push(topic);
      prefixes.push(prefix);
      values.push(value);
    },
    flush,
  };
}
