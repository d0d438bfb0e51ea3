// The intake takes what WebSocket clients send, and hands it to their sessions. It takes nearly everything as it comes. When a round of
// the event loop has lasted long, it puts messages into the backlog of their client, and takes them between rounds, one client after
// another. It closes a client whose backlog gets too long, but none that is at most 64 KiB ahead of the hub.

import { closeCodes } from '../../../wire/close-codes.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import { backlogBytesOfAll, lateBacklog, limits } from '../limits/limits.ts';
import { shareOf } from '../limits/share.ts';
import { TokenBuckets } from '../limits/token-buckets.ts';
import type { Pace } from '../pacing/pace.ts';
import type { Settings } from '../settings.ts';
import { Backlog, headBytes } from './backlog.ts';
import type { Session, Socket } from './session.ts';

/** For so long, within one round, messages are taken as they come. */
const roundMs = 10;
/** A client with a backlog of at most so many bytes is never closed. */
const [leastBytes] = limits.backlogBytes.setting;
/** Whose grace it is. */
const everybody = '';
/** A client with a backlog of at most so many bytes is no flood: it has sent a few changes, which are soon taken. */
const littleBytes = 1024;
/** How long the slice of a client lasts, and after how many messages the intake looks at the clock. */
const sliceMs = 1;
const lookEvery = 8;

interface Waiting {
  readonly socket: Socket;
  readonly backlog: Backlog;
  /** Whether it has answered a ping meanwhile. */
  hasPonged: boolean;
}

export class Intake {
  readonly #pace: Pace;
  readonly #hits: LimitHits;
  readonly #maxBytes: number;
  /** In the order of their slices. */
  readonly #waiting = new Map<Session, Waiting>();
  #totalBytes = 0;
  readonly #grace = new TokenBuckets(lateBacklog.graceMessages, lateBacklog.gracePerSecond);
  /** How many bytes of pings and pongs came in a round that had lasted long. */
  readonly #control = new Map<Session, number>();

  constructor(pace: Pace, hits: LimitHits, { limits: { backlogBytes } }: Settings) {
    this.#pace = pace;
    this.#hits = hits;
    this.#maxBytes = backlogBytes;
    pace.add((endMs) => {
      this.#control.clear();
      return this.#takeUntil(endMs);
    });
  }

  /** Hands a message to the session of a socket, now or later. */
  message(socket: Socket, message: ArrayBuffer, isBinary: boolean): void {
    const { session } = socket.getUserData();
    const hasTime = this.#pace.hasTime(message.byteLength, roundMs);
    const isFirst = !session.isBusy && (this.#waiting.size === 0 || !this.#waiting.has(session));
    if (hasTime && isFirst) session.receive(message, isBinary);
    else this.#keep(socket, message, isBinary);
  }

  /** Counts a ping or a pong; uWebSockets.js has answered it. */
  control(socket: Socket, bytes: number): void {
    if (this.#pace.hasTime(bytes, roundMs)) return;
    const { session } = socket.getUserData();
    const sum = (this.#control.get(session) ?? 0) + headBytes + bytes;
    this.#control.set(session, sum);
    this.#pace.request();
    if (this.#isTooMuch(sum, sum / headBytes)) this.#end(socket);
  }

  /** Counts a pong, and tells the session once all that came before it has been received. */
  pong(socket: Socket, bytes: number): void {
    this.control(socket, bytes);
    if (bytes > 0) return;
    const { session } = socket.getUserData();
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) session.ponged();
    else waiting.hasPonged = true;
  }

  /** Forgets the backlog of a session that is over. */
  forget(session: Session): void {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) return;
    this.#waiting.delete(session);
    this.#totalBytes -= waiting.backlog.bytes;
  }

  #keep(socket: Socket, message: ArrayBuffer, isBinary: boolean): void {
    const { session } = socket.getUserData();
    let waiting = this.#waiting.get(session);
    if (waiting === undefined) {
      waiting = { socket, backlog: new Backlog(), hasPonged: false };
      this.#waiting.set(session, waiting);
      this.#pace.request();
    }
    const { backlog } = waiting;
    const before = backlog.bytes;
    backlog.put(message, isBinary);
    this.#totalBytes += backlog.bytes - before;
    if (this.#isTooMuch(backlog.bytes, backlog.length)) this.#end(socket);
  }

  #isTooMuch(bytes: number, messages: number): boolean {
    if (bytes <= leastBytes) return false;
    if (bytes > this.#maxBytes || this.#totalBytes > backlogBytesOfAll) return true;
    return messages > lateBacklog.messages && !this.#pace.hasTime(0, lateBacklog.lateMs) && !this.#hasGrace();
  }

  #hasGrace(): boolean {
    const isLeft = this.#grace.has(everybody);
    if (isLeft) this.#grace.take(everybody);
    return isLeft;
  }

  #end(socket: Socket): void {
    const { session, remoteAddress } = socket.getUserData();
    this.#hits.add('backlogBytes', remoteAddress);
    session.end(closeCodes.flooding, 'you send faster than the hub takes it');
  }

  /** Takes what waits. Short backlogs come first, for at most half of the time. Returns whether more waits. */
  #takeUntil(endMs: number): boolean {
    const ready = fairly([...this.#waiting].filter(([session]) => !session.isBusy));
    const few = ready.filter(([, { backlog }]) => backlog.bytes <= littleBytes);
    const many = ready.filter(([, { backlog }]) => backlog.bytes > littleBytes);
    this.#takeSlices(few, many.length === 0 ? endMs : (performance.now() + endMs) / 2);
    this.#takeSlices(many, endMs);
    return ready.some(([session]) => !session.isBusy && this.#waiting.has(session));
  }

  #takeSlices(ready: readonly (readonly [Session, Waiting])[], endMs: number): void {
    for (const [session, waiting] of ready) {
      this.#waiting.delete(session);
      this.#waiting.set(session, waiting); // its next slice comes after those of all others
      const sliceEndMs = Math.min(endMs, performance.now() + sliceMs);
      waiting.socket.cork(() => this.#takeOf(session, waiting, sliceEndMs));
      if (performance.now() >= endMs) break;
    }
  }

  #takeOf(session: Session, waiting: Waiting, endMs: number): void {
    const { backlog } = waiting;
    for (let count = 1; ; count++) {
      const before = backlog.bytes;
      const next = backlog.take();
      if (next === undefined) break;
      this.#totalBytes -= before - backlog.bytes;
      session.receive(next.message, next.isBinary);
      if (this.#waiting.get(session) !== waiting || session.isBusy) return; // the session has ended, or its message takes long
      if (count % lookEvery === 0 && performance.now() >= endMs) return;
    }
    this.#waiting.delete(session);
    if (waiting.hasPonged) session.ponged();
  }
}

/** One client of each share comes first, then a second one of each: who has many clients has no more slices. */
function fairly(waiting: readonly (readonly [Session, Waiting])[]): (readonly [Session, Waiting])[] {
  const counts = new Map<string, number>();
  const ranked = waiting.map((one) => {
    const { visitor, remoteAddress } = one[1].socket.getUserData();
    const share = shareOf(visitor, remoteAddress);
    const rank = counts.get(share) ?? 0;
    counts.set(share, rank + 1);
    return { one, rank };
  });
  if (counts.size <= 1) return [...waiting];
  return ranked.sort((one, other) => one.rank - other.rank).map(({ one }) => one);
}
