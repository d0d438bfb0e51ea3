// The guard decides which requests are admitted (D-15): the page that sends a request must be a page from the hub, and its credentials must
// be right.

import { HubError } from '../../../../model/error.ts';
import { encodeText, type HttpRequest, type HttpResponse } from '../../../../net/uws.ts';
import { credentialsPrefix } from '../../../../wire/protocol.ts';
import { joinedHeaders } from '../../input/parse-input.ts';
import { shownPath } from '../../input/request-path.ts';
import { hasGone, remoteAddressOf, schemeOf } from '../../proxies/trusted-proxies.ts';
import type { Settings } from '../../settings.ts';
import type { Principal, SignedInUser } from '../../users/principal.ts';
import type { Need } from '../../users/rights.ts';
import { notLetIn } from '../../users/view.ts';
import type { Attempts } from './attempts.ts';
import type { Entry } from './entry.ts';
import type { Act, Purpose } from './site-check.ts';
import { isOfBrowser, SiteCheck } from './site-check.ts';

export interface Guard {
  /**
   * Returns the principal of a request that is admitted and whose principal has the required right; returns a promise if the check takes a
   * while. Errors: `bad-request`, `foreign-host`, `foreign-origin`, `unauthorized`, `forbidden`, `too-many-attempts`.
   */
  check(request: HttpRequest, purpose: Purpose, response: HttpResponse): Principal | Promise<Principal>;
  /** Returns whether the request is a preflight for a page from allowedOrigins. A preflight carries no credentials. */
  isPreflight(request: HttpRequest): boolean;
  /**
   * Returns the values of `WWW-Authenticate`, one for each scheme in which a user has credentials. A browser would open its own prompt for
   * Basic on top of a page, so a hub with a sign-in page omits Basic for browsers.
   */
  challenges(request: HttpRequest): readonly string[];
  /**
   * Returns whether the request is a browser's request for a page on a hub with users, so that the browser can be sent to the sign-in page
   * first.
   */
  signsIn(request: HttpRequest): boolean;
}

const authorizationHeader = encodeText('authorization');
const upgradeHeader = encodeText('upgrade');

export function createGuard(settings: Settings, entry: Entry, attempts: Attempts): Guard {
  const { directory } = entry;
  const sites = new SiteCheck(settings);
  const identification = new Identification(entry, attempts);

  /**
   * Finds the principal of a request with credentials. Programs that poll repeat the same token, so nearly all requests are recognized
   * immediately.
   */
  const withCredentials = (
    request: HttpRequest,
    purpose: Purpose,
    host: string,
    authorization: string,
    response: HttpResponse,
  ): SignedInUser | Promise<SignedInUser> => {
    const { act } = purpose;
    const known = act === 'read' ? directory.knownByToken.find(authorization) : undefined;
    const admit = admission(request, purpose, response);
    if (known !== undefined) return admit(known, request);
    if (act !== 'read' || !isOfToken(authorization)) sites.checkOrigin(request, act, host, schemeOf(response));
    const principal = identification.byCredentials(authorization, response);
    if (!(principal instanceof Promise)) return admit(principal, request);
    const url = request.getUrl();
    return principal.then((one) => admit(one, { getUrl: () => url }));
  };

  /** Finds the principal of a request with a cookie, or without credentials. */
  const withoutCredentials = (
    request: HttpRequest,
    purpose: Purpose,
    host: string,
    response: HttpResponse,
  ): SignedInUser => {
    sites.checkOrigin(request, purpose.act, host, schemeOf(response));
    const signedIn = identification.byCookie(request);
    if (signedIn === undefined) return withRight(identification.nobody(purpose), purpose.need, request);
    if (purpose.act !== 'read') sites.checkNamed(request);
    return admission(request, purpose, response)(signedIn, request);
  };

  /** Returns a function that checks whether a principal has the required right, and lets a manager see the hub as another user. */
  const admission = (request: HttpRequest, purpose: Purpose, response: HttpResponse) => {
    const { name, isHandshake } = seenUserOf(request, purpose);
    return (principal: SignedInUser, asked: Pick<HttpRequest, 'getUrl'>): SignedInUser => {
      if (name === undefined) return withRight(principal, purpose.need, asked);
      withRight(principal, 'manage', asked);
      if (purpose.act !== 'read' && !isHandshake)
        throw new HubError('forbidden', `you are viewing the hub as "${name}": this view is read-only`);
      const { seen, isNew } = directory.seenBy(principal, name);
      if (isNew) entry.auditSink.note(principal.name, remoteAddressOf(response), 'in', `views the hub as "${name}"`);
      return withRight(seen, purpose.need, asked);
    };
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
      if (purpose.need === 'own') {
        sites.checkOrigin(request, purpose.act, host, schemeOf(response));
        return directory.stranger;
      }
      const authorization = authorizationOf(request, purpose.act);
      return authorization === ''
        ? withoutCredentials(request, purpose, host, response)
        : withCredentials(request, purpose, host, authorization, response);
    },
  };
}

/**
 * Returns whether an `Authorization` header carries a token. No page from another site can send a token, because the browser asks the hub
 * first (Fetch, "CORS-preflight request").
 */
function isOfToken(authorization: string): boolean {
  const credentials = readCredentials(authorization);
  return credentials !== undefined && 'token' in credentials;
}

const seeAsHeader = encodeText('patchbay-see-as');

/**
 * Returns the name of the user whose view of the hub a manager has requested; the name is undefined in a usual request. A page cannot set
 * headers for a WebSocket handshake, so the name is then in the query. Errors: `bad-request`.
 */
function seenUserOf(
  request: HttpRequest,
  { act, need }: Purpose,
): { readonly name: string | undefined; readonly isHandshake: boolean } {
  const isHandshake = act === 'write' && need === 'entry' && request.getHeader(upgradeHeader) !== '';
  const given = request.getHeader(seeAsHeader);
  if (given === '') return { name: (isHandshake ? request.getQuery('see-as') : undefined) || undefined, isHandshake };
  try {
    return { name: decodeURIComponent(given), isHandshake };
  } catch {
    throw new HubError('bad-request', 'Patchbay-See-As: expected a percent-encoded username');
  }
}

const needed = { manage: 'manage', metrics: 'read metrics', edit: 'edit flow files', nothing: '', own: '' };

/** Returns a principal that has the required right. Errors: `unauthorized`, `forbidden`. */
function withRight(principal: SignedInUser, need: Need, request: Pick<HttpRequest, 'getUrl'>): SignedInUser {
  if (need === 'entry' || principal.rights.has(need)) return principal;
  if (principal.name === '') throw notLetIn();
  throw new HubError('forbidden', `${shownPath(request.getUrl())}: expected a user who may ${needed[need]}`);
}

const offeredCredentials = new RegExp(`(?:^|[ ,])${credentialsPrefix.replaceAll('.', '\\.')}([\\w-]+)`);

/**
 * Returns the value of the `Authorization` header, or an empty string. A page cannot set headers for a WebSocket handshake, so the page
 * offers the credentials as a subprotocol.
 */
function authorizationOf(request: HttpRequest, act: Act): string {
  const header = request.getHeader(authorizationHeader);
  if (header !== '' || act !== 'write') return header;
  const [, encoded = ''] = offeredCredentials.exec(joinedHeaders(request, 'sec-websocket-protocol')[0]!) ?? [];
  return Buffer.from(encoded, 'base64url').toString();
}

// Finds the principal by credentials or by the cookie of a signed-in user. Equal credentials that arrive at the same time are compared only
// once.

const cookieHeader = encodeText('cookie');

class Identification {
  readonly #entry: Entry;
  readonly #attempts: Attempts;
  /**
   * The comparisons in progress, keyed by address and credentials, with the responses to all requests that are waiting for the result.
   * There are at most as many comparisons as connections.
   */
  readonly #comparing = new Map<
    string,
    { readonly found: Promise<SignedInUser>; readonly responses: HttpResponse[] }
  >();

  constructor(entry: Entry, attempts: Attempts) {
    this.#entry = entry;
    this.#attempts = attempts;
  }

  /**
   * Returns the user with the credentials in an `Authorization` header; returns a promise if comparing takes a while. Errors:
   * `unauthorized`, `too-many-attempts`, `unavailable`.
   */
  byCredentials(authorization: string, response: HttpResponse): SignedInUser | Promise<SignedInUser> {
    const { directory } = this.#entry;
    const known = directory.known(authorization);
    if (known !== undefined) return known;
    const claimed = readCredentials(authorization);
    const address = remoteAddressOf(response);
    const letIn = (signedIn: SignedInUser | undefined) => this.#letIn(signedIn, authorization, address, claimed);
    if (claimed === undefined) return letIn(undefined);
    const key = `${address} ${authorization}`; // comparisons are not shared between addresses, because a client that guesses waits longer
    const pending = this.#comparing.get(key);
    if (pending !== undefined) {
      pending.responses.push(response);
      return pending.found;
    }
    const responses = [response];
    const asker = this.#attempts.asker(address, claimed.user, () => responses.every(hasGone));
    const signedIn =
      'token' in claimed
        ? directory.withToken(claimed.token, asker)
        : directory.withPassword(claimed.user, claimed.password, asker);
    if (!(signedIn instanceof Promise)) return letIn(signedIn);
    const found = signedIn.then(letIn).finally(() => this.#comparing.delete(key));
    this.#comparing.set(key, { found, responses });
    return found;
  }

  /** Returns the user who is signed in by the cookie in a request; undefined if no user is signed in. */
  byCookie(request: HttpRequest): SignedInUser | undefined {
    const cookie = request.getHeader(cookieHeader);
    if (cookie === '') return undefined;
    const signedIn = this.#entry.find(cookie);
    if (signedIn !== undefined) return signedIn;
    const [all = ''] = joinedHeaders(request, 'cookie');
    return all === cookie ? undefined : this.#entry.find(all);
  }

  /** Returns the principal for a request without credentials. Errors: `unauthorized` if such requests are not admitted. */
  nobody({ need }: Purpose): SignedInUser {
    const { anonymous, stranger } = this.#entry.directory;
    const nobody = anonymous ?? (need === 'nothing' ? stranger : undefined);
    if (nobody === undefined) throw notLetIn();
    return nobody;
  }

  #letIn(
    signedIn: SignedInUser | undefined,
    authorization: string,
    address: string,
    claimed: Credentials | undefined,
  ): SignedInUser {
    const { directory, auditSink } = this.#entry;
    const user = claimed?.user ?? '';
    if (claimed === undefined || signedIn === undefined || signedIn.hasLeft) {
      auditSink.note(user, address, 'refused', 'by credentials');
      throw this.#attempts.wrong(address, user) ?? notLetIn();
    }
    this.#attempts.right(address, user);
    directory.remember(authorization, signedIn, 'token' in claimed);
    auditSink.note(signedIn.name, address, 'in', 'by credentials');
    return signedIn;
  }
}

// The content of an `Authorization` header (RFC 7617, RFC 6750).

type Credentials = { readonly user: string; readonly password: string } | { readonly user: ''; readonly token: string };

/**
 * Parses the credentials in an `Authorization` header of the schemes Basic and Bearer; returns undefined if the scheme is unknown or the
 * credentials are malformed.
 */
function readCredentials(authorization: string): Credentials | undefined {
  const [, scheme = '', given = ''] = /^(\S+) +(\S+) *$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return { user: '', token: given };
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const text = Buffer.from(given, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
