// The proxies that the hub trusts: the setting `trustedProxies`. Behind a trusted proxy, the address of a client is the address that the
// proxy reports. This address is used for limits, and shown in the log, the audit, the list of clients and the causes of changes.
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { SettingHint } from '../../setting.ts';
import { joinedHeaders } from '../input/parse-input.ts';
import { Networks, readAddress, readNetwork } from './ip-address.ts';

const passedOn = ['forwarded', 'x-forwarded-for', 'x-forwarded-proto'];

export class TrustedProxies {
  readonly #networks: Networks;
  readonly #hasAny: boolean;
  readonly #ownScheme: Scheme;
  /** The peer of the last request, which is nearly always the same proxy, and whether that peer is trusted. */
  #lastPeer = '';
  #isLastTrusted = false;

  /** `hasTls` means that clients without a proxy connect over HTTPS. */
  constructor(networks: readonly string[], hasTls: boolean) {
    this.#networks = new Networks(networks);
    this.#hasAny = networks.length > 0;
    this.#ownScheme = hasTls ? 'https' : 'http';
  }

  /** Returns whether an address is the address of a trusted proxy. */
  has(address: string): boolean {
    if (!this.#hasAny) return false;
    if (address !== this.#lastPeer) {
      this.#isLastTrusted = this.#networks.has(address);
      this.#lastPeer = address;
    }
    return this.#isLastTrusted;
  }

  /** Stores the address of the client and the scheme of the request with the response. Call this as soon as the request has arrived. */
  introduce(response: HttpResponse, request: HttpRequest): void {
    if (!this.#hasAny) {
      if (this.#ownScheme === 'https') response.scheme = this.#ownScheme;
      return;
    }
    const peer = peerOf(response);
    if (!this.has(peer)) {
      response.scheme = this.#ownScheme;
      return;
    }
    const { address, scheme } = this.#clientOf(peer, request);
    response.clientAddress = address;
    response.scheme = scheme;
  }

  /**
   * Returns the client that the proxies name in the headers. If the two kinds of headers disagree, the client has sent one of them, and no
   * proxy has overwritten or removed that header. In that case, neither header counts, and the proxy counts as the client.
   */
  #clientOf(peer: string, request: HttpRequest): Client {
    const [forwarded = '', older = '', proto = ''] = joinedHeaders(request, ...passedOn);
    const newClient = forwarded === '' ? undefined : this.#follow(peer, hopsOfForwarded(forwarded));
    const oldClient = older + proto === '' ? undefined : this.#follow(peer, hopsOfOlder(older, proto));
    if (newClient === undefined || oldClient === undefined)
      return newClient ?? oldClient ?? { address: peer, scheme: undefined };
    const isAgreed = older === '' || newClient.address === oldClient.address;
    return {
      address: isAgreed ? newClient.address : peer,
      scheme: schemeOfBoth(newClient.scheme, oldClient.scheme),
    };
  }

  /**
   * Follows the hops from proxy to proxy as long as the proxies are trusted, and returns the client. If a hop contains no address, the
   * previous hop is the client.
   */
  #follow(peer: string, hops: readonly Hop[]): Client {
    let client: Client = { address: peer, scheme: undefined };
    for (const { address, scheme } of hops) {
      client = { address: address ?? client.address, scheme };
      if (address === undefined || !this.#networks.has(address)) break;
    }
    return client;
  }
}

/**
 * Returns a hint for each network that contains every address. Such a network is valid but probably not intended, because it lets each
 * client choose its own address.
 */
export function trustHints(networks: readonly string[]): SettingHint[] {
  const message = 'expected the networks of proxies, got one that contains every address';
  return [...networks.entries()]
    .filter(([, text]) => readNetwork(text)?.prefix === 0)
    .map(([index]) => ({ path: ['trustedProxies', index], message }));
}

interface Client {
  readonly address: string;
  /** The scheme that the client uses; undefined if unknown. */
  readonly scheme: Scheme | undefined;
}

function schemeOfBoth(one: Scheme | undefined, other: Scheme | undefined): Scheme | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one === other ? one : undefined;
}

// The headers that proxies add to a request: `Forwarded` (RFC 7239), or `X-Forwarded-For` and `X-Forwarded-Proto`. Each proxy appends its
// client on the right. Parts further left are only as trustworthy as the proxies or clients that wrote them, so the hub reads from the
// right, and an unclosed quote cannot hide parts that a proxy appended after the quote.

export type Scheme = 'http' | 'https';

/** The client that a proxy reports, and the scheme that the client uses. A property is undefined if the proxy does not report it. */
interface Hop {
  readonly address: string | undefined;
  readonly scheme: Scheme | undefined;
}

/** The maximum number of hops, more than any realistic number of proxies. */
const maxHops = 32;

const nowhere: Hop = { address: undefined, scheme: undefined };

/** Parses the hops in `Forwarded`: `for=192.0.2.43;proto=https, for="[2001:db8::1]:4711"`. The hop of the nearest proxy comes first. */
export function hopsOfForwarded(forwarded: string): Hop[] {
  return fromTheRight(forwarded, ',').map(readElement);
}

/**
 * Parses the hops in `X-Forwarded-For` and `X-Forwarded-Proto`; the latter has one member per hop, or one member for all hops. The hop of
 * the nearest proxy comes first.
 */
export function hopsOfOlder(xForwardedFor: string, xForwardedProto: string): Hop[] {
  const schemes = fromTheRight(xForwardedProto, ',').map(readScheme);
  const schemeAt = (index: number) => schemes[Math.min(index, schemes.length - 1)];
  const addresses = fromTheRight(xForwardedFor, ',');
  if (addresses.length === 0) return [{ address: undefined, scheme: schemeAt(0) }];
  return addresses.map((text, index) => ({ address: readNode(text), scheme: schemeAt(index) }));
}

function readElement(element: string): Hop {
  const pairs = new Map<string, string>();
  for (const pair of fromTheRight(element, ';')) {
    const [, name = '', token, quoted = ''] = parameter.exec(pair) ?? [];
    const key = name.toLowerCase();
    if (key === '' || pairs.has(key)) return nowhere;
    pairs.set(key, token ?? quoted.replaceAll(/\\(.)/g, '$1'));
  }
  return { address: readNode(pairs.get('for') ?? ''), scheme: readScheme(pairs.get('proto') ?? '') };
}

/**
 * Matches `name=value`, where the value is a token or a quoted string. IPv6 addresses without quotes are not tokens, but are unambiguous.
 */
const parameter = /^([\w!#$%&'+*.^`|~-]+)=(?:([\w!#$%&'*+.^`|~:[\]-]+)|"((?:[^"\\]|\\.)*)")$/;

/**
 * Parses a node (RFC 7239 section 6): returns the address in `192.0.2.43`, `192.0.2.43:4711` or `[2001:db8::1]:4711`, and undefined for
 * `unknown`, a name, or anything else.
 */
function readNode(text: string): string | undefined {
  const bare = /^"(.*)"$/.exec(text)?.[1] ?? text;
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/.exec(bare) ?? [];
  return readAddress(bracketed ?? plain ?? bare);
}

function readScheme(text: string): Scheme | undefined {
  const name = text.toLowerCase();
  if (name === 'https' || name === 'wss') return 'https';
  return name === 'http' || name === 'ws' ? 'http' : undefined;
}

/** Returns the non-empty members of a list, from right to left, at most `maxHops`. Separators within quotes do not count. */
function fromTheRight(list: string, separator: ',' | ';'): string[] {
  const members: string[] = [];
  let end = list.length;
  let isQuoted = false;
  for (let index = list.length - 1; index >= -1 && members.length < maxHops; index--) {
    const character = list[index];
    if (character === '"' && !isEscaped(list, index)) isQuoted = !isQuoted;
    if (index >= 0 && (character !== separator || isQuoted)) continue;
    const member = list.slice(index + 1, end).trim();
    if (member !== '') members.push(member);
    end = index;
  }
  return members;
}

/** Returns whether the character at `index` is escaped, because an odd number of backslashes precedes it. */
function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text[first - 1] === '\\') first--;
  return (index - first) % 2 === 1;
}

// The address of a client, whether the client uses HTTPS, and whether it has disconnected.

/**
 * Returns the client's address: `192.168.0.7` for an IPv4 client, even on an IPv6 socket; for an IPv6 client, the full form with eight
 * groups of four digits.
 */
export function remoteAddressOf(response: HttpResponse): string {
  response.clientAddress ??= peerOf(response); // the library copies the address for each call
  return response.clientAddress as string;
}

/**
 * Returns the scheme that the client uses to reach the hub or the proxy in front of the hub; undefined if the hub cannot know the scheme,
 * because an untrusted proxy may be using HTTPS.
 */
export function schemeOf(response: HttpResponse): Scheme | undefined {
  return response.scheme as Scheme | undefined;
}

/** Returns the address at the other end of the connection: the address of the client, or of a proxy. */
export function peerOf(response: HttpResponse): string {
  const text = Buffer.from(response.getRemoteAddressAsText()).toString();
  if (!text.includes(':')) return text;
  const mapped = /^(?:0000:){5}ffff:(..)(..):(..)(..)$/.exec(text);
  return mapped === null
    ? text
    : mapped
        .slice(1)
        .map((byte) => Number.parseInt(byte, 16))
        .join('.');
}

/** Returns whether the client of a response is known to have disconnected. */
export function hasGone(response: HttpResponse): boolean {
  return response.hasGone === true;
}

/** Notes on a response that its client has disconnected. */
export function noteGone(response: HttpResponse): void {
  response.hasGone = true;
}
