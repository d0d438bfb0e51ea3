// The link to a device. Only `DeviceLink` opens, watches and reopens a device's link. After a failure, it waits 1 to 30 s, with jitter, and
// tries the next host. During the ten minutes after the device was last online, attempts begin at most 4 s apart, because the device may
// soon be back. A link that is silent for too long counts as dead, even if the network reports no error.

import { type SchedulerLike, Subscription } from 'rxjs';
import { messageOf } from '../model/error.ts';
import { Backoff, longestRecentPauseMs, recentMs } from '../model/time/backoff.ts';
import type { Link, Received, Transport } from './transport.ts';

export interface LinkOptions {
  /** The transports to the device, which are tried in turn. */
  readonly transports: readonly Transport[];
  readonly connectTimeoutMs: number;
  /** The maximum duration of silence on a link, in milliseconds. After this time, the link counts as dead. Undefined means no limit. */
  readonly idleTimeoutMs: number | undefined;
  /** Whether silence ends only when `hear` is called. By default, silence also ends when any bytes are received. */
  readonly hearsOnlyReported?: boolean;
  readonly scheduler: SchedulerLike;
  /** The maximum pause between attempts while the host refuses connections, in milliseconds. The default is 4 s. */
  readonly refusedMs?: number;
  /** Returns a random number from 0 to 1 for the jitter. The default is `Math.random`. */
  random?(): number;
}

/** The callbacks through which the link reports events. */
export interface LinkEvents {
  opened(transport: Transport): void;
  received(bytes: Uint8Array, about?: Received): void;
  /** See `LinkListener.failed`. */
  failed?(request: object, reason: string, isHeard: boolean): void;
  /** See `LinkListener.exchanged`. */
  exchanged?(direction: 'in' | 'out', bytes: Uint8Array): void;
  /** Called when the link has ended or could not be opened. Returns the minimum pause before the next attempt in milliseconds. */
  ended(reason: string, code: number | undefined): number;
}

const backoffTimes = { firstMs: 1000, longestMs: 30_000 };
/**
 * The maximum pause between attempts while the host refuses connections, in milliseconds. Such an attempt is cheap, and the program on the
 * host may soon be back.
 */
const longestRefusedMs = 4000;

export class DeviceLink {
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;
  readonly #backoff = new Backoff(backoffTimes);
  #link: Link | undefined;
  #isOpen = false;
  #isStopped = false;
  #isProved = false;
  /** The time at which the last working link ended, and the time at which the last attempt began, in milliseconds. */
  #provedMs = Number.NEGATIVE_INFINITY;
  #triedMs = 0;
  #next = 0;
  #heardMs = 0;
  #receivedMs = 0;
  #timers = new Subscription();

  constructor(options: LinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  start(): void {
    this.#open();
  }

  send(bytes: Uint8Array, request?: object): void {
    if (this.#isOpen) this.#link!.send(bytes, request);
  }

  /** See `Link.cancel`. */
  cancel(request: object): void {
    this.#link?.cancel?.(request);
  }

  /** The number of bytes that are waiting to be sent over the link. */
  get unsentBytes(): number {
    return this.#link?.unsentBytes ?? 0;
  }

  /** Pauses or resumes reading from the link. */
  pause(isPaused: boolean): void {
    this.#link?.pause?.(isPaused);
  }

  /** Records that the device works. When the link ends, the next attempts then start over with the shortest pause and the same host. */
  prove(): void {
    this.#isProved = true;
    this.#backoff.reset();
  }

  /** Records that the device has sent an expected message, which ends the silence. */
  hear(): void {
    this.#heardMs = this.#receivedMs;
  }

  /** Ends the link because of a failure. The link is reopened after a pause. */
  fail(reason: string): void {
    if (this.#link !== undefined) this.#ended(this.#link, reason, undefined); // otherwise, the link has already ended
  }

  /** Ends a healthy link. `start` reopens it. */
  rest(): void {
    this.#drop();
  }

  /** Ends the link permanently. The promise resolves when the transport's port is free. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#drop();
    await Promise.all(this.#options.transports.map((transport) => transport.close?.()));
  }

  #open(): void {
    if (this.#isStopped) return;
    const { transports, connectTimeoutMs, scheduler } = this.#options;
    const transport = transports[this.#next % transports.length]!;
    this.#timers = new Subscription();
    this.#triedMs = scheduler.now();
    let link: Link | undefined;
    const listener = {
      opened: () => {
        if (this.#link !== link) return;
        this.#isOpen = true;
        this.#isProved = false;
        this.#timers.unsubscribe();
        this.#timers = new Subscription();
        this.#heardMs = this.#receivedMs = scheduler.now();
        this.#watch();
        this.#guarded(() => this.#events.opened(transport));
      },
      received: (bytes: Uint8Array, about?: Received) => {
        if (this.#link !== link || !this.#isOpen) return;
        this.#receivedMs = scheduler.now();
        if (this.#options.hearsOnlyReported !== true) this.#heardMs = this.#receivedMs;
        this.#guarded(() => this.#events.received(bytes, about));
      },
      failed: (request: object, reason: string, isHeard: boolean) => {
        if (this.#link === link) this.#guarded(() => this.#events.failed?.(request, reason, isHeard));
      },
      exchanged: (direction: 'in' | 'out', bytes: Uint8Array) => this.#events.exchanged?.(direction, bytes),
      closed: (reason: string, code?: number) => this.#ended(link, reason, code),
    };
    try {
      link = transport.open(listener);
      this.#link = link;
    } catch (error) {
      // the host or port is invalid for sockets
      this.#timers.add(scheduler.schedule(() => this.#ended(link, (error as Error).message, undefined)));
      return;
    }
    if (!transport.isPassive)
      this.#timers.add(
        scheduler.schedule(
          () => this.#ended(link, `no answer within ${connectTimeoutMs / 1000} s`, undefined),
          connectTimeoutMs,
        ),
      );
  }

  /** Calls `work` and ends the link if it throws, because an uncaught error in a socket callback would end the hub. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fail(`internal error: ${messageOf(error)}`);
    }
  }

  /** Ends the link when it has been silent for too long. */
  #watch(): void {
    const { idleTimeoutMs, scheduler } = this.#options;
    if (idleTimeoutMs === undefined) return;
    const link = this.#link;
    const look = () => {
      const silentMs = scheduler.now() - this.#heardMs;
      if (silentMs >= idleTimeoutMs) {
        const what = this.#receivedMs > this.#heardMs ? 'has sent none of the expected messages' : 'has been silent';
        this.#ended(link, `the device ${what} for ${Math.round(silentMs / 100) / 10} s`, undefined);
      } else next = scheduler.schedule(look, idleTimeoutMs - silentMs);
    };
    let next = scheduler.schedule(look, idleTimeoutMs); // reused, because a `Subscription` would keep every timer that was ever added
    this.#timers.add(() => next.unsubscribe());
  }

  #ended(link: Link | undefined, reason: string, code: number | undefined): void {
    if (this.#isStopped || link !== this.#link) return;
    const { transports, scheduler } = this.#options;
    const { isPassive } = transports[this.#next % transports.length]!;
    const wasOpen = this.#isOpen;
    this.#drop(true);
    if (this.#isProved) this.#provedMs = scheduler.now();
    else this.#next++;
    this.#isProved = false; // each attempt must prove itself again; otherwise, the next hosts would never be tried
    const leastMs = this.#events.ended(reason, code);
    if (this.#isStopped) return;
    const pauseMs = isPassive && wasOpen ? 0 : Math.max(leastMs, this.#pauseMs(reason));
    this.#timers = new Subscription();
    this.#timers.add(scheduler.schedule(() => this.#open(), pauseMs));
  }

  #pauseMs(reason: string): number {
    const { random = Math.random, refusedMs = longestRefusedMs, scheduler } = this.#options;
    const now = scheduler.now();
    const longestMs = reason.includes('ECONNREFUSED') ? refusedMs : Number.POSITIVE_INFINITY;
    const recentPauseMs = now - this.#provedMs < recentMs ? longestRecentPauseMs(now - this.#triedMs) : longestMs;
    const pauseMs = Math.min(this.#backoff.next(), longestMs, recentPauseMs);
    return Math.max(pauseMs * (0.75 + 0.25 * random()), Math.min(pauseMs, backoffTimes.firstMs));
  }

  #drop(isBroken = false): void {
    this.#timers.unsubscribe();
    const link = this.#link;
    this.#link = undefined;
    this.#isOpen = false;
    link?.end(isBroken);
  }
}

const goldenRatio = (Math.sqrt(5) - 1) / 2;
let phases = 0;

/**
 * Returns the length of the first interval of a link that polls its device regularly, as a fraction of the interval: above 0, and at most
 * 1. The results of any number of consecutive calls are spread evenly, so that devices that were connected together are not polled at the
 * same moments. Random phases would often be close together.
 */
export function nextPhase(): number {
  return 1 - ((phases++ * goldenRatio) % 1);
}
