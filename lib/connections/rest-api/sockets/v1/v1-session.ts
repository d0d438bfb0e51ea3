// One patchbay.v1 client, from the greeting to the end of the connection: handles the client's messages, and answers invalid messages.

import type { Interests, SessionStatus } from '../../../../wire/http/operation.ts';
import { type CloseCode, closeCodes, mayReturn } from '../../../../wire/protocol.ts';
import { asHubError } from '../../input/parse-input.ts';
import { limits } from '../../limits/client-limits.ts';
import type { LimitHits } from '../../limits/limit-hits.ts';
import type { FairQueue, Task } from '../../pacing/fair-queue.ts';
import { heartbeatPayload, type Session, type Socket, stalledAfterMs } from '../socket-protocol.ts';
import { costOf } from '../user-shares.ts';
import type { Client } from './client.ts';
import { encode } from './frames.ts';
import { type HandlerContext, type Rest, receive, type Subject, subjectOf } from './message-handlers.ts';

/** The number of invalid messages in a row after which the hub closes the socket. */
const maxMistakes = limits.mistakes.default;
/** The interval at which full clients are checked, in milliseconds. */
const checkMs = 1000;

/** The objects that all sessions of a server share. */
interface Shared {
  readonly context: HandlerContext;
  readonly hits: LimitHits;
  readonly queue: FairQueue;
  /** Continues with the waiting messages for a session that was busy. */
  readonly resume: (session: Session) => void;
  readonly sessions: Set<V1Session>;
  readonly stalls: StallWatch;
  /** Returns the encoded greeting, which is the first message to a client. */
  greetingOf(client: Client): string;
}

export class V1Session implements Session, Task {
  readonly #shared: Shared;
  readonly #client: Client;
  #received = 0;
  /** The number of invalid messages in a row that the client has sent most recently. */
  #mistakes = 0;
  /** The work that remains for the client's last message; undefined if there is none. */
  #rest: Rest | undefined = undefined;

  constructor(shared: Shared, client: Client) {
    this.#shared = shared;
    this.#client = client;
  }

  prepare(): boolean {
    return false;
  }

  open(socket: Socket): void {
    this.#client.open(socket);
    this.#shared.sessions.add(this);
    this.#client.send(this.#shared.greetingOf(this.#client));
  }

  receive(message: ArrayBuffer, isBinary: boolean): void {
    this.#received++;
    try {
      this.#rest = receive(this.#shared.context, this.#client, message, isBinary);
    } catch (error) {
      this.#answerMistake(error, subjectOf(message));
      return;
    }
    if (this.#rest === undefined) this.#mistakes = 0;
    else {
      this.#client.ask(true);
      this.#shared.queue.do(this);
    }
  }

  get isBusy(): boolean {
    return this.#rest !== undefined || this.#client.hasUnreadAnswers || this.#client.hasManyPending;
  }

  get share(): string {
    return this.#client.share;
  }

  get line(): object {
    return this.#client;
  }

  get unreadBytes(): number {
    return this.#client.unreadBytes;
  }

  /** Continues with a message that takes a long time, until `endMs`; returns whether there is more to do. */
  advance(endMs: number): boolean {
    if (this.#client.isGone || this.#rest === undefined) return false;
    if (this.#goOn(this.#rest, endMs)) return true;
    this.#rest = undefined;
    this.#client.ask(false);
    this.#shared.resume(this); // the client may have sent more subscriptions, for which an `end` has to wait
    this.#shared.context.groups.resume(this.#client);
    return false;
  }

  dropped(): void {
    this.#shared.hits.add('unreadBytes', this.#client.remoteAddress);
  }

  drained(): void {
    const { stalls, context, resume } = this.#shared;
    if (!this.#client.isFull) return;
    resume(this); // the client's messages may have been waiting for space
    if (!this.#client.hasDrained()) return;
    stalls.delete(this.#client);
    context.groups.resume(this.#client);
  }

  ping(): void {
    if (this.#client.unreadBytes === 0) this.#client.ping(heartbeatPayload);
  }

  ponged(): void {
    this.#shared.context.groups.settle(this.#client);
  }

  end(code: CloseCode, reason: string): void {
    if (this.#client.isGone) return;
    this.#client.send(encode({ bye: { code, reason, retry: mayReturn(code) } }));
    this.#client.end(code, reason);
  }

  close(): void {
    const { sessions, stalls, queue, context } = this.#shared;
    sessions.delete(this);
    stalls.delete(this.#client);
    queue.remove(this);
    context.shares.change(this.share, costOf(this.#client.subscriptions), costOf([]));
    context.groups.remove(this.#client);
    this.#client.lose();
  }

  status(nowMs: number): SessionStatus {
    const { fullSinceMs, unreadBytes, sent } = this.#client;
    const behindSinceMs = this.#shared.context.groups.membershipOf(this.#client)?.sinceMs;
    const since = Math.min(behindSinceMs ?? nowMs, fullSinceMs ?? nowMs);
    const isLive = behindSinceMs === undefined && fullSinceMs === undefined;
    const isStalled = fullSinceMs !== undefined && nowMs - fullSinceMs >= stalledAfterMs;
    return {
      state: isLive ? 'live' : isStalled ? 'stalled' : 'catching up',
      unreadBytes,
      lagMs: nowMs - since,
      sentBytes: sent.bytes,
      sentFrames: sent.frames,
      receivedMessages: this.#received,
    };
  }

  interests(): Interests {
    const { subscriptions } = this.#client;
    return {
      subscriptions: subscriptions.map(({ id, rate, delivery, shown }) => ({ id, ...shown, rate, delivery })),
    };
  }

  #goOn(rest: Rest, endMs: number): boolean {
    try {
      if (rest.advance(endMs)) return true;
      this.#mistakes = 0;
    } catch (error) {
      this.#answerMistake(error, rest.subject);
    }
    return false;
  }

  /**
   * Sends the error for an invalid message, immediately or after answers that wait for other hubs. After too many invalid messages in a
   * row, closes the socket.
   */
  #answerMistake(error: unknown, subject: Subject): void {
    const { context, hits } = this.#shared;
    hits.addError(error, this.#client.remoteAddress);
    const frame = encode({ error: asHubError(error, context.log).message, ...subject });
    const isLast = ++this.#mistakes >= maxMistakes;
    if (this.#client.pendingAcks === 0) this.#sendMistake(frame, isLast);
    else this.#client.answerAfter(undefined, () => this.#sendMistake(frame, isLast));
  }

  #sendMistake(frame: string, isLast: boolean): void {
    this.#client.send(frame);
    if (!isLast) return;
    this.#shared.hits.add('mistakes', this.#client.remoteAddress);
    this.#client.end(closeCodes.senseless, 'too many invalid messages');
  }
}

/** Watches the clients whose sockets are full, and reports those that have not read anything for too long. */
export class StallWatch {
  readonly #timeoutMs: number;
  readonly #giveUp: (client: Client) => void;
  /** The clients whose sockets are full. Their number is bounded by the number of clients. */
  readonly #full = new Set<Client>();
  #timer: NodeJS.Timeout | undefined;

  /** `giveUp` is called for each client whose socket has been full for `timeoutMs`. */
  constructor(timeoutMs: number, giveUp: (client: Client) => void) {
    this.#timeoutMs = timeoutMs;
    this.#giveUp = giveUp;
  }

  /** Begins to watch a client whose socket has become full. */
  add(client: Client): void {
    this.#full.add(client);
    this.#timer ??= setInterval(() => this.#check(), checkMs);
  }

  /** Stops watching a client that has read or has disconnected. */
  delete(client: Client): void {
    if (!this.#full.delete(client) || this.#full.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #check(): void {
    const latest = performance.now() - this.#timeoutMs;
    for (const client of this.#full) if (client.fullSinceMs! < latest) this.#giveUp(client);
  }
}
