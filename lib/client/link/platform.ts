// The functions of a browser or of Node.js that the library uses: sockets, time, randomness, and an event for when a sleeping page wakes
// up.

import type { Endpoint } from './hub-endpoint.ts';

/** The members of a WebSocket that the library uses. */
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
  /** Returns the time on a clock that never goes back, in milliseconds. The clock may stop while the machine sleeps. */
  now(): number;
  /** Returns the time on this machine's wall clock, in milliseconds since 1970, like `Date.now()`. */
  clock(): number;
  /** Runs work after a delay. Returns a function that cancels the work. */
  after(delayMs: number, work: () => void): () => void;
  /** Returns a random number from 0 up to, but not including, 1. */
  random(): number;
  /** Resolves to the HTTP status of a request to an endpoint with its credentials; to undefined if the status cannot be determined. */
  statusOf(endpoint: Endpoint): Promise<number | undefined>;
  /** Calls `wake` whenever the network is back or the page becomes visible. Returns a function that stops these calls. */
  onWake(wake: () => void): () => void;
}

const statusDeadlineMs = 5000;

/** The members of a page's global object that Node.js lacks. */
interface Page extends Partial<Pick<EventTarget, 'addEventListener' | 'removeEventListener'>> {
  readonly WebSocket?: SocketClass;
  readonly location?: { readonly href: string };
  readonly document?: EventTarget & { readonly visibilityState: string };
}

const page = globalThis as unknown as Page;

/** Returns the address of the page in which this code is running; undefined outside a page. */
export function pageAddress(): string | undefined {
  return page.location?.href;
}

/**
 * Returns the platform on which this code is running, with the WebSocket class `given` or, by default, its own WebSocket class. Errors: a
 * `TypeError` if there is no WebSocket class.
 */
export function createPlatform(given?: SocketClass): Platform {
  const socketClass = given ?? page.WebSocket;
  if (socketClass === undefined)
    throw new TypeError(
      'WebSocket: expected a platform with WebSocket, such as a browser or Node.js 22, or the option WebSocket',
    );
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
      if (authorization === '' && page.document) return undefined; // the browser would show a password prompt otherwise
      try {
        const answer = await fetch(url.replace(/^ws/, 'http'), {
          ...(authorization && { headers: { authorization }, credentials: 'omit' }),
          signal: AbortSignal.timeout(statusDeadlineMs),
        });
        return answer.status;
      } catch {
        return undefined; // the hub is down, or the page is from another site
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
