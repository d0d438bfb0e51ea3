// The stream of server-sent events of a device over HTTP. When it ends, it is opened again with the ID of the last event, after the pause
// that the device has set (`retry`), and the hub asks for everything: events may be missing.

import { type SchedulerLike, Subscription } from 'rxjs';
import type { HttpHead, ServerEvent } from '../../device/transport.ts';

export interface EventStreamOptions {
  readonly scheduler: SchedulerLike;
  /** Sends the request for the stream; `lastId`: '' if there was no event with an ID. */
  send(lastId: string, key: object): void;
  /** The stream is open. `isAgain`: it was open before. */
  opened(isAgain: boolean): void;
  /** It could not be opened: the connection failed. */
  unanswered(reason: string, sinceMs: number): void;
  /** Returns for how long the device wants no requests, in milliseconds. */
  pauseOf(head: HttpHead): number;
  /** The device refuses it; `isFirst`: the first time since it was open. With new credentials, the session calls `start`. */
  refused(head: HttpHead, sentMs: number, isFirst: boolean): void;
  /** The device wants the hub to stop: status 204. */
  ended(): void;
}

/** The pause before the stream is opened again, unless the device sets it, and its bounds. */
const pauseMs = 1000;
const leastPauseMs = 100;
const longestPauseMs = 60_000;

export class EventStream {
  readonly #options: EventStreamOptions;
  #key: object | undefined;
  #isOpen = false;
  #isRefused = false;
  #wasOpen = false;
  #failures = 0;
  #sentMs = 0;
  #lastId = '';
  #retryMs = pauseMs;
  #timer = Subscription.EMPTY;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /** Whether a request is the one for this stream. */
  owns(key: object): boolean {
    return key === this.#key;
  }

  /** Whether the device has refused it, and it is not open yet. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  start(): void {
    this.#isRefused = false;
    this.#timer.unsubscribe();
    this.#key = {};
    this.#sentMs = this.#options.scheduler.now();
    this.#options.send(this.#lastId, this.#key);
  }

  /** Takes the head of the answer. */
  answered(head: HttpHead): void {
    if (head.status === 200) {
      const isAgain = this.#wasOpen;
      this.#isOpen = this.#wasOpen = true;
      this.#failures = 0;
      this.#options.opened(isAgain);
      return;
    }
    this.#key = undefined;
    this.#isOpen = false;
    if (head.status === 204) {
      this.#options.ended();
      return;
    }
    this.#isRefused = true;
    const isFirst = this.#failures === 0;
    this.#openLater(this.#options.pauseOf(head));
    this.#options.refused(head, this.#sentMs, isFirst);
  }

  took({ id, retryMs }: ServerEvent): void {
    this.#lastId = id;
    if (retryMs !== undefined) this.#retryMs = Math.min(Math.max(retryMs, leastPauseMs), longestPauseMs);
  }

  failed(reason: string): void {
    const wasOpen = this.#isOpen;
    this.#key = undefined;
    this.#isOpen = false;
    this.#openLater();
    if (!wasOpen) this.#options.unanswered(reason, this.#sentMs);
  }

  #openLater(leastMs = 0): void {
    const delayMs = Math.max(leastMs, Math.min(this.#retryMs * 2 ** this.#failures++, longestPauseMs));
    this.#timer = this.#options.scheduler.schedule(() => this.start(), delayMs);
  }

  /** Forgets the stream, because the link has ended. */
  clear(): void {
    this.#timer.unsubscribe();
    this.#key = undefined;
    this.#isOpen = this.#wasOpen = this.#isRefused = false;
    this.#failures = 0;
    this.#lastId = '';
    this.#retryMs = pauseMs;
  }
}
