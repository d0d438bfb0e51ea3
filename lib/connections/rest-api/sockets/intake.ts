// Receives messages from WebSocket clients and passes them to the sessions, nearly always immediately. When a round of the event loop has
// lasted long, the intake puts messages into the backlog of their client, and takes them from there when it is the client's turn. A client
// whose backlog becomes too long is closed. A client with a backlog of at most 64 KiB is closed only if other clients of the same user or
// network flood the hub.

import { type Account, held } from '../../../model/held-bytes.ts';
import { closeCodes } from '../../../wire/protocol.ts';
import { backlogBytesOfAll, lateBacklog, limits } from '../limits/client-limits.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import { shareOf, TokenBuckets } from '../limits/rates.ts';
import { atOnceMs, type FairQueue, type Task } from '../pacing/fair-queue.ts';
import { type Round, StandStill } from '../pacing/round.ts';
import type { Settings } from '../settings.ts';
import type { Session, Socket } from './socket-protocol.ts';

/**
 * The size up to which a backlog does not cause the hub to close the client, unless other clients of the same share flood the hub, in
 * bytes.
 */
const [leastBytes] = limits.backlogBytes.setting;
/** The key of the budget that all clients share. */
const everybody = '';
/** The growth of a backlog after which the backlog is checked again, in bytes. */
const lookAheadBytes = 4096;
/** The number of messages, or of bytes, in a slice between two checks of the clock. */
const lookEvery = 8;
const lookEveryBytes = 4096;

export class Intake {
  readonly #round: Round;
  readonly #queue: FairQueue;
  readonly #hits: LimitHits;
  readonly #maxBytes: number;
  readonly #waiting = new Map<Session, Waiting>();
  /** The total size of all backlogs, in bytes. */
  totalBytes = 0;
  readonly #grace = new TokenBuckets(lateBacklog.graceMessages, lateBacklog.gracePerSecond);
  readonly #graceWhenStill = new TokenBuckets(lateBacklog.stillMessages, lateBacklog.gracePerSecond);
  readonly #standStill = new StandStill();
  /**
   * The number of clients that the hub may still close, per share and in total, before it also closes clients that are only slightly ahead.
   */
  readonly #floods = new TokenBuckets(lateBacklog.floods, lateBacklog.floodsPerSecond);
  readonly #floodsOfAll = new TokenBuckets(lateBacklog.floodsOfAll, lateBacklog.floodsOfAllPerSecond);
  /** The pings and pongs of each session that arrived in a late round, with the number `#controlRound`. */
  readonly #control = new Map<Session, Ahead>();
  #controlRound = 0;

  constructor(round: Round, queue: FairQueue, hits: LimitHits, { limits: { backlogBytes } }: Settings) {
    this.#round = round;
    this.#queue = queue;
    this.#hits = hits;
    this.#maxBytes = backlogBytes;
  }

  /** Passes a message to the session of its socket, immediately or later. */
  message(socket: Socket, message: ArrayBuffer, isBinary: boolean): void {
    const { session } = socket.getUserData();
    const hasTime = this.#round.hasTime(message.byteLength, atOnceMs);
    const waiting = this.#waiting.size === 0 ? undefined : this.#waiting.get(session);
    if (hasTime && waiting === undefined && !session.isBusy && !this.#queue.mustWait(session.line)) {
      const beforeMs = this.#round.publishingMs;
      session.receive(message, isBinary);
      this.#queue.notePublishing(session.line, beforeMs);
    } else this.#keep(waiting ?? this.#wait(socket), message, isBinary);
  }

  /** Counts a ping or a pong towards the client's backlog. uWebSockets.js has already answered the ping. */
  control(socket: Socket, bytes: number): void {
    if (this.#round.hasTime(bytes, atOnceMs)) return;
    if (this.#controlRound !== this.#round.number) this.#control.clear();
    this.#controlRound = this.#round.number;
    const { session, principal, remoteAddress } = socket.getUserData();
    let ahead = this.#control.get(session);
    if (ahead === undefined) {
      ahead = new Ahead(shareOf(principal, remoteAddress));
      this.#control.set(session, ahead);
    }
    ahead.add(headBytes + bytes);
    if (ahead.isToLook && this.#isTooMuch(ahead)) this.#end(socket);
  }

  /** Counts a pong, and reports it to the session once the session has received all earlier messages. */
  pong(socket: Socket, bytes: number): void {
    this.control(socket, bytes);
    if (bytes > 0) return;
    const { session } = socket.getUserData();
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) session.ponged();
    else waiting.hasPonged = true;
  }

  /** Stops the intake. No further message may arrive. */
  stop(): void {
    this.#standStill.stop();
  }

  /** Continues with the waiting messages for a session that was busy. */
  resume(session: Session): void {
    const waiting = this.#waiting.get(session);
    if (waiting !== undefined) this.#queue.add(waiting);
  }

  /** Drops the backlog of a session that has ended. */
  forget(session: Session): void {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) return;
    this.#waiting.delete(session);
    this.#queue.remove(waiting);
    this.totalBytes -= waiting.backlog.bytes;
    waiting.account.set(0);
  }

  #wait(socket: Socket): Waiting {
    const { session } = socket.getUserData();
    const waiting: Waiting = new Waiting(
      socket,
      (endMs) => this.#take(waiting, endMs),
      () => this.#end(socket, 'heldBytes'),
    );
    this.#waiting.set(session, waiting);
    if (!session.isBusy) this.#queue.add(waiting);
    return waiting;
  }

  #keep(waiting: Waiting, message: ArrayBuffer, isBinary: boolean): void {
    const { backlog, ahead } = waiting;
    const bytes = headBytes + message.byteLength;
    backlog.put(message, isBinary);
    this.totalBytes += bytes;
    ahead.add(bytes);
    if (!ahead.isToLook) return;
    if (this.#isTooMuch(ahead)) this.#end(waiting.socket);
    else waiting.count();
  }

  /** Returns whether a client is so far ahead of the hub that the hub has to close it. */
  #isTooMuch(ahead: Ahead): boolean {
    const { bytes, messages } = ahead;
    const arrived = ahead.look();
    if (bytes > this.#maxBytes || (bytes > leastBytes && this.totalBytes > backlogBytesOfAll)) return true;
    if (bytes > leastBytes && (messages > lateBacklog.messages || bytes > lateBacklog.kibibytes * 1024)) {
      if (this.#round.hasTime(0, lateBacklog.lateMs)) return false;
      return !take(this.#standStill.wasLately() ? this.#graceWhenStill : this.#grace, everybody, arrived);
    }
    if (bytes <= lateBacklog.floodBytes || this.#round.hasTime(0, lateBacklog.floodLateMs)) return false;
    return this.#isFlooding(ahead.share) && !this.#standStill.wasLately();
  }

  #isFlooding(share: string): boolean {
    if (!this.#floods.has(share)) return true;
    return !this.#floodsOfAll.has(everybody) && this.#floods.left(share) < lateBacklog.floods;
  }

  #end(socket: Socket, limit: 'backlogBytes' | 'heldBytes' = 'backlogBytes'): void {
    const { session, principal, remoteAddress } = socket.getUserData();
    this.#hits.add(limit, remoteAddress);
    const share = shareOf(principal, remoteAddress);
    if (this.#floods.left(share) > -lateBacklog.floods) this.#floods.take(share);
    if (this.#floodsOfAll.left(everybody) > 0) this.#floodsOfAll.take(everybody);
    session.end(closeCodes.flooding, 'you send faster than the hub can process your messages');
  }

  /** Passes waiting messages from a client to its session until `endMs`; returns whether more can be passed immediately. */
  #take(waiting: Waiting, endMs: number): boolean {
    const { session, socket } = waiting;
    if (session.isBusy || this.#waiting.get(session) !== waiting) return false;
    let hasMore = false;
    socket.cork(() => {
      hasMore = this.#takeUntil(waiting, endMs);
    });
    waiting.count();
    return hasMore;
  }

  #takeUntil(waiting: Waiting, endMs: number): boolean {
    const { session, backlog } = waiting;
    for (let count = 1, bytes = 0; ; count++) {
      const before = backlog.bytes;
      const next = backlog.take();
      if (next === undefined) break;
      this.totalBytes -= before - backlog.bytes;
      waiting.ahead.remove(before - backlog.bytes);
      session.receive(next.message, next.isBinary);
      if (this.#waiting.get(session) !== waiting || session.isBusy) return false; // the session has ended, or is busy with this message
      bytes += next.message.byteLength;
      if (count % lookEvery !== 0 && bytes < lookEveryBytes) continue;
      bytes = 0;
      if (!this.#queue.hasTime(endMs)) return true;
    }
    this.#waiting.delete(session);
    if (waiting.hasPonged) session.ponged();
    return false;
  }
}

/** Takes tokens if the bucket of the key has enough; returns whether it had. */
function take(buckets: TokenBuckets, key: string, count: number): boolean {
  const isLeft = buckets.has(key, count);
  if (isLeft) buckets.take(key, count);
  return isLeft;
}

/** Counts how far a client is ahead of the hub, in messages and bytes. */
class Ahead {
  readonly share: string;
  bytes = 0;
  messages = 0;
  #lookAtBytes = lookAheadBytes;
  /** The number of messages that have arrived since the last check; a long message counts once per KiB. */
  #arrived = 0;

  constructor(share: string) {
    this.share = share;
  }

  add(bytes: number): void {
    this.bytes += bytes;
    this.messages++;
    this.#arrived += 1 + Math.floor(bytes / 1024);
  }

  remove(bytes: number): void {
    this.bytes -= bytes;
    this.messages--;
    this.#lookAtBytes = Math.min(this.#lookAtBytes, this.bytes + lookAheadBytes);
  }

  get isToLook(): boolean {
    return this.bytes >= this.#lookAtBytes;
  }

  /** Returns how many messages have arrived since the last check, and resets that count. */
  look(): number {
    const arrived = this.#arrived;
    this.#arrived = 0;
    this.#lookAtBytes = this.bytes + lookAheadBytes;
    return arrived;
  }
}

/** The backlog of a client, as a task in the fair queue. */
class Waiting implements Task {
  readonly socket: Socket;
  readonly session: Session;
  readonly share: string;
  readonly line: object;
  readonly backlog = new Backlog();
  readonly ahead: Ahead;
  readonly advance: Task['advance'];
  readonly account: Account;
  /** Whether the client has answered a ping while its messages were waiting. */
  hasPonged = false;

  constructor(socket: Socket, advance: Task['advance'], end: () => void) {
    const { session, principal, remoteAddress } = socket.getUserData();
    this.socket = socket;
    this.session = session;
    this.share = shareOf(principal, remoteAddress);
    this.ahead = new Ahead(this.share);
    this.line = session.line;
    this.advance = advance;
    const letGo = () => {
      this.account.set(0);
      end();
    };
    this.account = held.open({ kind: 'messages', owner: this.share, letGo });
  }

  /** Charges the part of the backlog that exceeds `leastBytes` to the client's share. */
  count(): void {
    this.account.set(Math.max(0, this.backlog.bytes - leastBytes));
  }
}

/**
 * The size of the first piece of a backlog, in bytes. It is small, because after a reconnect each of many clients has one short message
 * waiting.
 */
const firstPieceBytes = 1024;
/** The size of further pieces of a backlog, in bytes. The operating system reclaims pieces of this size as soon as they are freed. */
const pieceBytes = 256 * 1024;
/** The minimum size of the header of a frame from a client, in bytes (RFC 6455 section 5.2). */
const headBytes = 6;
/** The number of taken messages whose marks are removed from the list together. */
const forgottenRun = 4096;
const binaryFlag = 1;

/** The backlog of a WebSocket client: its waiting messages, in order, in a few large pieces of memory. */
export class Backlog {
  #pieces: Uint8Array[] = [];
  /** The offset of the free space in the last piece, and the offset of the next message in the first piece. */
  #used = 0;
  #from = 0;
  /** The length of each message times two, plus 1 if the message is binary. */
  #marks: number[] = [];
  #next = 0;
  /** The number of waiting bytes, as received on the wire, with headers. */
  bytes = 0;

  /** The number of waiting messages. */
  get length(): number {
    return this.#marks.length - this.#next;
  }

  /** Appends a copy of a message to the backlog. */
  put(message: ArrayBuffer, isBinary: boolean): void {
    const length = message.byteLength;
    let last = this.#pieces.at(-1);
    if (last === undefined || this.#used + length > last.length) {
      last = new Uint8Array(Math.max(last === undefined ? firstPieceBytes : pieceBytes, length));
      this.#pieces.push(last);
      this.#used = 0;
    }
    last.set(new Uint8Array(message), this.#used);
    this.#used += length;
    this.#marks.push(length * 2 + (isBinary ? binaryFlag : 0));
    this.bytes += headBytes + length;
  }

  /** Removes and returns the oldest message; returns undefined if no message is waiting. */
  take(): { readonly message: ArrayBuffer; readonly isBinary: boolean } | undefined {
    const mark = this.#marks[this.#next];
    if (mark === undefined) return undefined;
    if (++this.#next === forgottenRun) {
      this.#marks.splice(0, forgottenRun);
      this.#next = 0;
    }
    const length = mark >> 1;
    if (this.#from + length > this.#pieces[0]!.length) {
      this.#pieces.shift();
      this.#from = 0;
    }
    const message = this.#pieces[0]!.buffer.slice(this.#from, this.#from + length) as ArrayBuffer;
    this.#from += length;
    this.bytes -= headBytes + length;
    return { message, isBinary: (mark & binaryFlag) !== 0 };
  }
}
