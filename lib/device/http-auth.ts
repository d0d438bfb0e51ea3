// Authentication over HTTP: Basic (RFC 7617), Bearer (RFC 6750) and Digest (RFC 7616). The hub sends a password only with the scheme in the
// settings. For example, a device that requests Basic never receives the password for Digest.

import { createHash, randomBytes } from 'node:crypto';
import { hidden } from '../model/secret.ts';

export interface Credentials {
  readonly basic?: User | undefined;
  readonly bearer?: string | undefined;
  readonly digest?: User | undefined;
}

interface User {
  readonly username: string;
  readonly password: string;
}

interface Challenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: (typeof algorithms)[number];
  readonly hasQop: boolean;
  readonly isStale: boolean;
}

/** The Digest algorithms, strongest first. `hash` is the name of the algorithm in Node.js. */
const algorithms = [
  { name: 'SHA-512-256', hash: 'sha512-256' },
  { name: 'SHA-256', hash: 'sha256' },
  { name: 'MD5', hash: 'md5' },
] as const;

/** The reaction to the status 401: send the request again, or report a fault. */
export type Answered = { readonly again: true } | { readonly fault: string };

export class HttpAuth {
  readonly #credentials: Credentials;
  /** The `Authorization` header for Basic and Bearer, which is the same in all requests. */
  readonly #fixed: { readonly value: string; readonly nonce: string } | undefined;
  #challenge: (Challenge & { readonly isSession: boolean; readonly count: { requests: number } }) | undefined;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
    const { basic, bearer } = credentials;
    if (bearer !== undefined) this.#fixed = { value: `Bearer ${bearer}`, nonce: '' };
    else if (basic !== undefined) {
      const pair = Buffer.from(`${basic.username}:${basic.password}`).toString('base64');
      this.#fixed = { value: `Basic ${pair}`, nonce: '' };
    }
  }

  /**
   * Returns the value of the `Authorization` header and its nonce, which is empty except for Digest. Returns undefined if there are no
   * credentials or if the device has not sent a Digest challenge yet.
   */
  headerFor(method: string, target: string): { readonly value: string; readonly nonce: string } | undefined {
    if (this.#fixed !== undefined) return this.#fixed;
    const { digest } = this.#credentials;
    if (digest === undefined || this.#challenge === undefined) return undefined;
    return { value: this.#digest(digest, method, target), nonce: this.#challenge.nonce };
  }

  /**
   * Handles the status 401. `header` is the WWW-Authenticate header; `nonce` is the nonce in the refused request, or undefined if the
   * request had no credentials. The request may be sent again if the challenge contains a new nonce or states that the old nonce is stale.
   */
  refused(header: string | undefined, nonce: string | undefined): Answered {
    const { digest } = this.#credentials;
    if (digest === undefined) return { fault: nonce === undefined ? '' : 'check auth' };
    const offered = readChallenges(header ?? '');
    const found = algorithms
      .flatMap(({ name }) => offered.filter((one) => one.algorithm.name === name))
      .find(({ nonce: one }) => one !== '');
    if (found === undefined) {
      const schemes = [...(header ?? '').matchAll(/(?:^|,\s*)([A-Za-z]+)(?=\s+\w+=|$|,)/g)].map(([, name]) => name);
      return {
        fault: `expected a Digest challenge with MD5 or SHA-256, got ${schemes.join(', ') || 'none'}: check auth`,
      };
    }
    if (nonce !== undefined && nonce === this.#challenge?.nonce && !found.isStale)
      return { fault: 'check auth.digest' };
    if (found.nonce !== this.#challenge?.nonce) this.#challenge = { ...found, count: { requests: 0 } };
    return { again: true };
  }

  /** Uses the next nonce in an Authentication-Info header for further requests. */
  next(info: string | undefined): void {
    const nonce = info === undefined ? undefined : readParameters(info).get('nextnonce');
    if (nonce !== undefined && this.#challenge !== undefined)
      this.#challenge = { ...this.#challenge, nonce, count: { requests: 0 } };
  }

  #digest({ username, password }: User, method: string, target: string): string {
    const { realm, nonce, opaque, algorithm, isSession, hasQop, count } = this.#challenge!;
    const hash = (text: string) => createHash(algorithm.hash).update(text).digest('hex');
    const cnonce = randomBytes(12).toString('hex');
    const nc = (++count.requests).toString(16).padStart(8, '0');
    const secret = hash(`${username}:${realm}:${password}`);
    const first = isSession ? hash(`${secret}:${nonce}:${cnonce}`) : secret;
    const second = hash(`${method}:${target}`);
    const response = hash(hasQop ? `${first}:${nonce}:${nc}:${cnonce}:auth:${second}` : `${first}:${nonce}:${second}`);
    const parts = [
      `username="${quoted(Buffer.from(username).toString('latin1'))}"`,
      `realm="${quoted(realm)}"`,
      `nonce="${quoted(nonce)}"`,
      `uri="${quoted(target)}"`,
      `response="${response}"`,
      `algorithm=${algorithm.name}${isSession ? '-sess' : ''}`,
      ...(opaque === undefined ? [] : [`opaque="${quoted(opaque)}"`]),
      ...(hasQop ? ['qop=auth', `nc=${nc}`] : []),
      ...(hasQop || isSession ? [`cnonce="${cnonce}"`] : []),
    ];
    return `Digest ${parts.join(', ')}`;
  }
}

/** Returns the secrets in the credentials that must be masked in wire traces. */
export function secretsOf({ basic, bearer, digest }: Credentials): readonly string[] {
  const user = basic ?? digest;
  return [
    ...(bearer === undefined ? [] : [bearer]),
    ...(user === undefined ? [] : [user.password]),
    ...(basic === undefined ? [] : [Buffer.from(`${basic.username}:${basic.password}`).toString('base64')]),
  ];
}

/** Returns the value of an `Authorization` header with its credentials masked, for wire traces. */
export function maskedHeader(value: string): string {
  return `${value.split(' ', 1)[0]} ${hidden}`;
}

function quoted(text: string): string {
  return text.replaceAll(/["\\]/g, '\\$&');
}

/** Parses the Digest challenges in a WWW-Authenticate header, which may also contain challenges for other schemes. */
function readChallenges(header: string): readonly (Challenge & { readonly isSession: boolean })[] {
  const starts = [...header.matchAll(/(?:^|,)\s*digest\s+(?=\w+\s*=)/gi)];
  return starts.flatMap((start, place) => {
    const parameters = readParameters(header.slice(start.index + start[0].length, starts[place + 1]?.index));
    const written = (parameters.get('algorithm') ?? 'MD5').toUpperCase();
    const isSession = written.endsWith('-SESS');
    const algorithm = algorithms.find(({ name }) => name === (isSession ? written.slice(0, -5) : written));
    const qop = parameters.get('qop');
    const hasQop = qop !== undefined && /(?:^|,)\s*auth\s*(?:,|$)/i.test(qop);
    if (algorithm === undefined || (qop !== undefined && !hasQop)) return [];
    return {
      realm: parameters.get('realm') ?? '',
      nonce: parameters.get('nonce') ?? '',
      opaque: parameters.get('opaque'),
      algorithm,
      isSession,
      hasQop,
      isStale: parameters.get('stale')?.toLowerCase() === 'true',
    };
  });
}

/** Parses `name=value, name="value"` into a map with lower-case names. */
function readParameters(text: string): Map<string, string> {
  const found = new Map<string, string>();
  // a match may start only at the beginning of a word; otherwise, a long word would take quadratic time
  for (const [, name, inQuotes, plain] of text.matchAll(/(?<!\w)(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g)) {
    const value = inQuotes === undefined ? plain! : inQuotes.replaceAll(/\\(.)/g, '$1');
    if (!found.has(name!.toLowerCase())) found.set(name!.toLowerCase(), value);
  }
  return found;
}
