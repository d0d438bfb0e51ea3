// A socket of patchbay.v1 as the hub sees it: what it subscribed to, which definitions it has, whether it reads, and which answers wait.

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

/** A socket with more than this unread in the hub is full: it is sent nothing more until it reads. */
const maxUnreadBytes = 8 * 1024;
/** How many frames about parameters that came and went wait for a client that does not read; beyond, it is given up. */
const maxUnsent = limits.unsentFrames.default;
/** While so many answers wait for other hubs, which takes two seconds at most, the client's next messages wait as well. */
const maxPendingAcks = limits.pendingAcks.default;

const nothingUnsent: readonly string[] = [];

/** What a client tells of itself. */
export interface ClientEvents {
  /** It does not read. */
  full(client: Client): void;
  /** It was full, and has been sent what was late. */
  sentLate(client: Client): void;
  /** Its next messages have to wait for other hubs, or have to no longer. */
  waits(client: Client, isWaiting: boolean): void;
}

export class Client {
  readonly principal: Principal;
  readonly origin: Origin;
  /** Where it comes from, as the log names it. */
  readonly remoteAddress: string;
  /** Whose share of what the hub does it takes. */
  readonly share: string;
  /** Names this run of the hub, as those see it who may see the same. */
  readonly epoch: string;
  /** Tells clients apart. */
  readonly id = newWriterId();
  readonly sent = new Tally();
  readonly missed = new Missed();
  #subscriptions: readonly Subscription[] = [];
  /** It has just come, and subscribed; and the hub works on a subscription that it has asked for. */
  #isNew = false;
  #isAsking = false;
  #hasLeft = false;
  /** It lacks the definitions of parameters that have not changed after this revision, and of triggers by the other; -1: of none. */
  #valuesAfter = -1;
  #firesAfter = -1;
  #fullSinceMs: number | undefined = undefined;
  #socket: Socket | undefined = undefined;
  #pendingAcks = 0;
  #answered: Promise<void> | undefined = undefined;
  /** Answers wait for room; there is one that waits at a time. */
  #onRead: (() => void) | undefined = undefined;
  #unsent = nothingUnsent;
  /** What is sent in a later round, and how many bytes that is; undefined: what is sent is sent at once. */
  #late: (string | Uint8Array)[] | undefined = undefined;
  #lateBytes = 0;
  /** Changes never make a socket this full, but answers do. The server would drop further ones, so the client's next messages wait. */
  readonly #maxUnreadAnswers: number;
  readonly #events: ClientEvents;

  /** `unreadBytes`: how much uWebSockets.js holds for it. */
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

  /** The socket is gone. */
  lose(): void {
    this.#socket = undefined;
    this.#late = undefined;
    this.#unsent = nothingUnsent;
    this.#subscriptions = [];
    this.#onRead?.();
  }

  /** It is in no group any more, and comes into none: its socket is gone, or about to be. */
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

  /** When it was found full, in milliseconds of a monotonic clock; undefined: it is not. */
  get fullSinceMs(): number | undefined {
    return this.#fullSinceMs;
  }

  get unreadBytes(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  /** Whether so many answers are unread that it should ask nothing more. */
  get hasUnreadAnswers(): boolean {
    return this.isFull && this.unreadBytes > this.#maxUnreadAnswers;
  }

  /** How many answers wait for other hubs, or behind one that does. */
  get pendingAcks(): number {
    return this.#pendingAcks;
  }

  /** Whether its next messages have to wait for other hubs. */
  get hasManyPending(): boolean {
    return this.#pendingAcks >= maxPendingAcks;
  }

  /** Asks a client that has just come and subscribed to answer once all has arrived that it sent in one go. */
  awaitMore(): void {
    this.#isNew = true;
    this.ping();
  }

  /** Its first subscriptions are known; returns whether they were not. */
  settle(): boolean {
    const wasNew = this.#isNew;
    this.#isNew = false;
    return wasNew;
  }

  /** Whether the hub works on a subscription that it has asked for. */
  ask(isAsking: boolean): void {
    this.#isAsking = isAsking;
  }

  /** Whether what it subscribes to is not all known yet. */
  get mayWantMore(): boolean {
    return this.#isNew || this.#isAsking;
  }

  /**
   * It goes on from a revision of before (docs/protocol.md "Resuming"): definitions of what changes are sent with the change. Fires of
   * before `now` are not told.
   */
  resume(rev: number, now: number): void {
    this.#valuesAfter = Math.max(this.#valuesAfter, rev);
    this.#firesAfter = now;
  }

  /** false: everything that matches was defined, or is by a snapshot on its way. */
  get hasResumed(): boolean {
    return this.#valuesAfter >= 0;
  }

  /** Whether it may lack the definition of some of what had this lowest revision before. */
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

  /** Answers once some work is done, all has been answered that was to be before it, and there is room. The work does not reject. */
  answerAfter(work: Promise<void> | undefined, answer: () => void): void {
    if (++this.#pendingAcks === maxPendingAcks) this.#events.waits(this, true);
    this.#answered = Promise.all([this.#answered, work]).then(async () => {
      while (this.hasUnreadAnswers) await this.#untilRead();
      if (this.#pendingAcks-- === maxPendingAcks) this.#events.waits(this, false);
      if (!this.isGone) answer();
    });
  }

  /** Resolves when the client has read, or is gone. */
  #untilRead(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onRead = resolve;
    return promise;
  }

  /** Has what some work sends leave in as few pieces as can be. */
  cork(work: () => void): void {
    this.#socket!.cork(work);
  }

  /** Sends frames in one piece. */
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

  /** What it is sent from now on waits for `sendLate`. */
  postpone(): void {
    if (this.#late !== undefined) return;
    this.#late = [];
    this.#lateBytes = 0;
  }

  /** Sends what is late. */
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

  /** Sends a frame now, or keeps it until there is room; returns false when too many are kept. */
  sendOrKeep(frame: string): boolean {
    if (!this.isFull && this.#unsent.length === 0) this.send(frame);
    else if (this.#unsent.length === maxUnsent) return false;
    else this.#unsent = [...this.#unsent, frame];
    return true;
  }

  /** Sends what was kept, as far as there is room. */
  sendKept(): void {
    while (this.#unsent.length > 0 && !this.isFull) {
      this.send(this.#unsent[0]!);
      this.#unsent = this.#unsent.slice(1);
    }
  }

  ping(payload = ''): void {
    this.#socket?.ping(payload);
  }

  /** Closes the socket; uWebSockets.js cuts it when the close frame is not taken. */
  end(code: CloseCode, reason: string): void {
    this.#sendLate();
    if (this.#socket !== undefined) closeSocket(this.#socket, code, reason);
  }

  /** Whether the socket has room again. */
  hasDrained(): boolean {
    if (this.unreadBytes > maxUnreadBytes / 2 || this.#isTooLate) {
      this.#fullSinceMs = performance.now(); // it reads, if slowly
      return false;
    }
    this.#fullSinceMs = undefined;
    this.#onRead?.();
    return true;
  }

  /** So much is late that uWebSockets.js might drop some of more. */
  get #isTooLate(): boolean {
    return this.#late !== undefined && this.#lateBytes > this.#maxUnreadAnswers;
  }

  #look(): void {
    if (this.isFull || (this.unreadBytes <= maxUnreadBytes && !this.#isTooLate)) return;
    this.#fullSinceMs = performance.now();
    this.#events.full(this);
  }
}

/** So long, in each round, clients are sent what is late. */
const lateMs = 3;

/** Clients that are sent in a later round what would take this one too long, as a long text does for very many of them. */
export class LateClients {
  readonly #queue: Pick<FairQueue, 'atEnd'>;
  readonly #clients = new Set<Client>();

  constructor(queue: Pick<FairQueue, 'atEnd'>) {
    this.#queue = queue;
  }

  /** Has what a client is sent from now on wait for its turn. */
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
