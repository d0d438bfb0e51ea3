// The address of a hub's socket, and the subprotocols that the client offers. One subprotocol carries the credentials, because a browser
// cannot set headers (docs/protocol.md "Connecting").
import { credentialsPrefix, protocolName } from '../../wire/protocol.ts';

export interface Credentials {
  /** The token, which is sent after `Bearer ` in the `Authorization` header. */
  readonly token?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

export interface Endpoint {
  /** The URL of the socket, such as `ws://studio.local:17011/ws`. */
  readonly url: string;
  readonly protocols: readonly string[];
  /** The value of the `Authorization` header; empty if there are no credentials. */
  readonly authorization: string;
}

/**
 * Returns the endpoint of a hub, by default of the hub that served the page; `base` is the address of the page, if any. Errors: a
 * `TypeError` if the URL is invalid.
 */
export function findEndpoint(url: string | URL | undefined, credentials: Credentials, base?: string): Endpoint {
  if (url === undefined && base === undefined)
    throw new TypeError('url: expected the address of a hub, such as ws://localhost:17011/ws, got nothing');
  const found = new URL(url ?? '/ws', base);
  found.protocol = /^(https|wss):$/.test(found.protocol) ? 'wss:' : 'ws:';
  if (!found.pathname.endsWith('/ws')) found.pathname = found.pathname.replace(/\/?$/, '/ws');
  found.hash = '';
  const authorization = authorize(credentials);
  const protocols = [protocolName, ...(authorization ? [credentialsPrefix + base64Url(authorization)] : [])];
  return { url: found.href, protocols, authorization };
}

function authorize({ token, username, password }: Credentials): string {
  if (token) return `Bearer ${token}`;
  return username || password ? `Basic ${base64(`${username ?? ''}:${password ?? ''}`)}` : '';
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function base64Url(text: string): string {
  return base64(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
