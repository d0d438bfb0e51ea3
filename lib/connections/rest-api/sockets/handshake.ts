// The WebSocket handshake. The hub answers when the session is ready: its filters have been compiled and applied to all parameters, in
// slices that leave time for other clients.

import { HubError } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import { wallClock } from '../../../model/time/wall-clock.ts';
import { canUpgrade } from '../../../net/late-upgrade.ts';
import type { HttpRequest, HttpResponse, us_socket_context_t } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { acceptOf, acceptsJson } from '../http/answer/accept.ts';
import { browserName } from '../http/browser-name.ts';
import { type Exchange, keepResponse } from '../http/exchange.ts';
import { asHubError, joinedHeaders, lists } from '../input/parse-input.ts';
import { shareOf } from '../limits/rates.ts';
import type { FairQueue, Task } from '../pacing/fair-queue.ts';
import { remoteAddressOf } from '../proxies/trusted-proxies.ts';
import type { Principal } from '../users/principal.ts';
import { expectPresent } from '../users/view.ts';
import type { ClientRegister } from './client-register.ts';
import type { ConnectedClient, HandshakeRequest, Protocol, Session } from './socket-protocol.ts';

export interface HandshakeContext {
  readonly clients: ClientRegister;
  readonly plain: Protocol;
  readonly v1: Protocol;
  readonly queue: FairQueue;
  readonly log: Log;
  readonly originOf: (principal: Principal, remoteAddress: string) => Origin;
}

/**
 * Begins a WebSocket handshake. Errors: `upgrade-required`, `bad-request`, `too-many-clients`, `unavailable`. Later errors are sent to the
 * client.
 */
export function beginHandshake(
  context: HandshakeContext,
  response: HttpResponse,
  request: HttpRequest,
  principal: Principal,
  socketContext: us_socket_context_t,
): void {
  expectHandshake(request);
  const remoteAddress = remoteAddressOf(response);
  context.clients.takePlace(remoteAddress, principal);
  const handshakeRequest = { principal, origin: context.originOf(principal, remoteAddress), remoteAddress };
  const handshake = new Handshake(context, response, request, handshakeRequest, socketContext);
  const waitMs = context.clients.waitMs(handshake.share);
  if (waitMs > 0) setTimeout(() => context.queue.add(handshake), waitMs);
  else context.queue.do(handshake);
}

class Handshake implements Task {
  readonly share: string;
  readonly line = undefined;
  readonly #context: HandshakeContext;
  readonly #exchange: Exchange;
  readonly #handshakeRequest: HandshakeRequest;
  readonly #socketContext: us_socket_context_t;
  readonly #protocol: Protocol;
  readonly #query: string;
  readonly #key: string;
  readonly #extensions: string;
  readonly #accept: string;
  readonly #browser: string;
  #session: Session | undefined = undefined;

  constructor(
    context: HandshakeContext,
    response: HttpResponse,
    request: HttpRequest,
    handshakeRequest: HandshakeRequest,
    socketContext: us_socket_context_t,
  ) {
    const { v1, plain } = context;
    this.share = shareOf(handshakeRequest.principal, handshakeRequest.remoteAddress);
    this.#context = context;
    this.#exchange = keepResponse(response);
    this.#handshakeRequest = handshakeRequest;
    this.#socketContext = socketContext;
    const [offered = ''] = joinedHeaders(request, 'sec-websocket-protocol');
    this.#protocol = offered.split(',').some((name) => name.trim() === v1.subprotocol) ? v1 : plain;
    this.#query = request.getQuery() ?? '';
    this.#key = request.getHeader('sec-websocket-key');
    this.#extensions = request.getHeader('sec-websocket-extensions');
    this.#accept = acceptOf(request);
    this.#browser = browserName(request.getHeader('user-agent'));
  }

  advance(endMs: number): boolean {
    const { clients, log } = this.#context;
    const { remoteAddress, principal } = this.#handshakeRequest;
    if (this.#exchange.isAborted) this.#session?.close();
    else {
      try {
        clients.checkOpen(); // a shutdown would cut the new socket without a close frame
        expectPresent(principal);
        if (this.#prepare(endMs)) return true;
        this.#exchange.upgrade(() => this.#upgrade(this.#session!));
      } catch (error) {
        this.#session?.close();
        this.#exchange.fail(asHubError(error, log), acceptsJson(this.#accept));
      }
    }
    clients.givePlaceBack(remoteAddress, principal);
    return false;
  }

  /** Creates the session and prepares it until `endMs`. Returns whether the handshake has to be continued later. Errors: `bad-request`. */
  #prepare(endMs: number): boolean {
    this.#session ??= this.#protocol.accept(this.#handshakeRequest, this.#query);
    return this.#session.prepare(endMs) || !canUpgrade();
  }

  #upgrade(session: Session): void {
    const { remoteAddress, principal } = this.#handshakeRequest;
    const { name, subprotocol } = this.#protocol;
    const id = this.#context.clients.newId();
    const client = {
      ...{ id, remoteAddress, protocol: name, since: wallClock.pin(wallClock.now()), principal, session },
      ...{ name: nameIn(this.#query), browser: this.#browser },
    };
    const { response } = this.#exchange;
    response.upgrade<ConnectedClient>(client, this.#key, subprotocol, this.#extensions, this.#socketContext);
  }
}

/**
 * Returns the name that a client gives itself, as in `/ws?name=door-tablet`; an empty string if there is no name, or none that can be
 * shown.
 */
function nameIn(query: string): string {
  if (!query.includes('name=')) return '';
  const name = new URLSearchParams(query).get('name') ?? '';
  return /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,39}$/u.test(name) ? name : '';
}

/**
 * The headers of a handshake, with the checks of their values and the errors for requests that fail them (RFC 6455 sections 4.2.1 and 4.4).
 */
const fields: readonly (readonly [
  name: string,
  isRight: (value: string) => boolean,
  expected: string,
  code: 'upgrade-required' | 'bad-request',
])[] = [
  ['Upgrade', (value) => lists(value, 'websocket'), 'websocket', 'upgrade-required'],
  ['Connection', (value) => lists(value, 'upgrade'), 'Upgrade', 'upgrade-required'],
  ['Sec-WebSocket-Version', (value) => value === '13', '13', 'upgrade-required'],
  ['Sec-WebSocket-Key', (value) => /^[A-Za-z\d+/]{22}==$/.test(value), 'the base64 text of 16 bytes', 'bad-request'],
  ['Content-Length', (value) => value === '' || Number(value) === 0, 'no body', 'bad-request'],
  ['Transfer-Encoding', (value) => value === '', 'no body', 'bad-request'],
];
const names = fields.map(([name]) => name.toLowerCase());

/**
 * Returns the error for a request to `/ws` that uWebSockets.js does not recognize as a handshake, for example because the key has the wrong
 * length.
 */
export function whyNoHandshake(request: HttpRequest): HubError {
  try {
    if (request.getHeader('sec-websocket-key') !== '') expectHandshake(request);
  } catch (error) {
    return error as HubError;
  }
  return new HubError('upgrade-required', '/ws: expected a WebSocket handshake, got plain HTTP');
}

/** Checks that a request is a handshake. Errors: `upgrade-required` for any other request; `bad-request` if the handshake is invalid. */
function expectHandshake(request: HttpRequest): void {
  const values = joinedHeaders(request, ...names);
  for (const [index, [name, isRight, expected, code]] of fields.entries()) {
    const value = values[index]!;
    if (isRight(value)) continue;
    throw new HubError(code, `${name}: expected ${expected}, got ${value === '' ? 'nothing' : `"${value}"`}`);
  }
}
