// What a browser or Node gives the library: sockets, time, chance, and the signs that a sleeping page is awake again.

import type { Endpoint } from './hub-endpoint.ts';

/** The part of a WebSocket that is used. */
export interface SocketLike {
  readonly protocol: string;
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}

export type SocketClass = new (url: string, protocols: string[]) => SocketLike;

export interface Platform {
  readonly WebSocket: SocketClass;
  /** Milliseconds that never go back, and may stand still while the machine sleeps. */
  now(): number;
  /** Milliseconds since 1970 by the clock of this machine, as `Date.now()`. */
  clock(): number;
  /** Does work later; the function that it returns cancels it. */
  after(delayMs: number, work: () => void): () => void;
  /** 0 up to 1. */
  random(): number;
  /** The HTTP status with which the hub answers these credentials; undefined when that cannot be known. */
  statusOf(endpoint: Endpoint): Promise<number | undefined>;
  /** Calls when the network is back or the page is seen again, until the function that it returns is called. */
  onWake(wake: () => void): () => void;
}

const statusDeadlineMs = 5000;

/** What a page has and Node has not. */
interface Page extends Partial<Pick<EventTarget, 'addEventListener' | 'removeEventListener'>> {
  readonly WebSocket?: SocketClass;
  readonly location?: { readonly href: string };
  readonly document?: EventTarget & { readonly visibilityState: string };
}

const page = globalThis as unknown as Page;

/** The address of the page that runs this, if one does. */
export function pageAddress(): string | undefined {
  return page.location?.href;
}

/** The platform that runs this. Errors: where there is no WebSocket, and none is given. */
export function createPlatform(given?: SocketClass): Platform {
  const socketClass = given ?? page.WebSocket;
  if (socketClass === undefined)
    throw new TypeError('WebSocket: expected a browser or Node.js 22, or the option WebSocket');
  return {
    WebSocket: socketClass,
    now: () => performance.now(),
    clock: Date.now,
    after(delayMs, work) {
      const timer = setTimeout(work, delayMs);
      return () => clearTimeout(timer);
    },
    random: Math.random,
    async statusOf({ url, authorization }) {
      if (authorization === '' && page.document) return undefined; // the browser would ask people for a password
      try {
        const answer = await fetch(url.replace(/^ws/, 'http'), {
          ...(authorization && { headers: { authorization }, credentials: 'omit' }),
          signal: AbortSignal.timeout(statusDeadlineMs),
        });
        return answer.status;
      } catch {
        return undefined; // the hub is away, or this is the page of another site
      }
    },
    onWake(wake) {
      const { document } = page;
      const wakeIfSeen = () => document?.visibilityState === 'visible' && wake();
      const listeners = [
        [page, 'online', wake],
        [page, 'pageshow', wake],
        [document, 'visibilitychange', wakeIfSeen],
      ] as const;
      for (const [target, event, listener] of listeners) target?.addEventListener?.(event, listener);
      return () => {
        for (const [target, event, listener] of listeners) target?.removeEventListener?.(event, listener);
      };
    },
  };
}
