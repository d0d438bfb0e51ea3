// The other side of the client library, played by a spec in virtual time: sockets whose messages the spec writes itself.

import { VirtualTimeScheduler } from 'rxjs';
import { createHub, type Hub, type HubSettings } from '../../../lib/client/hub.ts';
import type { Endpoint } from '../../../lib/client/link/endpoint.ts';
import type { Platform, SocketLike } from '../../../lib/client/link/platform.ts';

/** One socket as the hub sees it. */
export class ScriptedSocket implements SocketLike {
  protocol = '';
  bufferedAmount = 0;
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  /** When the client opened it, and whether it has let go of it. */
  readonly openedAt: number;
  isClosed = false;
  readonly url: string;
  #sent: unknown[] = [];

  constructor(openedAt: number, url: string) {
    this.openedAt = openedAt;
    this.url = url;
  }

  send(text: string): void {
    this.#sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  /** Accepts the socket and says hello; `patterns`: how many the hub takes of a subscription. */
  accept(epoch = 'e1', protocol = 'patchbay.v1', patterns = 2048): this {
    this.protocol = protocol;
    this.onopen?.({} as never);
    return this.says({ hello: { epoch, limits: { patterns } } });
  }

  says(...messages: readonly object[]): this {
    for (const message of messages) this.onmessage?.({ data: JSON.stringify(message) } as never);
    return this;
  }

  /** Ends the socket, as the network or the hub does. */
  ends(code = 1006, reason = ''): void {
    this.onclose?.({ code, reason } as never);
  }

  /** Takes what the client has sent. */
  heard(): unknown[] {
    return this.#sent.splice(0);
  }
}

export interface Script {
  readonly hub: Hub;
  readonly sockets: readonly ScriptedSocket[];
  /** The newest socket. */
  readonly socket: ScriptedSocket;
  /** Everything that the hub's state and staleness have been: `live`, `waiting 250`, `stale`, `fresh`. */
  readonly states: string[];
  now(): number;
  /** Lets time pass. */
  pass(ms: number): void;
  wake(): void;
  readonly isListening: boolean;
}

export interface ScriptOptions extends HubSettings {
  readonly random?: number;
  /** By how much the clock of the machine is ahead of the time that has passed. */
  readonly clockAheadMs?: () => number;
  readonly statusOf?: (endpoint: Endpoint) => number | undefined;
  readonly urls?: readonly string[];
}

/** Connects a client; `random` is what chance gives, `statusOf` what plain HTTP would answer. */
export function playHub({
  random = 1,
  clockAheadMs = () => 0,
  statusOf = () => undefined,
  urls = ['ws://hub/ws'],
  ...settings
}: ScriptOptions = {}): Script {
  const scheduler = new VirtualTimeScheduler(undefined, 0);
  const sockets: ScriptedSocket[] = [];
  const wakes = new Set<() => void>();
  const platform: Platform = {
    WebSocket: class extends ScriptedSocket {
      constructor(url: string) {
        super(scheduler.now(), url);
        sockets.push(this);
      }
    },
    now: () => scheduler.now(),
    clock: () => scheduler.now() + clockAheadMs(),
    after(delayMs, work) {
      const action = scheduler.schedule(work, delayMs);
      return () => action.unsubscribe();
    },
    random: () => random,
    statusOf: async (endpoint) => statusOf(endpoint),
    onWake(wake) {
      wakes.add(wake);
      return () => wakes.delete(wake);
    },
  };
  const endpoints = urls.map((url) => ({ url, protocols: ['patchbay.v1'], authorization: '' }));
  const hub = createHub(endpoints, settings, platform);
  const states: string[] = [];
  hub.state$.subscribe((state) =>
    states.push('retryAt' in state ? `waiting ${state.retryAt - scheduler.now() - clockAheadMs()}` : state.name),
  );
  hub.stale$.subscribe((isStale) => states.push(isStale ? 'stale' : 'fresh'));
  return {
    hub,
    sockets,
    states,
    get socket() {
      return sockets.at(-1)!;
    },
    now: () => scheduler.now(),
    pass(ms) {
      scheduler.maxFrames = scheduler.now() + ms;
      const arrived = scheduler.schedule(() => {}, ms); // the clock stands where its last work was
      scheduler.flush();
      arrived.unsubscribe();
    },
    wake: () => {
      for (const wake of wakes) wake();
    },
    get isListening() {
      return wakes.size > 0;
    },
  };
}

/** What the observers of a parameter were told. */
export function follow(script: Script, address: string): unknown[] {
  const told: unknown[] = [];
  script.hub.param(address).subscribe((value) => told.push(value));
  return told;
}

/** Resolves when what the client has put off until the end of its turn is done. */
export const microtasks = () => new Promise<void>((resolve) => setImmediate(resolve));
