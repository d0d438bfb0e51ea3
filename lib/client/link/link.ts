// The link to the hub: opens a socket, detects when the socket is dead, and opens the next socket after an increasing pause of random
// length (docs/protocol.md "Resuming", "Keeping alive", "Limits and close codes").
import { Backoff } from '../../model/time/backoff.ts';
import { mayReturn, protocolName } from '../../wire/protocol.ts';
import type { Greeting, ReceivedMessage } from '../../wire/v1/hub-messages.ts';
import type { Endpoint } from './hub-endpoint.ts';
import type { Platform, SocketLike } from './platform.ts';

/**
 * The state of the link. connecting: a socket is being opened; resuming: the socket is open, but not everything has arrived; live: the
 * values are up to date; waiting: the next attempt follows at `retryAt` (ms since 1970); closed: the link is permanently closed.
 */
export type HubState =
  | { readonly name: 'connecting' | 'resuming' | 'live' }
  | { readonly name: 'waiting'; readonly retryAt: number; readonly reason: string }
  | { readonly name: 'closed'; readonly reason: string };

export interface LinkTimes extends HeartbeatTimes {
  /**
   * The first pause before a retry, in milliseconds. The pause doubles with each failure; the actual wait is random and at least half as
   * long.
   */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** The maximum time between opening a socket and the hub's first message, in milliseconds. */
  readonly connectWithinMs: number;
}

export interface LinkEvents {
  state(state: HubState): void;
  hello(greeting: Greeting): void;
  message(message: ReceivedMessage): void;
}

/** The close code for a link that broke without a close frame (RFC 6455 section 7.1.5). */
const brokenCode = 1006;
/** What the hub refuses permanently, keyed by the HTTP status of the refusal. */
const refusals: ReadonlyMap<number | undefined, string> = new Map([
  [401, 'these credentials'],
  [403, 'this origin or host name'],
]);

export class Link {
  readonly #endpoints: readonly Endpoint[];
  /** The index of the endpoint that the link is using. */
  #at = 0;
  /** The endpoints that refused the client at the last attempt. */
  readonly #refusing = new Set<Endpoint>();
  readonly #times: LinkTimes;
  readonly #platform: Platform;
  readonly #events: LinkEvents;
  readonly #heartbeat: Heartbeat;
  readonly #stopListening: () => void;
  #state: HubState = { name: 'connecting' };
  #socket: SocketLike | undefined;
  #bye: ReceivedMessage['bye'];
  readonly #backoff: Backoff;
  #pings = 0;
  #cancel = () => {};

  constructor(endpoints: readonly Endpoint[], times: LinkTimes, platform: Platform, events: LinkEvents) {
    this.#endpoints = endpoints;
    this.#times = times;
    this.#backoff = new Backoff({ firstMs: times.firstPauseMs, longestMs: times.longestPauseMs });
    this.#platform = platform;
    this.#events = events;
    this.#heartbeat = new Heartbeat(
      platform,
      times,
      () => this.send(`{"ping":${++this.#pings}}`),
      () => this.#down('the hub does not answer'),
    );
    this.#open();
    this.#stopListening = platform.onWake(() => this.#wake());
  }

  get state(): HubState {
    return this.#state;
  }

  /** Whether the hub has sent `hello`, so that messages can be sent. */
  get isUp(): boolean {
    return this.#state.name === 'live' || this.#state.name === 'resuming';
  }

  /** The number of bytes that have been passed to the socket but not transmitted yet. */
  get unsentBytes(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  /** Makes the link live, because everything has arrived. */
  complete(): void {
    if (this.#state.name !== 'resuming') return;
    this.#backoff.reset();
    this.#become({ name: 'live' });
  }

  /** Closes the link permanently. */
  close(reason: string): void {
    if (this.#state.name === 'closed') return;
    this.#drop();
    this.#stopListening();
    this.#become({ name: 'closed', reason });
  }

  #open(): void {
    const endpoint = this.#endpoints[this.#at]!;
    const socket = new this.#platform.WebSocket(endpoint.url, [...endpoint.protocols]);
    this.#drop();
    this.#socket = socket;
    this.#cancel = this.#platform.after(this.#times.connectWithinMs, () => this.#down('the hub does not answer'));
    let isOpen = false;
    const isPresent = () => socket === this.#socket;
    socket.onopen = () => {
      isOpen = true;
      if (isPresent() && socket.protocol !== protocolName) this.#down(`the server does not support ${protocolName}`);
    };
    socket.onmessage = ({ data }: { data: string }) => isPresent() && this.#receive(data);
    socket.onclose = ({ code, reason }: { code: number; reason: string }) => isPresent() && broke(code, reason);
    socket.onerror = () => isPresent() && broke(brokenCode, ''); // Node.js emits no close event if the hub refuses the handshake
    const broke = (code: number, reason: string) => {
      const { retry = mayReturn(code), reason: said = reason } = this.#bye ?? {};
      if (retry && mayReturn(code)) {
        this.#down(said || (isOpen ? `the connection was lost (${code})` : 'the hub cannot be reached'));
        if (!isOpen) this.#askWhyRefused(endpoint);
      } else this.close(said || `the hub closed the connection with ${code}`);
    };
    this.#become({ name: 'connecting' });
  }

  #receive(text: string): void {
    let message: ReceivedMessage;
    try {
      message = JSON.parse(text);
    } catch {
      this.#down('the hub sent invalid JSON');
      return;
    }
    this.#heartbeat.received();
    if (message.hello) {
      this.#cancel();
      this.#refusing.delete(this.#endpoints[this.#at]!);
      this.#heartbeat.start();
      this.#become({ name: 'resuming' });
      this.#events.hello(message.hello);
    } else if (message.bye) this.#bye = message.bye;
    else this.#events.message(message);
  }

  #down(reason: string): void {
    this.#drop();
    this.#at = (this.#at + 1) % this.#endpoints.length;
    const waitMs = this.#backoff.next() * (0.5 + this.#platform.random() / 2);
    this.#cancel = this.#platform.after(waitMs, () => this.#open());
    this.#become({ name: 'waiting', retryAt: this.#platform.clock() + waitMs, reason });
  }

  /** Requests the reason why the hub refused the handshake over plain HTTP, because sockets do not report the status. */
  async #askWhyRefused(endpoint: Endpoint): Promise<void> {
    const what = refusals.get(await this.#platform.statusOf(endpoint));
    if (what === undefined) this.#refusing.delete(endpoint);
    else this.#refusing.add(endpoint);
    const isOver = what !== undefined && this.#refusing.size === this.#endpoints.length;
    if (isOver && !this.isUp) this.close(`the hub refused ${what}`);
  }

  #wake(): void {
    if (this.#state.name === 'waiting') this.#open();
    else if (this.isUp) this.#heartbeat.ask();
  }

  /** Releases the current socket and all timers. */
  #drop(): void {
    this.#cancel();
    this.#heartbeat.stop();
    this.#bye = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #become(state: HubState): void {
    this.#state = state;
    this.#events.state(state);
  }
}

// Detects within seconds that the other side is gone, which takes TCP minutes: the client pings after a silence, and closes the link if no
// answer arrives.

interface HeartbeatTimes {
  /** The duration of a silence after which the client pings the hub, in milliseconds. */
  readonly pingAfterMs: number;
  /** The maximum time that the hub may take to answer a ping, in milliseconds. */
  readonly answerWithinMs: number;
}

class Heartbeat {
  readonly #platform: Platform;
  readonly #times: HeartbeatTimes;
  readonly #ping: () => void;
  readonly #dead: () => void;
  #heardAt = 0;
  #isAsking = false;
  #cancel = () => {};

  constructor(platform: Platform, times: HeartbeatTimes, ping: () => void, dead: () => void) {
    this.#platform = platform;
    this.#times = times;
    this.#ping = ping;
    this.#dead = dead;
  }

  start(): void {
    this.received();
    this.#watch();
  }

  stop(): void {
    this.#cancel();
    this.#isAsking = false;
  }

  /** Notes that data has arrived, which also answers a pending ping. */
  received(): void {
    this.#heardAt = this.#platform.now();
    this.#isAsking = false;
  }

  /** Pings immediately, unless a ping is pending. */
  ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#ping();
    const halfMs = this.#times.answerWithinMs / 2;
    // Waits in two halves: a page that was busy for a long time receives the waiting messages in between.
    this.#after(halfMs, () => this.#after(halfMs, () => (this.#isAsking ? this.#dead() : this.#watch())));
  }

  #watch(): void {
    const restMs = this.#times.pingAfterMs - (this.#platform.now() - this.#heardAt);
    if (restMs > 0) this.#after(restMs, () => this.#watch());
    else this.ask();
  }

  #after(delayMs: number, work: () => void): void {
    this.#cancel();
    this.#cancel = this.#platform.after(delayMs, work);
  }
}
