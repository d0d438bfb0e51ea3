// Whether the pages that ask are ours: the Host must be (DNS rebinding), and no page of another site may ask (cross-site requests and
// WebSocket hijacking).

import { HubError } from '../../../../model/error.ts';
import { encodeText, type HttpRequest } from '../../../../net/uws.ts';
import type { Scheme } from '../../proxies/forwarded.ts';
import type { Settings } from '../../settings.ts';
import { isOfBrowser } from './browser.ts';
import { createHostCheck } from './own-hosts.ts';
import { isAtHost, originOf, refererOriginOf, serializeOrigin } from './page-origin.ts';
import type { Act } from './purpose.ts';

const hostHeader = encodeText('host');
const instead = '; set values in the console at /hub/, by POST, or with a program such as curl';

export class SiteCheck {
  readonly #isOwnHost: (host: string) => boolean;
  readonly #origins: ReadonlySet<string>;

  constructor({ allowedHosts, allowedOrigins }: Pick<Settings, 'allowedHosts' | 'allowedOrigins'>) {
    this.#isOwnHost = createHostCheck(allowedHosts);
    this.#origins = new Set(allowedOrigins.map(serializeOrigin));
  }

  /** Returns the name by which a request asks. Errors: `foreign-host`, `bad-request`. */
  checkHost(request: HttpRequest): string {
    const host = request.getHeader(hostHeader);
    if (this.#isOwnHost(host)) return host;
    throw new HubError('foreign-host', `Host: expected a name of this hub, got "${host}"; allowedHosts adds names`);
  }

  /** Checks which page asks, if any; `scheme` is how the client speaks to the hub. Errors: `foreign-origin`. */
  checkOrigin(request: HttpRequest, act: Act, host: string, scheme: Scheme | undefined): void {
    const origin = originOf(request);
    if (origin === '') {
      if (act !== 'read') checkPage(request, host, scheme, act);
    } else if (!isAtHost(origin, host, scheme) && !this.#isAllowed(origin))
      throw foreign(`Origin: expected a page of this hub, got "${origin}"; allowedOrigins adds origins`);
  }

  /** Checks that a request which comes with a cookie says from which page; that page has been checked. Errors: `foreign-origin`. */
  checkNamed(request: HttpRequest): void {
    if (['origin', 'sec-fetch-site', 'referer'].some((header) => request.getHeader(header) !== '')) return;
    throw foreign(`Origin: expected a page of this hub with its cookie, got none${instead}`);
  }

  /** Whether a browser asks what a page of allowedOrigins may send (Fetch, "CORS-preflight request"). */
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
 * Refuses what a page of another site makes a browser send without Origin: images, scripts, frames, links, redirects. Pages cannot forge
 * the headers that this looks at, but they can leave out Referer.
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
    throw foreign(`Referer: expected a page of this hub, got a browser that names none${instead}`);
}

function foreign(message: string): HubError {
  return new HubError('foreign-origin', message);
}
