// The guard decides who may ask at all (D-15): the Host must be ours (DNS rebinding), no page of another site may ask (cross-site requests
// and WebSocket hijacking), and the credentials must be right.

import { HubError } from '../../../../model/error.ts';
import { encodeText, type HttpRequest } from '../../../../net/uws.ts';
import { credentialsPrefix } from '../../../../wire/protocol.ts';
import type { Settings } from '../../settings.ts';
import { Attempts } from './attempts.ts';
import { isOfBrowser } from './browser.ts';
import { createCredentials } from './credentials.ts';
import { createHostCheck } from './own-hosts.ts';
import { isAtHost, originOf, refererOriginOf } from './page-origin.ts';

/** What a request is about to do. An upgrade to a WebSocket is a write. */
export type Act = 'read' | 'write' | 'write by GET';

export interface Guard {
  /** Returns if a request may come in. Errors: `foreign-host`, `foreign-origin`, `unauthorized`, `too-many-attempts`. */
  check(request: HttpRequest, act: Act, addressOf: () => string): void;
  /** Whether a browser asks what a page of allowedOrigins may send. It sends no credentials yet. */
  isPreflight(request: HttpRequest): boolean;
  readonly challenges: readonly string[];
}

const hostHeader = encodeText('host');

export function createGuard(settings: Settings): Guard {
  const credentials = createCredentials(settings);
  const attempts = new Attempts(settings.limits.wrongCredentials);
  const isOpen = credentials.challenges.length === 0;
  const origins = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase()));
  const isOwnHost = createHostCheck(settings.allowedHosts);

  return {
    challenges: credentials.challenges,
    isPreflight: (request) =>
      asksFirst(request) && isOwnHost(request.getHeader(hostHeader)) && origins.has(originOf(request).toLowerCase()),
    check(request, act, addressOf) {
      const host = request.getHeader(hostHeader);
      if (!isOwnHost(host))
        throw new HubError('foreign-host', `Host: expected a name of this hub, got "${host}"; allowedHosts adds names`);
      const origin = originOf(request);
      if (origin === '') {
        if (act !== 'read') checkPage(request, host, act);
      } else if (!isAtHost(origin, host) && !origins.has(origin.toLowerCase()))
        throw foreign(`Origin: expected a page of this hub, got "${origin}"; allowedOrigins adds origins`);
      if (isOpen) return;
      const authorization = authorizationOf(request);
      if (authorization !== '') attempts.check(addressOf);
      if (credentials.accept(authorization)) return;
      if (authorization !== '') attempts.fail(addressOf());
      throw new HubError('unauthorized', 'Authorization: expected the credentials of this hub');
    },
  };
}

/** Whether a browser asks before it sends what forms cannot (Fetch, "CORS-preflight request"). */
function asksFirst(request: HttpRequest): boolean {
  return request.getMethod() === 'options' && request.getHeader('access-control-request-method') !== '';
}

/**
 * Refuses what a page of another site makes a browser send without Origin: images, scripts, frames, links, redirects. Pages cannot forge
 * the headers that this looks at, but they can leave out Referer.
 */
function checkPage(request: HttpRequest, host: string, act: Act): void {
  const site = request.getHeader('sec-fetch-site');
  if (site === 'same-origin') return;
  if (site !== '') throw foreign(`Sec-Fetch-Site: expected same-origin, got "${site}"${instead}`);
  const page = refererOriginOf(request);
  if (page !== '') {
    if (isAtHost(page, host)) return;
    throw foreign(`Referer: expected a page of this hub, got "${page}"${instead}`);
  }
  if (act === 'write by GET' && isOfBrowser(request))
    throw foreign(`Referer: expected a page of this hub, got a browser that names none${instead}`);
}

const instead = '; set values in the console at /hub/, by POST, or with a program such as curl';

function foreign(message: string): HubError {
  return new HubError('foreign-origin', message);
}

const offeredCredentials = new RegExp(`(?:^|[ ,])${credentialsPrefix.replaceAll('.', '\\.')}([\\w-]+)`);

/** The credentials of a request. A page cannot set headers of a WebSocket handshake, so it offers them as a subprotocol. */
function authorizationOf(request: HttpRequest): string {
  const header = request.getHeader('authorization');
  if (header !== '') return header;
  const [, encoded = ''] = offeredCredentials.exec(request.getHeader('sec-websocket-protocol')) ?? [];
  return Buffer.from(encoded, 'base64url').toString();
}
