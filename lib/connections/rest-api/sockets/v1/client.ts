// The hub's side of a patchbay.v1 socket: the subscriptions of the client, the definitions that it has, whether it is reading, and the
// answers that are waiting.

import type { Origin } from '../../../../model/parameter.ts';
import type { CloseCode } from '../../../../wire/protocol.ts';
import { limits } from '../../limits/client-limits.ts';
import { newWriterId, shareOf } from '../../limits/rates.ts';
import type { FairQueue } from '../../pacing/fair-queue.ts';
import type { Principal } from '../../users/principal.ts';
import type { HandshakeRequest, Socket } from '../socket-protocol.ts';
import { Tally } from '../tally.ts';
import { closeSocket } from '../user-shares.ts';
import { isTrigger } from './frames.ts';
import { Missed } from './losses.ts';
import type { GroupChannel } from './outbox.ts';
import type { Subscription } from './subscription.ts';

/** The number of unread bytes above which a socket is full: the hub sends nothing more until the client reads. */
const maxUnreadBytes = 8 * 1024;
/**
 * The maximum number of frames about added and removed parameters that wait for a client that does not read. Beyond this number, the hub
 * closes the client.
 */
const maxUnsent = limits.unsentFrames.default;
/**
 * The number of answers waiting for other hubs at which the client's next messages wait as well. An answer waits for at most two seconds.
 */
const maxPendingAcks = limits.pendingAcks.default;

const nothingUnsent: readonly string[] = [];

/** The events that a client reports to its session. */
export interface ClientEvents {
  /** Called when the socket has become full. */
  full(client: Client): void;
  /** Called when the late frames have been sent while the socket was full. */
  sentLate(client: Client): void;
  /** Called when the client has reached, or is no longer at, the maximum number of answers that wait for other hubs. */
  waits(client: Client, isWaiting: boolean): void;
}

export class Client {
  readonly principal: Principal;
  readonly origin: Origin;
  /** The address of the client, as shown in the log. */
  readonly remoteAddress: string;
  /** The name of the share to which the client's work is charged. */
  readonly share: string;
  /** Identifies this run of the hub for clients with the same rights. */
  readonly epoch: string;
  /** Distinguishes this client from other writers. */
  readonly id = newWriterId();
  readonly sent = new Tally();
  readonly missed = new Missed();
  #subscriptions: readonly Subscription[] = [];
  /** Whether the client has just subscribed for the first time, and whether the hub is working on one of its subscriptions. */
  #isNew = false;
  #isAsking = false;
  #hasLeft = false;
  /**
   * After resuming, the client lacks the definitions of parameters that have not changed after the revision `#valuesAfter`, and of triggers
   * that have not fired after `#firesAfter`. Both are -1 if the client lacks no definition.
   */
  #valuesAfter = -1;
  #firesAfter = -1;
  #fullSinceMs: number | undefined = undefined;
  #socket: Socket | undefined = undefined;
  #pendingAcks = 0;
  #answered: Promise<void> | undefined = undefined;
  /** Called when the client has read some data or has disconnected. At most one answer at a time waits for space. */
  #onRead: (() => void) | undefined = undefined;
  #unsent = nothingUnsent;
  /** The frames that wait for a later round, and their size in bytes; undefined if frames are sent immediately. */
  #late: (string | Uint8Array)[] | undefined = undefined;
  #lateBytes = 0;
  /**
   * The number of unread bytes above which the client's next messages wait, because uWebSockets.js would drop further answers. Changes
   * never fill a socket this much, but answers can.
   */
  readonly #maxUnreadAnswers: number;
  readonly #events: ClientEvents;

  /** `unreadBytes` is the maximum number of bytes that uWebSockets.js holds for the client. */
  constructor(
    { principal, origin, remoteAddress }: HandshakeRequest,
    epoch: string,
    unreadBytes: number,
    events: ClientEvents,
  ) {
    this.principal = principal;
    this.epoch = epoch;
    this.origin = origin;
    this.remoteAddress = remoteAddress;
    this.share = shareOf(principal, remoteAddress);
    this.#maxUnreadAnswers = unreadBytes / 2;
    this.#events = events;
  }

  open(socket: Socket): void {
    this.#socket = socket;
  }

  /** Forgets the socket, because it is closed. */
  lose(): void {
    this.#socket = undefined;
    this.#late = undefined;
    this.#unsent = nothingUnsent;
    this.#subscriptions = [];
    this.#onRead?.();
  }

  /** Excludes the client from all groups, because the socket is closed or about to close. */
  leave(): void {
    this.#hasLeft = true;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  get subscriptions(): readonly Subscription[] {
    return this.#subscriptions;
  }

  replaceSubscriptions(subscriptions: readonly Subscription[]): void {
    this.#subscriptions = subscriptions;
  }

  get isGone(): boolean {
    return this.#socket === undefined;
  }

  get isFull(): boolean {
    return this.#fullSinceMs !== undefined;
  }

  /** The time at which the socket became full, in milliseconds on the monotonic clock; undefined if the socket is not full. */
  get fullSinceMs(): number | undefined {
    return this.#fullSinceMs;
  }

  get unreadBytes(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  /** Whether so many answers are unread that the client's next messages have to wait. */
  get hasUnreadAnswers(): boolean {
    return this.isFull && this.unreadBytes > this.#maxUnreadAnswers;
  }

  /** The number of answers that are waiting for other hubs, or for an earlier answer that is waiting itself. */
  get pendingAcks(): number {
    return this.#pendingAcks;
  }

  /** Whether so many answers are waiting for other hubs that the client's next messages have to wait. */
  get hasManyPending(): boolean {
    return this.#pendingAcks >= maxPendingAcks;
  }

  /**
   * Pings a client that has just subscribed for the first time. The client's pong arrives after everything that the client sent
   * immediately.
   */
  awaitMore(): void {
    this.#isNew = true;
    this.ping();
  }

  /** Notes that the client's first subscriptions are known; returns whether this was unknown before. */
  settle(): boolean {
    const wasNew = this.#isNew;
    this.#isNew = false;
    return wasNew;
  }

  /** Notes whether the hub is working on one of the client's subscriptions. */
  ask(isAsking: boolean): void {
    this.#isAsking = isAsking;
  }

  /** Whether the client may have more subscriptions than the hub knows. */
  get mayWantMore(): boolean {
    return this.#isNew || this.#isAsking;
  }

  /**
   * Resumes from an earlier revision (docs/protocol.md "Resuming"): the definition of a parameter is sent along with its first change.
   * Firings up to `now` are not sent.
   */
  resume(rev: number, now: number): void {
    this.#valuesAfter = Math.max(this.#valuesAfter, rev);
    this.#firesAfter = now;
  }

  /**
   * Whether the client has resumed, and may therefore lack definitions. False if the client has, or is about to get, all matching
   * definitions.
   */
  get hasResumed(): boolean {
    return this.#valuesAfter >= 0;
  }

  /**
   * Returns whether the client may lack definitions of parameters; `leastPrevious` is the lowest of the revisions that the parameters had
   * before their waiting changes.
   */
  mayLack(leastPrevious: number): boolean {
    return leastPrevious <= this.#firesAfter;
  }

  lacks({ previousRevision, channel }: GroupChannel): boolean {
    return previousRevision <= (isTrigger(channel.parameter) ? this.#firesAfter : this.#valuesAfter);
  }

  send(frame: string | Uint8Array): void {
    const bytes = typeof frame === 'string' ? Buffer.byteLength(frame) : frame.length;
    this.sent.add(bytes);
    if (this.#late !== undefined) {
      this.#late.push(frame);
      this.#lateBytes += bytes;
      this.#look();
    } else if (this.#socket!.send(frame, false, false) !== 1) this.#look();
  }

  /**
   * Calls `answer` when the work is done, all earlier answers have been sent, and the socket has space. The promise `work` must not reject.
   */
  answerAfter(work: Promise<void> | undefined, answer: () => void): void {
    if (++this.#pendingAcks === maxPendingAcks) this.#events.waits(this, true);
    this.#answered = Promise.all([this.#answered, work]).then(async () => {
      while (this.hasUnreadAnswers) await this.#untilRead();
      if (this.#pendingAcks-- === maxPendingAcks) this.#events.waits(this, false);
      if (!this.isGone) answer();
    });
  }

  /** Resolves when the client has read some data or has disconnected. */
  #untilRead(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onRead = resolve;
    return promise;
  }

  /** Does work that sends frames, and passes these frames to the operating system in as few writes as possible. */
  cork(work: () => void): void {
    this.#socket!.cork(work);
  }

  /** Sends frames in a single write. */
  sendAll(frames: readonly Uint8Array[]): void {
    if (frames.length === 1 || this.#late !== undefined) {
      for (const frame of frames) this.send(frame);
      return;
    }
    const socket = this.#socket!;
    socket.cork(() => {
      for (const frame of frames) {
        socket.send(frame, false, false);
        this.sent.add(frame.length);
      }
    });
    this.#look();
  }

  /** Holds back all further frames until `sendLate` is called. */
  postpone(): void {
    if (this.#late !== undefined) return;
    this.#late = [];
    this.#lateBytes = 0;
  }

  /** Sends the frames that were held back, and no longer holds back frames. */
  sendLate(): void {
    if (this.#late === undefined) return;
    this.#sendLate();
    if (this.isFull) this.#events.sentLate(this);
  }

  #sendLate(): void {
    const late = this.#late;
    this.#late = undefined;
    this.#lateBytes = 0;
    const socket = this.#socket;
    if (late === undefined || socket === undefined) return;
    socket.cork(() => {
      for (const frame of late) socket.send(frame, false, false);
    });
    this.#look();
  }

  /** Sends a frame immediately, or keeps it until the socket has space; returns false if too many frames are kept. */
  sendOrKeep(frame: string): boolean {
    if (!this.isFull && this.#unsent.length === 0) this.send(frame);
    else if (this.#unsent.length === maxUnsent) return false;
    else this.#unsent = [...this.#unsent, frame];
    return true;
  }

  /** Sends the frames kept by `sendOrKeep` while the socket has space. */
  sendKept(): void {
    while (this.#unsent.length > 0 && !this.isFull) {
      this.send(this.#unsent[0]!);
      this.#unsent = this.#unsent.slice(1);
    }
  }

  ping(payload = ''): void {
    this.#socket?.ping(payload);
  }

  /** Sends late frames and closes the socket. uWebSockets.js cuts the socket if the close frame does not fit. */
  end(code: CloseCode, reason: string): void {
    this.#sendLate();
    if (this.#socket !== undefined) closeSocket(this.#socket, code, reason);
  }

  /** Returns whether the socket is no longer full; to be called when the client has read data. */
  hasDrained(): boolean {
    if (this.unreadBytes > maxUnreadBytes / 2 || this.#isTooLate) {
      this.#fullSinceMs = performance.now(); // the client reads, but slowly
      return false;
    }
    this.#fullSinceMs = undefined;
    this.#onRead?.();
    return true;
  }

  /** Whether so many bytes are late that uWebSockets.js might drop some of them. */
  get #isTooLate(): boolean {
    return this.#late !== undefined && this.#lateBytes > this.#maxUnreadAnswers;
  }

  #look(): void {
    if (this.isFull || (this.unreadBytes <= maxUnreadBytes && !this.#isTooLate)) return;
    this.#fullSinceMs = performance.now();
    this.#events.full(this);
  }
}

/** The time per round for which late frames are sent to clients, in milliseconds. */
const lateMs = 3;

/**
 * The clients whose frames are sent in a later round, because sending to all clients in one round would take too long, for example if a
 * long string is sent to very many clients.
 */
export class LateClients {
  readonly #queue: Pick<FairQueue, 'atEnd'>;
  readonly #clients = new Set<Client>();

  constructor(queue: Pick<FairQueue, 'atEnd'>) {
    this.#queue = queue;
  }

  /** Holds back the frames for a client until its turn. */
  add(client: Client): void {
    client.postpone();
    if (this.#clients.size === 0) this.#queue.atEnd(this.#work);
    this.#clients.add(client);
  }

  readonly #work = () => {
    const endMs = performance.now() + lateMs;
    for (const client of this.#clients) {
      this.#clients.delete(client);
      client.sendLate();
      if (performance.now() >= endMs) break;
    }
    if (this.#clients.size > 0) this.#queue.atEnd(this.#work);
  };
}
