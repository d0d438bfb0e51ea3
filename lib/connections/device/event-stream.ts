// The stream of server-sent events of a device over HTTP. When the stream ends, the hub opens it again with the ID of the last event, after
// the pause that the device has set (`retry`). Then it asks for all values, because it may have missed events.

import { type SchedulerLike, Subscription } from 'rxjs';
import type { HttpHead, ServerEvent } from '../../device/transport.ts';

export interface EventStreamOptions {
  readonly scheduler: SchedulerLike;
  /** Sends the request for the stream. `lastId` is the ID of the last event; '' before the first one. */
  send(lastId: string, key: object): void;
  /** The stream is open. `isAgain`: it was open before. */
  opened(isAgain: boolean): void;
  /** The connection for the stream failed. `sinceMs` is the time of the request. */
  unanswered(reason: string, sinceMs: number): void;
  /** Returns how long the device accepts no requests, in milliseconds. */
  pauseOf(head: HttpHead): number;
  /**
   * The device refuses the stream. `isFirst`: it is the first refusal since the stream was open. The session calls `start` when it has new
   * credentials.
   */
  refused(head: HttpHead, sentMs: number, isFirst: boolean): void;
  /** The device asks the hub to stop, with the status 204. */
  ended(): void;
}

/** The default pause before the stream is opened again, and the bounds of a pause that the device sets, in milliseconds. */
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

  /** Whether a request is that of this stream. */
  owns(key: object): boolean {
    return key === this.#key;
  }

  /** Whether the device has refused the stream, and it is not open again yet. */
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

  /** Handles the head of the answer. */
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

  /** Resets the stream, because the link has ended. */
  clear(): void {
    this.#timer.unsubscribe();
    this.#key = undefined;
    this.#isOpen = this.#wasOpen = this.#isRefused = false;
    this.#failures = 0;
    this.#lastId = '';
    this.#retryMs = pauseMs;
  }
}
