// The guard decides who may ask at all (D-15): the page that asks must be ours, and the credentials must be right.

import { HubError } from '../../../../model/error.ts';
import { encodeText, type HttpRequest, type HttpResponse } from '../../../../net/uws.ts';
import { credentialsPrefix } from '../../../../wire/protocol.ts';
import { joinedHeaders } from '../../input/joined-headers.ts';
import { schemeOf } from '../../proxies/remote-address.ts';
import type { Settings } from '../../settings.ts';
import { notLetIn } from '../../users/present.ts';
import type { Need } from '../../users/rights.ts';
import type { Guest, Visitor } from '../../users/visitor.ts';
import type { Attempts } from './attempts.ts';
import type { Entry } from './entry.ts';
import { Identification, readCredentials } from './identification.ts';
import type { Act, Purpose } from './purpose.ts';
import { isOfBrowser, SiteCheck } from './site-check.ts';

export interface Guard {
  /**
   * Returns who asks, if it may come in and has the right that is needed; later, if it takes long to find out. Errors: `bad-request`,
   * `foreign-host`, `foreign-origin`, `unauthorized`, `forbidden`, `too-many-attempts`.
   */
  check(request: HttpRequest, purpose: Purpose, response: HttpResponse): Visitor | Promise<Visitor>;
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

const authorizationHeader = encodeText('authorization');

export function createGuard(settings: Settings, entry: Entry, attempts: Attempts): Guard {
  const { directory } = entry;
  const sites = new SiteCheck(settings);
  const identification = new Identification(entry, attempts);

  /** Whoever comes with credentials. Programs that read send the same token again and again, so nearly all of them are known at once. */
  const withCredentials = (
    request: HttpRequest,
    { act, need }: Purpose,
    host: string,
    authorization: string,
    response: HttpResponse,
  ): Guest | Promise<Guest> => {
    const known = act === 'read' ? directory.knownByToken.find(authorization) : undefined;
    if (known !== undefined) return withRight(known, need, request);
    if (act !== 'read' || !isOfToken(authorization)) sites.checkOrigin(request, act, host, schemeOf(response));
    const visitor = identification.byCredentials(authorization, response);
    if (!(visitor instanceof Promise)) return withRight(visitor, need, request);
    const url = request.getUrl();
    return visitor.then((one) => withRight(one, need, { getUrl: () => url }));
  };

  /** Whoever comes with a cookie, or with nothing. */
  const withoutCredentials = (request: HttpRequest, purpose: Purpose, host: string, response: HttpResponse): Guest => {
    sites.checkOrigin(request, purpose.act, host, schemeOf(response));
    const guest = identification.byCookie(request);
    if (guest === undefined) return withRight(identification.nobody(purpose), purpose.need, request);
    if (purpose.act !== 'read') sites.checkNamed(request);
    return withRight(guest, purpose.need, request);
  };

  return {
    signsIn: (request) =>
      directory.hasUsers &&
      request.getCaseSensitiveMethod() === 'GET' &&
      joinedHeaders(request, 'accept')[0]!.includes('text/html'),
    challenges: (request) => [
      ...(directory.hasPasswords && !(directory.hasUsers && isOfBrowser(request))
        ? ['Basic realm="Patchbay", charset="UTF-8"']
        : []),
      ...(directory.hasTokens || directory.hasUsers ? ['Bearer realm="Patchbay"'] : []),
    ],
    isPreflight: (request) => sites.isPreflight(request),
    check(request, purpose, response) {
      const host = sites.checkHost(request);
      if (directory.everybody !== undefined) {
        sites.checkOrigin(request, purpose.act, host, schemeOf(response));
        return directory.everybody;
      }
      const authorization = authorizationOf(request, purpose.act);
      return authorization === ''
        ? withoutCredentials(request, purpose, host, response)
        : withCredentials(request, purpose, host, authorization, response);
    },
  };
}

/**
 * Whether a token comes with a request. No page of another site has sent it: a browser sends none by itself, and asks us first before it sends
 * that of a page (Fetch, "CORS-preflight request").
 */
function isOfToken(authorization: string): boolean {
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

const offeredCredentials = new RegExp(`(?:^|[ ,])${credentialsPrefix.replaceAll('.', '\\.')}([\\w-]+)`);

/** The credentials of a request. A page cannot set headers of a WebSocket handshake, so it offers them as a subprotocol. */
function authorizationOf(request: HttpRequest, act: Act): string {
  const header = request.getHeader(authorizationHeader);
  if (header !== '' || act !== 'write') return header;
  const [, encoded = ''] = offeredCredentials.exec(joinedHeaders(request, 'sec-websocket-protocol')[0]!) ?? [];
  return Buffer.from(encoded, 'base64url').toString();
}
