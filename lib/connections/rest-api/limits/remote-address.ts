// Who a client is: the address that its requests come from.

import type { HttpResponse } from '../../../net/uws.ts';

/** The client's address: `192.168.0.7`, also of an IPv4 client that comes by an IPv6 socket; IPv6 in full, eight groups of four digits. */
export function remoteAddressOf(response: HttpResponse): string {
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
