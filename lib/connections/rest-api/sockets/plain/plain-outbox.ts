// The outbox keeps the changes for groups until the end of the round of the event loop, and publishes them then. uWebSockets.js sends the
// frames of one round in runs of 32, each run together, but within a socket handler it sends the frames one by one. For each frame, it
// visits all sockets on a topic. So topics are small, and each topic gets a whole run while its sockets are in the cache. Clients that have
// requested lists get all changes in a round in one frame.

import type { Value } from '../../../../model/value.ts';
import type { FairQueue } from '../../pacing/fair-queue.ts';
import type { Round } from '../../pacing/round.ts';
import type { ProtocolContext, Publisher } from '../socket-protocol.ts';
import { FrameEncoder, ListEncoder } from './frame.ts';
import { type Audience, LateFrames, longFrameMs } from './late-frames.ts';

/** The maximum number of frames that may wait. When this number is reached, all waiting frames are published immediately. */
const maxHeldFrames = 65_536;
/** The number of frames that are published on a topic before the same frames are published on the next topic. */
const maxRun = 32;
/** The time per round for which the outbox sends late frames, in milliseconds. */
const lateMs = 3;
/** The publishing time at the end of a round above which further strings in the round become late, in milliseconds. */
const mostAtOnceMs = 16;

export interface Outbox {
  /** Adds the notification of a change. `prefix` is the part of the notification before the value. */
  put(audience: Audience, prefix: Uint8Array, value: Value, revision: number): void;
  /** Publishes all waiting frames, except late ones. */
  flush(): void;
  /** The frames that take too long to publish within one round. */
  readonly late: LateFrames;
  /** The sockets that leave their topic as soon as the current frame has been published. */
  readonly leaving: Set<Leaver>;
}

/** A socket that has missed frames and has to leave its topic. Until then, later frames overtake the missed frames. */
interface Leaver {
  leaveTopic(): void;
}

/** Creates an outbox that publishes with `publisher`, which may use the bytes of a frame only during the call. */
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
  /** The audiences that have changes in lists, and the total number of these changes. */
  const listed: Audience[] = [];
  let listedChanges = 0;
  /** The number of characters in waiting strings, counted once for each socket. */
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
