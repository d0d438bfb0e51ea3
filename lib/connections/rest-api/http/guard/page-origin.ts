// The page from which a request says that it comes.

import { encodeText, type HttpRequest } from '../../../../net/uws.ts';
import type { Scheme } from '../../proxies/forwarded.ts';
import { readHost } from './own-hosts.ts';

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

/**
 * Whether an origin is that of pages at a host: `http://Hub.lan`, `hub.lan:80` → true (RFC 6454 section 5). `scheme` is how the client
 * speaks to the hub; undefined: nobody says, so pages of both are.
 */
export function isAtHost(origin: string, host: string, scheme: Scheme | undefined): boolean {
  const [, originScheme, originHost] = originForm.exec(origin) ?? [];
  if (originScheme === undefined) return false;
  const own = originScheme.toLowerCase() as Scheme;
  if (scheme !== undefined && scheme !== own) return false;
  const authority = authorityOf(originHost!, own);
  return authority !== undefined && authority === authorityOf(host, own);
}

/** An origin as browsers write it: `HTTPS://Panel.example:443` → `https://panel.example`; one that makes no sense stays so. */
export function serializeOrigin(origin: string): string {
  const [, scheme = '', host = ''] = originForm.exec(origin) ?? [];
  const own = scheme.toLowerCase() as Scheme;
  const authority = authorityOf(host, own);
  return authority === undefined ? origin.toLowerCase() : `${own}://${authority}`;
}

const originForm = /^(https?):\/\/(.+)$/i;
const defaultPorts: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };

/** A host with its port, unless that is the default one, without the dot that a whole name may end with; undefined: it is none. */
function authorityOf(host: string, scheme: Scheme): string | undefined {
  const { name, port } = readHost(host) ?? {};
  if (name === undefined) return undefined;
  const shown = name.includes(':') ? `[${name}]` : name;
  return port === undefined || port === defaultPorts[scheme] ? shown : `${shown}:${port}`;
}
