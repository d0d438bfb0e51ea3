// The outbox keeps what groups are told until the end of the round of the event loop, and publishes it then. uWebSockets.js sends what one
// round publishes in runs of 32 frames, each run in one piece; but while it calls a handler of a socket, it sends frame by frame. For
// each frame it goes through all sockets of a topic. So topics are small, and each gets a whole run while its sockets are in the cache.
// Who asks for lists is sent what a round brought in one frame.

import type { Value } from '../../../../model/value.ts';
import type { FairQueue } from '../../pacing/fair-queue.ts';
import type { Round } from '../../pacing/round.ts';
import type { ProtocolContext, Publisher } from '../socket-protocol.ts';
import { FrameEncoder, ListEncoder } from './frame.ts';
import { type Audience, LateFrames, longFrameMs } from './late-frames.ts';

/** How many frames wait at most. When there would be more, they leave at once. */
const maxHeldFrames = 65_536;
/** One topic is handed so many frames before the next topic is handed the same ones. */
const maxRun = 32;
/** So long, in each round, frames are sent that were too long for theirs. */
const lateMs = 3;
/** When what waits for the end of a round takes longer than this, further texts of the round are late. */
const mostAtOnceMs = 16;

export interface Outbox {
  /** Puts in the frame of a change. `prefix` is its part before the value. */
  put(audience: Audience, prefix: Uint8Array, value: Value, revision: number): void;
  /** Publishes now what waits, but for what is late. */
  flush(): void;
  /** What takes longer than a round. */
  readonly late: LateFrames;
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
  round: Pick<
    Round,
    'willPublish' | 'willPublishMore' | 'willPublishLate' | 'hasPublished' | 'publishingMs' | 'lateMs'
  >,
  queue: Pick<FairQueue, 'atEnd'>,
  notePublished: ProtocolContext['notePublished'],
): Outbox {
  const leaving = new Set<Leaver>();
  const encoder = new FrameEncoder();
  const audiences: Audience[] = [];
  const prefixes: Uint8Array[] = [];
  const values: Value[] = [];
  const lists = new ListEncoder();
  /** For whom changes wait in lists, and how many of them. */
  const listed: Audience[] = [];
  let listedChanges = 0;
  /** How many characters texts have, once for each socket that is sent them. */
  let characters = 0;
  let isRequested = false;
  const leave = () => {
    if (leaving.size > 0) for (const leaver of leaving) leaver.leaveTopic();
  };
  const late = new LateFrames({ publisher, encoder, onSent: leave, notePublished });
  const endOfRun = (first: number) => {
    const last = Math.min(first + maxRun, audiences.length);
    let end = first + 1;
    while (end < last && audiences[end] === audiences[first]) end++;
    return end;
  };
  const publishList = (audience: Audience) => {
    const list = audience.list!;
    lists.encode(list.prefixes, list.values, (frame) => {
      for (const { name, sent } of audience.topics) {
        publisher.publish(name, frame);
        leave();
        sent.add(frame.length);
      }
    });
    list.prefixes.length = list.values.length = 0;
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
          leave();
          sent.add(frame.length);
        }
    }
    audiences.length = 0;
    prefixes.length = 0;
    values.length = 0;
    for (const audience of listed) publishList(audience);
    listed.length = listedChanges = 0;
    round.hasPublished();
    if (characters > 0) notePublished(characters);
    characters = 0;
  };
  const end = () => {
    isRequested = false;
    flush();
    if (late.advance(performance.now() + lateMs)) request();
  };
  const request = () => {
    isRequested = true;
    queue.atEnd(end);
  };
  return {
    put(audience, prefix, value, revision) {
      if (!isRequested) request();
      const { members, list } = audience;
      const length = typeof value === 'string' ? value.length : 0;
      const isNext = list !== undefined && list.values.length > 0;
      const ms = isNext
        ? round.willPublishMore(members, prefix.length + length)
        : round.willPublish(members, list === undefined ? length : prefix.length + length);
      const isLong = length > 0 && (ms > longFrameMs || round.publishingMs - round.lateMs > mostAtOnceMs);
      if (isLong || late.has(audience)) {
        round.willPublishLate(ms);
        late.add(audience, { prefix, value, isLong, revision });
        return;
      }
      if (audiences.length + listedChanges === maxHeldFrames) flush();
      characters += members * length;
      if (list !== undefined) {
        if (list.values.length === 0) listed.push(audience);
        list.prefixes.push(prefix);
        list.values.push(value);
        listedChanges++;
        return;
      }
      audiences.push(audience);
      prefixes.push(prefix);
      values.push(value);
    },
    flush,
    late,
    leaving,
  };
}
