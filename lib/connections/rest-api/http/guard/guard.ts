// The guard decides who may ask at all (D-15): the Host must be ours (DNS rebinding), no page of another site may ask (cross-site requests
// and WebSocket hijacking), and the credentials must be right.

import { HubError } from '../../../../model/error.ts';
import { encodeText, type HttpRequest } from '../../../../net/uws.ts';
import { credentialsPrefix } from '../../../../wire/protocol.ts';
import type { Settings } from '../../settings.ts';
import { notLetIn } from '../../users/present.ts';
import type { Need } from '../../users/rights.ts';
import type { Guest, Visitor } from '../../users/visitor.ts';
import type { Attempt, Attempts } from './attempts.ts';
import { isOfBrowser } from './browser.ts';
import { type Credentials, readCredentials } from './credentials.ts';
import type { Entry } from './entry.ts';
import { createHostCheck } from './own-hosts.ts';
import { isAtHost, originOf, refererOriginOf } from './page-origin.ts';

/** What a request is about to do. An upgrade to a WebSocket is a write. */
export type Act = 'read' | 'write' | 'write by GET';

/** What a request is about to do, and the right that it needs. */
export interface Purpose {
  readonly act: Act;
  readonly need: Need;
}

export interface Guard {
  /**
   * Returns who asks, if it may come in and has the right that is needed; later, if it takes long to find out. Errors: `foreign-host`,
   * `foreign-origin`, `unauthorized`, `forbidden`, `too-many-attempts`.
   */
  check(request: HttpRequest, purpose: Purpose, addressOf: () => string): Visitor | Promise<Visitor>;
  /** Whether a browser asks what a page of allowedOrigins may send. It sends no credentials yet. */
  isPreflight(request: HttpRequest): boolean;
  /**
   * The value of `WWW-Authenticate` for each scheme in which somebody has credentials. A browser would ask for them by itself, in the middle
   * of a page: where there is a page to sign in, it is not told of Basic.
   */
  challenges(request: HttpRequest): readonly string[];
  /** Whether a browser asks for a page, and could sign in first. */
  signsIn(request: HttpRequest): boolean;
}

const hostHeader = encodeText('host');
const authorizationHeader = encodeText('authorization');
const cookieHeader = encodeText('cookie');

export function createGuard(settings: Settings, entry: Entry, attempts: Attempts): Guard {
  const { directory, witness } = entry;
  const origins = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase()));
  const isOwnHost = createHostCheck(settings.allowedHosts);
  /** Credentials that are being compared. */
  const comparing = new Map<string, Promise<Guest>>();

  const checkHost = (request: HttpRequest): string => {
    const host = request.getHeader(hostHeader);
    if (isOwnHost(host)) return host;
    throw new HubError('foreign-host', `Host: expected a name of this hub, got "${host}"; allowedHosts adds names`);
  };

  const checkOrigin = (request: HttpRequest, act: Act, host: string) => {
    const origin = originOf(request);
    if (origin === '') {
      if (act !== 'read') checkPage(request, host, act);
    } else if (!isAtHost(origin, host) && !origins.has(origin.toLowerCase()))
      throw foreign(`Origin: expected a page of this hub, got "${origin}"; allowedOrigins adds origins`);
  };

  const letIn = (
    guest: Guest | undefined,
    attempt: Attempt,
    authorization: string,
    address: string,
    claimed?: Credentials,
  ): Guest => {
    if (claimed === undefined || guest === undefined || guest.hasLeft) {
      attempt.end('wrong');
      witness.note(claimed?.user ?? '', address, 'refused', 'by credentials');
      throw notLetIn();
    }
    attempt.end('right');
    directory.remember(authorization, guest, 'token' in claimed);
    witness.note(guest.name, address, 'in', 'by credentials');
    return guest;
  };

  const compare = (authorization: string, addressOf: () => string): Guest | Promise<Guest> => {
    if (!attempts.isQuiet) attempts.check(addressOf, readCredentials(authorization)?.user); // before anything is compared
    const known = directory.known(authorization);
    if (known !== undefined) return known;
    const claimed = readCredentials(authorization);
    const under = comparing.get(authorization);
    if (under !== undefined) return under;
    const address = addressOf();
    const attempt = attempts.begin(address, claimed?.user);
    if (claimed === undefined) return letIn(undefined, attempt, authorization, address);
    if ('token' in claimed) return letIn(directory.withToken(claimed.token), attempt, authorization, address, claimed);
    const guest = directory.withPassword(claimed.user, claimed.password);
    if (!(guest instanceof Promise)) return letIn(guest, attempt, authorization, address, claimed);
    const found = guest
      .catch((error: unknown) => {
        attempt.end('not compared');
        throw error;
      })
      .then((one) => letIn(one, attempt, authorization, address, claimed))
      .finally(() => comparing.delete(authorization));
    comparing.set(authorization, found);
    return found;
  };

  const identify = (
    request: HttpRequest,
    { act, need }: Purpose,
    authorization: string,
    addressOf: () => string,
  ): Guest | Promise<Guest> => {
    if (authorization !== '') return compare(authorization, addressOf);
    const cookie = request.getHeader(cookieHeader);
    const guest = cookie === '' ? undefined : entry.find(cookie);
    if (guest !== undefined) {
      if (act !== 'read' && !namesPage(request))
        throw foreign(`Origin: expected a page of this hub with its cookie, got none${instead}`);
      return guest;
    }
    const nobody = directory.anonymous ?? (need === 'nothing' ? directory.stranger : undefined);
    if (nobody === undefined) throw notLetIn();
    return nobody;
  };

  return {
    signsIn: (request) =>
      directory.hasUsers &&
      request.getCaseSensitiveMethod() === 'GET' &&
      request.getHeader('accept').includes('text/html'),
    challenges: (request) => [
      ...(directory.hasPasswords && !(directory.hasUsers && isOfBrowser(request))
        ? ['Basic realm="Patchbay", charset="UTF-8"']
        : []),
      ...(directory.hasTokens || directory.hasUsers ? ['Bearer realm="Patchbay"'] : []),
    ],
    isPreflight: (request) =>
      asksFirst(request) && isOwnHost(request.getHeader(hostHeader)) && origins.has(originOf(request).toLowerCase()),
    check(request, purpose, addressOf) {
      const { act, need } = purpose;
      const host = checkHost(request);
      if (directory.everybody !== undefined) {
        checkOrigin(request, act, host);
        return directory.everybody;
      }
      const authorization = authorizationOf(request, act);
      const known = act === 'read' && attempts.isQuiet ? directory.knownByToken(authorization) : undefined;
      if (known !== undefined) return withRight(known, need, request);
      if (act !== 'read' || !isOfToken(authorization)) checkOrigin(request, act, host);
      const visitor = identify(request, purpose, authorization, addressOf);
      if (!(visitor instanceof Promise)) return withRight(visitor, need, request);
      const url = request.getUrl();
      return visitor.then((one) => withRight(one, need, { getUrl: () => url }));
    },
  };
}

/**
 * Whether a token comes with a request. No page of another site has sent it: a browser sends none by itself, and asks us first before it sends
 * that of a page (Fetch, "CORS-preflight request").
 */
function isOfToken(authorization: string): boolean {
  if (authorization === '') return false;
  const credentials = readCredentials(authorization);
  return credentials !== undefined && 'token' in credentials;
}

/** Errors: `unauthorized`, `forbidden`. */
function withRight(visitor: Guest, need: Need, request: Pick<HttpRequest, 'getUrl'>): Guest {
  if (need === 'entry' || visitor.rights.has(need)) return visitor;
  if (visitor.name === '') throw notLetIn();
  throw new HubError(
    'forbidden',
    `${request.getUrl()}: expected a user who may ${need === 'manage' ? 'manage' : 'read metrics'}`,
  );
}

/** Whether a browser asks before it sends what forms cannot (Fetch, "CORS-preflight request"). */
function asksFirst(request: HttpRequest): boolean {
  return request.getCaseSensitiveMethod() === 'OPTIONS' && request.getHeader('access-control-request-method') !== '';
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

/** Whether a browser says from which page it asks; the guard has found that page to be a right one. */
function namesPage(request: HttpRequest): boolean {
  return ['origin', 'sec-fetch-site', 'referer'].some((header) => request.getHeader(header) !== '');
}

const instead = '; set values in the console at /hub/, by POST, or with a program such as curl';

function foreign(message: string): HubError {
  return new HubError('foreign-origin', message);
}

const offeredCredentials = new RegExp(`(?:^|[ ,])${credentialsPrefix.replaceAll('.', '\\.')}([\\w-]+)`);

/** The credentials of a request. A page cannot set headers of a WebSocket handshake, so it offers them as a subprotocol. */
function authorizationOf(request: HttpRequest, act: Act): string {
  const header = request.getHeader(authorizationHeader);
  if (header !== '' || act !== 'write') return header;
  const [, encoded = ''] = offeredCredentials.exec(request.getHeader('sec-websocket-protocol')) ?? [];
  return Buffer.from(encoded, 'base64url').toString();
}
