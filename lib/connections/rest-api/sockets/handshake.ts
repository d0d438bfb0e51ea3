// The handshake of a WebSocket. It is answered when the session is ready. By then its filters have been compiled and asked about all
// parameters, in turn with what other clients ask for.

import { HubError } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import { canUpgrade } from '../../../net/late-upgrade.ts';
import type { HttpRequest, HttpResponse, us_socket_context_t } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { acceptsJson } from '../http/answer/accept.ts';
import { type Exchange, keepResponse } from '../http/exchange.ts';
import { asHubError } from '../input/fault-gate.ts';
import { remoteAddress } from '../limits/remote-address.ts';
import { shareOf } from '../limits/share.ts';
import type { Task, TaskQueue } from '../pacing/work-queue.ts';
import { expectPresent } from '../users/present.ts';
import type { Visitor } from '../users/visitor.ts';
import type { ClientRegister } from './client-register.ts';
import type { Protocol } from './protocol.ts';
import type { ConnectedClient, Session } from './session.ts';

export interface HandshakeContext {
  readonly clients: ClientRegister;
  readonly plain: Protocol;
  readonly v1: Protocol;
  readonly tasks: TaskQueue;
  readonly log: Log;
  readonly originOf: (visitor: Visitor, address: string) => Origin;
}

/**
 * Begins the handshake that a request asks for. Errors: `upgrade-required`, `too-many-clients`, `unavailable`. Other mistakes are answered
 * later.
 */
export function beginHandshake(
  { clients, plain, v1, tasks, log, originOf }: HandshakeContext,
  response: HttpResponse,
  request: HttpRequest,
  visitor: Visitor,
  socketContext: us_socket_context_t,
): void {
  checkVersion(request);
  const address = remoteAddress(response);
  clients.takePlace(address, visitor);
  const protocol = offers(request, v1.subprotocol) ? v1 : plain;
  const comer = { visitor, origin: originOf(visitor, address), address };
  const query = request.getQuery() ?? '';
  const key = request.getHeader('sec-websocket-key');
  const extensions = request.getHeader('sec-websocket-extensions');
  const asJson = acceptsJson(request.getHeader('accept'));
  const exchange = keepResponse(response);
  const handshake = new Handshake({
    share: shareOf(visitor, address),
    exchange,
    checkOpen() {
      clients.checkOpen();
      expectPresent(visitor);
    },
    begin: () => protocol.accept(comer, query),
    upgrade(session) {
      const id = clients.newId();
      const client = { id, address, protocol: protocol.name, since: Date.now(), visitor, session };
      response.upgrade<ConnectedClient>(client, key, protocol.subprotocol, extensions, socketContext);
    },
    refuse: (error) => exchange.fail(asHubError(error, log), asJson),
    end: () => clients.givePlaceBack(address, visitor),
  });
  tasks.do(handshake);
}

interface HandshakeOptions {
  /** Whose turn it takes. */
  readonly share: string;
  readonly exchange: Exchange;
  /** Throws when the server stops: the socket would be cut with it, without a goodbye. Errors: `unavailable`. */
  checkOpen(): void;
  /** Begins its session. Errors: `bad-request`. */
  begin(): Session;
  /** Answers the handshake with the session. */
  upgrade(session: Session): void;
  /** Answers what was thrown. */
  refuse(error: unknown): void;
  /** Is called when the handshake is over. */
  end(): void;
}

class Handshake implements Task {
  readonly share: string;
  readonly #options: HandshakeOptions;
  #session: Session | undefined = undefined;

  constructor(options: HandshakeOptions) {
    this.share = options.share;
    this.#options = options;
  }

  advance(endMs: number): boolean {
    const { exchange, checkOpen, upgrade, refuse, end } = this.#options;
    if (exchange.isAborted) this.#session?.close();
    else {
      try {
        checkOpen();
        if (this.#prepare(endMs)) return true;
        exchange.upgrade(() => upgrade(this.#session!));
      } catch (error) {
        this.#session?.close();
        refuse(error);
      }
    }
    end();
    return false;
  }

  #prepare(endMs: number): boolean {
    this.#session ??= this.#options.begin();
    return this.#session.prepare(endMs) || !canUpgrade();
  }
}

/** Checks that a request is a handshake as the server speaks it (RFC 6455 sections 4.2.1 and 4.4). Errors: `upgrade-required`. */
function checkVersion(request: HttpRequest): void {
  const check = (name: string, expected: string) => {
    const value = request.getHeader(name.toLowerCase());
    if (listOf(value).some((item) => item.toLowerCase() === expected)) return;
    const got = value === '' ? 'nothing' : `"${value}"`;
    throw new HubError('upgrade-required', `${name}: expected ${expected}, got ${got}`);
  };
  check('Upgrade', 'websocket');
  check('Sec-WebSocket-Version', '13');
}

function offers(request: HttpRequest, subprotocol: string): boolean {
  return listOf(request.getHeader('sec-websocket-protocol')).includes(subprotocol);
}

function listOf(value: string): string[] {
  return value.split(',').map((item) => item.trim());
}
