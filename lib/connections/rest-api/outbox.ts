// What the fan-out publishes, kept until the end of the round of the event loop: uWebSockets.js sends what one round publishes
// in runs of 32 frames, each run in one piece, but frame by frame while it is calling a handler of a socket.

/** How many frames wait at most; with more they leave at once. */
const maxHeldFrames = 65_536;

export interface Outbox {
  put(topic: string, frame: string): void;
  /** Publishes now what waits. */
  flush(): void;
}

export function createOutbox(publish: (topic: string, frame: string) => void): Outbox {
  const topics: string[] = [];
  const frames: string[] = [];
  const flush = () => {
    for (let index = 0; index < frames.length; index++) publish(topics[index]!, frames[index]!);
    topics.length = 0;
    frames.length = 0;
  };
  return {
    put(topic, frame) {
      if (frames.length === 0) setImmediate(flush);
      else if (frames.length === maxHeldFrames) flush();
      topics.push(topic);
      frames.push(frame);
    },
    flush,
  };
}
