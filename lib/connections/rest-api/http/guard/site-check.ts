// Checks that requests come from pages of this hub, to prevent DNS rebinding (Host), cross-site requests and WebSocket hijacking.

import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { HubError } from '../../../../model/error.ts';
import { encodeText, type HttpRequest } from '../../../../net/uws.ts';
import type { Scheme } from '../../proxies/trusted-proxies.ts';
import type { Settings } from '../../settings.ts';
import type { Need } from '../../users/rights.ts';

/** The effect of a request on the hub. An upgrade to a WebSocket counts as a write. */
export type Act = 'read' | 'write' | 'write by GET';

/** The effect of a request, and the right that the client needs for it. */
export interface Purpose {
  readonly act: Act;
  readonly need: Need;
  /** If true, the request does not count towards `requestsPerUser`. */
  readonly isUnmetered?: boolean | undefined;
}

const hostHeader = encodeText('host');
const instead = '; set values in the console at /hub/, by POST, or with a program such as curl';

export class SiteCheck {
  readonly #isOwnHost: (host: string) => boolean;
  readonly #origins: ReadonlySet<string>;

  constructor({ allowedHosts, allowedOrigins }: Pick<Settings, 'allowedHosts' | 'allowedOrigins'>) {
    this.#isOwnHost = createHostCheck(allowedHosts);
    this.#origins = new Set(allowedOrigins.map(serializeOrigin));
  }

  /** Returns the `Host` of a request. Errors: `foreign-host` if the name is not a name of this hub; `bad-request`. */
  checkHost(request: HttpRequest): string {
    const host = request.getHeader(hostHeader);
    if (this.#isOwnHost(host)) return host;
    throw new HubError('foreign-host', `Host: expected a name of this hub, got "${host}"; add names with allowedHosts`);
  }

  /**
   * Checks that the page that sent a request, if any, is from this hub or from allowedOrigins. `scheme` is the scheme that the client uses
   * to reach the hub. Errors: `foreign-origin`.
   */
  checkOrigin(request: HttpRequest, act: Act, host: string, scheme: Scheme | undefined): void {
    const origin = originOf(request);
    if (origin === '') {
      if (act !== 'read') checkPage(request, host, scheme, act);
    } else if (!isAtHost(origin, host, scheme) && !this.#isAllowed(origin))
      throw foreign(`Origin: expected a page of this hub, got "${origin}"; add origins with allowedOrigins`);
  }

  /**
   * Checks that a request with a cookie names the page that sent the request. The page itself was checked before. Errors: `foreign-origin`.
   */
  checkNamed(request: HttpRequest): void {
    if (['origin', 'sec-fetch-site', 'referer'].some((header) => request.getHeader(header) !== '')) return;
    throw foreign(`Origin: expected a page of this hub with its cookie, got none${instead}`);
  }

  /** Returns whether a request is a preflight for a page from allowedOrigins (Fetch, "CORS-preflight request"). */
  isPreflight(request: HttpRequest): boolean {
    const asksFirst =
      request.getCaseSensitiveMethod() === 'OPTIONS' && request.getHeader('access-control-request-method') !== '';
    return asksFirst && this.#isOwnHost(request.getHeader(hostHeader)) && this.#isAllowed(originOf(request));
  }

  #isAllowed(origin: string): boolean {
    return this.#origins.has(origin) || this.#origins.has(serializeOrigin(origin));
  }
}

/**
 * Refuses requests that a page from another site makes a browser send without `Origin`: images, scripts, frames, links, redirects. Pages
 * cannot forge the checked headers, but they can omit `Referer`.
 */
function checkPage(request: HttpRequest, host: string, scheme: Scheme | undefined, act: Act): void {
  const site = request.getHeader('sec-fetch-site');
  if (site === 'same-origin') return;
  if (site !== '') throw foreign(`Sec-Fetch-Site: expected same-origin, got "${site}"${instead}`);
  const page = refererOriginOf(request);
  if (page !== '') {
    if (isAtHost(page, host, scheme)) return;
    throw foreign(`Referer: expected a page of this hub, got "${page}"${instead}`);
  }
  if (act === 'write by GET' && isOfBrowser(request))
    throw foreign(`Referer: expected a page of this hub, got a browser that sends none${instead}`);
}

function foreign(message: string): HubError {
  return new HubError('foreign-origin', message);
}

// Checks that the `Host` of a request names this hub. Another site can point its own host name to the hub (DNS rebinding), but the browser
// then sends that host name as `Host`.

const maxKnownHosts = 1000;

/**
 * Creates a function that checks whether a `Host` header names this hub: any IP address, `localhost`, the name of this machine, or one of
 * `furtherNames`. Errors: `bad-request`.
 */
function createHostCheck(furtherNames: readonly string[]): (host: string) => boolean {
  const names = ownNames(furtherNames);
  const knownHosts = new Set<string>();
  const isKnownHost = (host: string) => {
    if (knownHosts.has(host)) return true;
    const name = readHost(host)?.name;
    if (name === undefined)
      throw new HubError(
        'bad-request',
        `Host: expected a name or an address, optionally followed by a port, got "${host}"`,
      );
    if (isIP(name) === 0 && !names.has(name)) return false;
    if (knownHosts.size < maxKnownHosts) knownHosts.add(host);
    return true;
  };
  let lastHost: string | undefined; // nearly every request has the same `Host`
  return (host) => {
    if (host === lastHost) return true;
    if (!isKnownHost(host)) return false;
    lastHost = host;
    return true;
  };
}

function ownNames(allowed: readonly string[]): ReadonlySet<string> {
  const own = hostname().toLowerCase();
  const short = own.split('.', 1)[0]!;
  return new Set(['localhost', own, short, `${short}.local`, ...allowed.map((name) => name.toLowerCase())]);
}

/**
 * Parses the value of a `Host` header (RFC 9110 section 7.2): `Studio.local.:17011` → `studio.local`, 17011; `[::1]:` → `::1`. Returns
 * undefined if the value is malformed.
 */
function readHost(host: string): { readonly name: string; readonly port: number | undefined } | undefined {
  const [, bracketed, plain, digits = ''] = hostForm.exec(host) ?? [];
  const port = digits === '' ? undefined : Number(digits);
  if (port !== undefined && port > 65_535) return undefined;
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? { name: shortOf(bracketed), port } : undefined;
  return plain === undefined ? undefined : { name: plain.toLowerCase().replace(/(?<=.)\.$/, ''), port };
}

/**
 * The form of a `Host`: an address in brackets or a name of permitted characters, followed by an optional port, which may be empty (RFC
 * 3986 section 3.2).
 */
const hostForm = /^(?:\[([^\]]+)\]|((?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+))(?::(\d*))?$/i;

/** Returns an IPv6 address as browsers write it: `0:0:0:0:0:0:0:1` → `::1`. */
function shortOf(address: string): string {
  const url = `http://[${address}]`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : address.toLowerCase(); // no URL contains an address with a zone
}

// The page that a request claims to come from.

const originHeader = encodeText('origin');
const refererHeader = encodeText('referer');

/**
 * Returns the value of the `Origin` header, which browsers send with all requests except plain GET requests (RFC 6454 section 7); an empty
 * string if there is no header.
 */
export function originOf(request: HttpRequest): string {
  return request.getHeader(originHeader);
}

/**
 * Returns the origin in the `Referer` header, such as `http://hub.lan:17011`; `null` if the header has no origin; an empty string if there
 * is no header.
 */
export function refererOriginOf(request: HttpRequest): string {
  const referer = request.getHeader(refererHeader);
  if (referer === '') return '';
  return /^https?:\/\/[^/?#]+/i.exec(referer)?.[0] ?? 'null';
}

/**
 * Returns whether an origin is the origin of pages from a host (RFC 6454 section 5): true for `http://Hub.lan` and `hub.lan:80`. `scheme`
 * is the scheme that the client uses to reach the hub; if the scheme is unknown and thus undefined, pages with either scheme match.
 */
function isAtHost(origin: string, host: string, scheme: Scheme | undefined): boolean {
  const [, originScheme, originHost] = originForm.exec(origin) ?? [];
  if (originScheme === undefined) return false;
  const own = originScheme.toLowerCase() as Scheme;
  if (scheme !== undefined && scheme !== own) return false;
  const authority = authorityOf(originHost!, own);
  return authority !== undefined && authority === authorityOf(host, own);
}

/**
 * Returns an origin as browsers write it: `HTTPS://Panel.example:443` → `https://panel.example`. An invalid origin is returned unchanged.
 */
export function serializeOrigin(origin: string): string {
  const [, scheme = '', host = ''] = originForm.exec(origin) ?? [];
  const own = scheme.toLowerCase() as Scheme;
  const authority = authorityOf(host, own);
  return authority === undefined ? origin.toLowerCase() : `${own}://${authority}`;
}

const originForm = /^(https?):\/\/(.+)$/i;
const defaultPorts: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };

/**
 * Returns a host with its port, as in an origin: without the default port of the scheme, and without the dot at the end of a fully
 * qualified name. Returns undefined if the host is invalid.
 */
function authorityOf(host: string, scheme: Scheme): string | undefined {
  const { name, port } = readHost(host) ?? {};
  if (name === undefined) return undefined;
  const shown = name.includes(':') ? `[${name}]` : name;
  return port === undefined || port === defaultPorts[scheme] ? shown : `${shown}:${port}`;
}

// Distinguishes a browser from a program if the browser does not report which page sends the request. Over plain HTTP, browsers send
// Sec-Fetch-Site only to localhost, and a foreign page can make them omit Origin and Referer. A page cannot remove the signs that are
// checked here.

const signs: readonly (readonly [header: string, isBrowsers: (value: string) => boolean])[] = [
  ['user-agent', (value) => /^(Mozilla|Opera)\/\S+ \(/.test(value) && !programs.test(value)],
  ['upgrade-insecure-requests', (value) => value !== ''],
  ['accept', (value) => /^(text\/html,application\/xhtml\+xml|text\/css,|image\/)/.test(value)],
];

/**
 * Programs whose `User-Agent` looks like that of a browser: `Invoke-WebRequest` in PowerShell, and WinHTTP in Windows scripts and macros.
 */
const programs = /PowerShell\/|WinHttp\.WinHttpRequest/;

/**
 * Returns whether a request comes from a browser. `Accept-Language` and `Sec-Fetch-Mode` do not count, because Node.js and Qt send them as
 * well.
 */
export function isOfBrowser(request: HttpRequest): boolean {
  return signs.some(([header, isBrowsers]) => isBrowsers(request.getHeader(header)));
}
