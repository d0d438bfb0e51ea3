// The server-sent events from an HTTP device. When the stream ends, the hub reopens it with the ID of the last event, after the pause that
// the device has requested (`retry`). The hub then asks for all values, because it may have missed events.

import { type SchedulerLike, Subscription } from 'rxjs';
import type { HttpHead, ServerEvent } from '../../device/transport.ts';

export interface EventStreamOptions {
  readonly scheduler: SchedulerLike;
  /** Sends the request that opens the stream. `lastId` is the ID of the last event, or '' if there has been no event. */
  send(lastId: string, key: object): void;
  /** Called when the stream has been opened. `isAgain` states whether the stream was open before. */
  opened(isAgain: boolean): void;
  /** Called when the stream's connection has failed. `sinceMs` is the time at which the request was sent, in milliseconds. */
  unanswered(reason: string, sinceMs: number): void;
  /** Returns the time for which the device accepts no requests, in milliseconds. */
  pauseOf(head: HttpHead): number;
  /**
   * Called when the device has refused the stream. `isFirst` marks the first refusal since the stream was last open. The session calls
   * `start` as soon as it has new credentials.
   */
  refused(head: HttpHead, sentMs: number, isFirst: boolean): void;
  /** Called when the device asks the hub not to reconnect (status 204). */
  ended(): void;
}

/** The default pause before the stream is reopened, and the bounds for the pause that a device may request, in milliseconds. */
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

  /** Returns whether `key` identifies the request for this stream. */
  owns(key: object): boolean {
    return key === this.#key;
  }

  /** Whether the device has refused the stream and the stream has not been reopened since. */
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

  /** Handles the status and headers of the response. */
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

  /** Resets the state after the link has ended. */
  clear(): void {
    this.#timer.unsubscribe();
    this.#key = undefined;
    this.#isOpen = this.#wasOpen = this.#isRefused = false;
    this.#failures = 0;
    this.#lastId = '';
    this.#retryMs = pauseMs;
  }
}
