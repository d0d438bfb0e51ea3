// The guard decides who may ask at all (D-15): the page that asks must be ours, and the credentials must be right.
import { HubError } from '../../../../model/error.ts';
import { encodeText, type HttpRequest, type HttpResponse } from '../../../../net/uws.ts';
import { credentialsPrefix } from '../../../../wire/protocol.ts';
import { joinedHeaders } from '../../input/parse-input.ts';
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
   * Returns who asks, if it may come in and has the right that is needed; later, if it takes long to find out. Errors: `bad-request`,
   * `foreign-host`, `foreign-origin`, `unauthorized`, `forbidden`, `too-many-attempts`.
   */
  check(request: HttpRequest, purpose: Purpose, response: HttpResponse): Principal | Promise<Principal>;
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
  ): SignedInUser | Promise<SignedInUser> => {
    const known = act === 'read' ? directory.knownByToken.find(authorization) : undefined;
    if (known !== undefined) return withRight(known, need, request);
    if (act !== 'read' || !isOfToken(authorization)) sites.checkOrigin(request, act, host, schemeOf(response));
    const principal = identification.byCredentials(authorization, response);
    if (!(principal instanceof Promise)) return withRight(principal, need, request);
    const url = request.getUrl();
    return principal.then((one) => withRight(one, need, { getUrl: () => url }));
  };

  /** Whoever comes with a cookie, or with nothing. */
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
    return withRight(signedIn, purpose.need, request);
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
function withRight(principal: SignedInUser, need: Need, request: Pick<HttpRequest, 'getUrl'>): SignedInUser {
  if (need === 'entry' || principal.rights.has(need)) return principal;
  if (principal.name === '') throw notLetIn();
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

// Finds out who asks: by credentials, which are compared once at a time, or by the cookie of who has signed in.

const cookieHeader = encodeText('cookie');

class Identification {
  readonly #entry: Entry;
  readonly #attempts: Attempts;
  /** Credentials that are being compared, by address, and who waits for that. There are at most as many as there are connections. */
  readonly #comparing = new Map<
    string,
    { readonly found: Promise<SignedInUser>; readonly responses: HttpResponse[] }
  >();

  constructor(entry: Entry, attempts: Attempts) {
    this.#entry = entry;
    this.#attempts = attempts;
  }

  /** Who comes with these credentials. Errors: `unauthorized`, `too-many-attempts`, `unavailable`. */
  byCredentials(authorization: string, response: HttpResponse): SignedInUser | Promise<SignedInUser> {
    const { directory } = this.#entry;
    const known = directory.known(authorization);
    if (known !== undefined) return known;
    const claimed = readCredentials(authorization);
    const address = remoteAddressOf(response);
    const letIn = (signedIn: SignedInUser | undefined) => this.#letIn(signedIn, authorization, address, claimed);
    if (claimed === undefined) return letIn(undefined);
    const key = `${address} ${authorization}`; // whoever guesses elsewhere waits longer
    const under = this.#comparing.get(key);
    if (under !== undefined) {
      under.responses.push(response);
      return under.found;
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

  /** Who has signed in with the browser that asks; undefined: nobody. */
  byCookie(request: HttpRequest): SignedInUser | undefined {
    const cookie = request.getHeader(cookieHeader);
    if (cookie === '') return undefined;
    const signedIn = this.#entry.find(cookie);
    if (signedIn !== undefined) return signedIn;
    const [all = ''] = joinedHeaders(request, 'cookie');
    return all === cookie ? undefined : this.#entry.find(all);
  }

  /** Who asks without saying who it is. Errors: `unauthorized`. */
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

// What a header `Authorization` holds (RFC 7617, RFC 6750).

type Credentials = { readonly user: string; readonly password: string } | { readonly user: ''; readonly token: string };

/** Reads the credentials of HTTP Basic and Bearer; undefined: they are of no scheme that the hub knows, or make no sense. */
function readCredentials(authorization: string): Credentials | undefined {
  const [, scheme = '', given = ''] = /^(\S+) +(\S+) *$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return { user: '', token: given };
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const text = Buffer.from(given, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
