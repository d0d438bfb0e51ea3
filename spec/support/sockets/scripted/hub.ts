// The other side of the client library, played by a spec in virtual time: sockets whose messages the spec writes itself.

import { VirtualTimeScheduler } from 'rxjs';
import { createHub, type Hub, type HubSettings } from '../../../../lib/client/client-hub.ts';
import type { Endpoint } from '../../../../lib/client/link/hub-endpoint.ts';
import type { Platform } from '../../../../lib/client/link/platform.ts';
import { HubSocket } from './hub-socket.ts';

export interface Script {
  readonly hub: Hub;
  readonly sockets: readonly HubSocket[];
  /** The newest socket. */
  readonly socket: HubSocket;
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
  const sockets: HubSocket[] = [];
  const wakes = new Set<() => void>();
  const platform: Platform = {
    WebSocket: class extends HubSocket {
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
  const reported: unknown[] = [];
  script.hub.param(address).subscribe((value) => reported.push(value));
  return reported;
}

/** Resolves when what the client has put off until the end of its turn is done. */
export const microtasks = () => new Promise<void>((resolve) => setImmediate(resolve));
