// Connects to a hub: from a page of its own to the hub that served it, from elsewhere by address.

import { type Credentials, findEndpoint } from './endpoint.ts';
import { createHub, type Hub, type HubSettings } from './hub.ts';
import { createPlatform, pageAddress, type SocketClass } from './platform.ts';

export interface ConnectOptions extends HubSettings, Credentials {
  /** Another implementation of WebSocket than that of the platform. */
  readonly WebSocket?: SocketClass;
}

/**
 * Connects to `ws://studio.local:17011/ws`, `http://studio.local:17011`, or, left out, to the hub that served the page.
 * Returns at once: the link is made, and made again after each break, by itself. Errors: a `TypeError` for no URL.
 */
export function connect(url?: string | URL, options: ConnectOptions = {}): Hub {
  const { token, username, password, WebSocket, ...settings } = options;
  const endpoint = findEndpoint(url, { token, username, password }, pageAddress());
  return createHub(endpoint, settings, createPlatform(WebSocket));
}
