// The page from which a request says that it comes.

import { encodeText, type HttpRequest } from '../../../../net/uws.ts';

const originHeader = encodeText('origin');
const refererHeader = encodeText('referer');

/** The header `Origin`, which browsers send with everything but plain GETs (RFC 6454 section 7); empty: there is none. */
export function originOf(request: HttpRequest): string {
  return request.getHeader(originHeader);
}

/** The origin of the header `Referer`, `http://hub.lan:17011`; `null`: it has no origin; empty: there is no header. */
export function refererOriginOf(request: HttpRequest): string {
  const referer = request.getHeader(refererHeader);
  if (referer === '') return '';
  return /^https?:\/\/[^/?#]+/i.exec(referer)?.[0] ?? 'null';
}

/** Whether an origin is served at a host: `http://Hub.lan:17011`, `hub.lan:17011` → true. */
export function isAtHost(origin: string, host: string): boolean {
  const [, originHost] = /^https?:\/\/(.+)$/i.exec(origin) ?? [];
  return originHost !== undefined && originHost.toLowerCase() === host.toLowerCase();
}
