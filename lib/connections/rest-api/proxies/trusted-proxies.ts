// The proxies that the hub believes: the setting `trustedProxies`. Behind them a request comes from whom they say, everywhere that the hub
// asks where a client is: for limits, in the log, in the audit, among the clients, and in what has led to a change.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { SettingHint } from '../../setting.ts';
import { joinedHeaders } from '../input/joined-headers.ts';
import { Networks, readNetwork } from './address.ts';
import { type Hop, hopsOfForwarded, hopsOfOlder, type Scheme } from './forwarded.ts';
import { peerOf } from './remote-address.ts';

const passedOn = ['forwarded', 'x-forwarded-for', 'x-forwarded-proto'];

export class TrustedProxies {
  readonly #networks: Networks;
  readonly #hasAny: boolean;
  readonly #ownScheme: Scheme;
  /** The peer that came last, and whether it is trusted: it is nearly always the same proxy. */
  #lastPeer = '';
  #isLastTrusted = false;

  /** `hasTls`: clients that come by no proxy come by HTTPS. */
  constructor(networks: readonly string[], hasTls: boolean) {
    this.#networks = new Networks(networks);
    this.#hasAny = networks.length > 0;
    this.#ownScheme = hasTls ? 'https' : 'http';
  }

  /** Whether a connection from an address is one of these proxies. */
  has(address: string): boolean {
    if (!this.#hasAny) return false;
    if (address !== this.#lastPeer) {
      this.#isLastTrusted = this.#networks.has(address);
      this.#lastPeer = address;
    }
    return this.#isLastTrusted;
  }

  /** Notes with a response where its request comes from. It is called as soon as a request has come. */
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
   * Whom the proxies name. Where both kinds of headers say different things, somebody has sent one that no proxy has written or taken out, and
   * nobody knows which: then neither counts, and the client is the proxy.
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

  /** Goes from proxy to proxy as long as they are trusted. Of one that names no address, the client is the one before. */
  #follow(peer: string, hops: readonly Hop[]): Client {
    let client: Client = { address: peer, scheme: undefined };
    for (const { address, scheme } of hops) {
      client = { address: address ?? client.address, scheme };
      if (address === undefined || !this.#networks.has(address)) break;
    }
    return client;
  }
}

/** Networks of everybody work, and are probably not meant: then each client says where it is. */
export function trustHints(networks: readonly string[]): SettingHint[] {
  const message = 'expected the networks of proxies, this one is everybody';
  return [...networks.entries()]
    .filter(([, text]) => readNetwork(text)?.prefix === 0)
    .map(([index]) => ({ path: ['trustedProxies', index], message }));
}

interface Client {
  readonly address: string;
  /** undefined: nobody says. */
  readonly scheme: Scheme | undefined;
}

function schemeOfBoth(one: Scheme | undefined, other: Scheme | undefined): Scheme | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one === other ? one : undefined;
}
