// Connects to a hub: from a page of its own to the hub that served it, from elsewhere by address.

import { createHub, type Hub, type HubSettings } from './hub.ts';
import { type Credentials, findEndpoint } from './link/endpoint.ts';
import { createPlatform, pageAddress, type SocketClass } from './link/platform.ts';

export interface ConnectOptions extends HubSettings, Credentials {
  /** Another implementation of WebSocket than that of the platform. */
  readonly WebSocket?: SocketClass;
}

/**
 * Connects to `ws://studio.local:17011/ws`, `http://studio.local:17011`, or, left out, to the hub that served the page. Of several
 * addresses, of hubs that show the same parameters, it takes the first, and after each attempt or link that breaks the next one.
 * Returns at once: the link is made, and made again after each break, by itself. Errors: a `TypeError` for no URL.
 */
export function connect(url?: string | URL | readonly (string | URL)[], options: ConnectOptions = {}): Hub {
  const { token, username, password, WebSocket, ...settings } = options;
  const urls = Array.isArray(url) ? (url as readonly (string | URL)[]) : [url as string | URL | undefined];
  if (urls.length === 0) throw new TypeError('url: expected the address of a hub, got an empty list');
  const endpoints = urls.map((one) => findEndpoint(one, { token, username, password }, pageAddress()));
  return createHub(endpoints, settings, createPlatform(WebSocket));
}
