// Who a client is: the address that its requests come from, and whether it speaks HTTPS; and whether it has gone.

import type { HttpResponse } from '../../../net/uws.ts';
import type { Scheme } from './forwarded.ts';

/** The client's address: `192.168.0.7`, also of an IPv4 client that comes by an IPv6 socket; IPv6 in full, eight groups of four digits. */
export function remoteAddressOf(response: HttpResponse): string {
  response.clientAddress ??= peerOf(response); // the library copies it each time
  return response.clientAddress as string;
}

/** How the client speaks to the hub, or to the proxy before it; undefined: nobody says, it may be a proxy that speaks HTTPS. */
export function schemeOf(response: HttpResponse): Scheme | undefined {
  return response.scheme as Scheme | undefined;
}

/** The address at the other end of the connection: the client's, or that of a proxy. */
export function peerOf(response: HttpResponse): string {
  const text = Buffer.from(response.getRemoteAddressAsText()).toString();
  if (!text.includes(':')) return text;
  const mapped = /^(?:0000:){5}ffff:(..)(..):(..)(..)$/.exec(text);
  return mapped === null
    ? text
    : mapped
        .slice(1)
        .map((byte) => Number.parseInt(byte, 16))
        .join('.');
}

/** Whether the client has gone, as far as somebody who kept the response has noted it. */
export function hasGone(response: HttpResponse): boolean {
  return response.hasGone === true;
}

/** Notes that the client has gone. */
export function noteGone(response: HttpResponse): void {
  response.hasGone = true;
}
