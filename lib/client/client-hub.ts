// The hub as seen by a program: parameters, selections, writes, and the state of the link.
import type { Value } from '../model/value.ts';
import type { Delivery } from '../wire/v1/client-messages.ts';
import { type Credentials, type Endpoint, findEndpoint } from './link/hub-endpoint.ts';
import { type HubState, Link, type LinkEvents, type LinkTimes } from './link/link.ts';
import { createPlatform, type Platform, pageAddress, type SocketClass } from './link/platform.ts';
import { createParameter, type Parameter, watchFires } from './param.ts';
import { Replica } from './replica/replica.ts';
import { createStream, Emitter, type Stream } from './stream.ts';
import { Pool } from './subscriptions/pool.ts';
import { type Selection, type SelectionRequest, Selections } from './subscriptions/selections.ts';
import { Subscriptions } from './subscriptions/subscriptions.ts';
import { type Entries, Writes } from './writes.ts';

export interface HubSettings extends Partial<LinkTimes> {
  /** The maximum number of updates per second for a value, from 0.1 to 1000. The default is 0, which means every change. */
  readonly rate?: number;
  /** How the hub delivers changes. `latest`, the default: the newest value of each parameter; `all`: every change, in order. */
  readonly delivery?: Delivery;
}

/**
 * The number of changes or firings of a parameter that this client did not receive, because it read too slowly or because the hub never
 * received them from another hub.
 */
export interface Loss {
  readonly address: string;
  readonly count: number;
}

export interface Hub {
  readonly state: HubState;
  /** The state of the link to the hub. Hot, replays last, completes with `close()`. */
  readonly state$: Stream<HubState>;
  /** Whether the values may be outdated: true from the moment when the link is lost or silent until everything is up to date again. */
  readonly stale: boolean;
  /** Whether the values may be outdated. Hot, replays last, distinct, completes with `close()`. */
  readonly stale$: Stream<boolean>;
  /** The losses of changes and firings. Hot, replays nothing. */
  readonly lost$: Stream<Loss>;
  /** Resolves when all subscribed values have arrived. Rejects when the link to the hub is permanently closed. */
  whenLive(): Promise<void>;
  /** Returns a parameter. Errors on subscribing: a `RangeError` for an address that is empty or has more than 1,024 characters. */
  param(address: string): Parameter;
  /** Returns a stream that emits 1 for each firing of a trigger. */
  fired(address: string): Stream<1>;
  /** Returns the parameters that match a request, for lists, and for more parameters than `param` can follow. */
  select(request?: SelectionRequest): Selection;
  /** Writes a parameter. Resolves when the hub has carried out the write. Errors: `WriteError`, immediately if the link is down. */
  set(address: string, value: Value): Promise<void>;
  /**
   * Writes several parameters in one turn; `entries` is an object such as `{'desk/lamp': true}`, or a list of pairs in order. Valid entries
   * are written even if other entries fail. Errors: `WriteError`.
   */
  batch(entries: Entries): Promise<void>;
  /** Closes the link permanently and completes all streams. */
  close(): void;
}

const defaultTimes: LinkTimes = {
  pingAfterMs: 2000,
  answerWithinMs: 2000,
  connectWithinMs: 10_000,
  firstPauseMs: 250,
  longestPauseMs: 10_000,
};

export function createHub(endpoints: readonly Endpoint[], settings: HubSettings, platform: Platform): Hub {
  const { rate, delivery, ...times } = settings;
  const defaults = { rate, delivery };
  const replica = new Replica();
  const states = new Emitter<HubState>();
  const staleness = new Staleness();
  const losses = new Emitter<Loss>();
  const wholes = new Emitter<void>();
  const writes = new Writes();
  const subscriptions = new Subscriptions({
    replica,
    send: (message) => link.send(JSON.stringify(message)),
    whole() {
      link.complete();
      wholes.next();
    },
  });
  const pool = new Pool({ replica, subscriptions, defaults });
  const selections = new Selections({ replica, subscriptions, defaults });
  const parts = { platform, replica, states, staleness, losses, wholes, writes, subscriptions, pool };
  const link = new Link(endpoints, { ...defaultTimes, ...times }, platform, eventsFor(parts));

  const batch = (entries: Entries) => writes.write(link, entries);
  const set = (address: string, value: Value) => batch([[address, value]]);
  const isStale = () => staleness.isStale;
  const stale$ = createStream<boolean>((observer) => staleness.emitter.add(observer, isStale()));

  return {
    get state() {
      return link.state;
    },
    state$: createStream((observer) => states.add(observer, link.state)),
    get stale() {
      return isStale();
    },
    stale$,
    lost$: createStream((observer) => losses.add(observer)),
    whenLive: () => untilLive(link, parts),
    param: (address) => createParameter(address, { replica, pool, set, isStale, stale$ }),
    fired: (address) => createStream((observer) => watchFires(pool, address, observer)),
    select: (request = {}) => selections.select(request),
    set,
    batch,
    close() {
      link.close('by this program');
      for (const emitter of [states, staleness.emitter, losses]) emitter.complete();
      replica.close();
    },
  };
}

/** The parts of the client that link events affect. */
interface Parts {
  readonly platform: Platform;
  readonly replica: Replica;
  readonly states: Emitter<HubState>;
  readonly staleness: Staleness;
  readonly losses: Emitter<Loss>;
  /** Emits whenever all subscriptions are complete. */
  readonly wholes: Emitter<void>;
  readonly writes: Writes;
  readonly subscriptions: Subscriptions;
  readonly pool: Pool;
}

/** Tracks whether the values may be outdated, and emits when this changes. */
class Staleness {
  readonly emitter = new Emitter<boolean>();
  isStale = true;

  /** Updates `isStale` when the state of the link changes. */
  follow({ name }: HubState): void {
    if (this.isStale === (name !== 'live')) return;
    this.isStale = !this.isStale;
    this.emitter.next(this.isStale);
  }
}

/** Returns the handlers for the events of the link. */
function eventsFor({ platform, replica, states, staleness, losses, writes, subscriptions, pool }: Parts): LinkEvents {
  return {
    state(state) {
      if (state.name !== 'live' && state.name !== 'resuming') {
        subscriptions.down();
        writes.down();
      }
      states.next(state);
      staleness.follow(state);
    },
    hello(hello) {
      pool.fit(hello.limits.patterns);
      subscriptions.hello(hello);
    },
    message(message) {
      replica.apply(message, platform.clock());
      subscriptions.take(message);
      if (message.ack !== undefined && message.errors) writes.acknowledged(message.ack, message.errors);
      if (message.ack !== undefined && message.error) writes.refused(message.ack, message.error);
      for (const [id, count] of Object.entries(message.lost ?? {})) {
        const address = replica.findById(Number(id))?.address;
        if (address !== undefined) losses.next({ address, count });
      }
    },
  };
}

/** Resolves when all subscribed values have arrived. Rejects when the link is permanently closed. */
function untilLive(link: Link, { states, wholes, subscriptions }: Parts): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      const { state } = link;
      if (state.name === 'live' && subscriptions.areWhole) resolve();
      else if (state.name === 'closed') reject(new Error(`the connection to the hub is closed: ${state.reason}`));
      else return;
      for (const stop of stops) stop();
    };
    const stops = [states.add({ next: settle }), wholes.add({ next: settle })];
    queueMicrotask(settle); // by that time, the pool has subscribed to single addresses
  });
}

// Connects to a hub: a page connects to the hub that served the page, and any other program to a given address.

export interface ConnectOptions extends HubSettings, Credentials {
  /** A WebSocket class to use instead of the class that the platform provides. */
  readonly WebSocket?: SocketClass;
}

/**
 * Connects to `ws://studio.local:17011/ws`, `http://studio.local:17011`, or by default to the hub that served the page. If several
 * addresses are given, of hubs that show the same parameters, tries the next address after each failed attempt or lost link. Returns
 * immediately: the library opens the link, and reopens it after each loss. Errors: a `TypeError` if the URL is invalid.
 */
export function connect(url?: string | URL | readonly (string | URL)[], options: ConnectOptions = {}): Hub {
  const { token, username, password, WebSocket, ...settings } = options;
  const urls = Array.isArray(url) ? (url as readonly (string | URL)[]) : [url as string | URL | undefined];
  if (urls.length === 0) throw new TypeError('url: expected the address of a hub, got an empty list');
  const endpoints = urls.map((one) => findEndpoint(one, { token, username, password }, pageAddress()));
  return createHub(endpoints, settings, createPlatform(WebSocket));
}
