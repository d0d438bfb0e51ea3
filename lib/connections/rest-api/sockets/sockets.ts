// The WebSocket `/ws` (spec.md "Realtime socket", design.md section 6): who is let in, and which of the two protocols a client
// speaks. All of them hear what one fan-out tells.

import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t } from '../../../net/uws.ts';
import { protocolName } from '../../../wire/protocol.ts';
import { createConfiguredFilter } from '../filters/filter.ts';
import { acceptsJson } from '../http/accept.ts';
import { keepResponse } from '../http/exchange.ts';
import type { Router } from '../http/router.ts';
import { asHubError } from '../input/fault-gate.ts';
import { countSocketGone } from '../limits/connection-count.ts';
import { LimitError } from '../limits/limit-error.ts';
import { limits } from '../limits/limits.ts';
import { NetworkCounts, networkOf } from '../limits/network.ts';
import { remoteAddress } from '../limits/remote-address.ts';
import { FanOut } from './fan-out.ts';
import { Handshake } from './handshake.ts';
import { Intake } from './intake.ts';
import { servePlain } from './plain/client.ts';
import type { ProtocolContext } from './protocol.ts';
import type { ConnectedClient, Session, Tenant } from './session.ts';
import { serveV1 } from './v1/session.ts';

/** Why the server has cut a socket whose message is longer than it may be. */
const tooBigReason = 'Received too big message';

export interface Sockets {
  /** Serves `/ws` on an app as well; what it returns tells whether a socket of the app is open. */
  serve(app: TemplatedApp, admit: Router['admit']): () => boolean;
  readonly count: number;
  clients(): Iterable<ConnectedClient>;
  /** Sends a change to every client whose filter it matches. */
  tell(change: Change): void;
  /** Tells of a parameter that is new. */
  declare(parameter: Parameter): void;
  /** Forgets a parameter that is no more. */
  forget(parameter: Parameter): void;
  /** Says goodbye to every client (close code 1001). */
  close(): void;
}

interface SocketsOptions extends Omit<ProtocolContext, 'fanOut' | 'bound'> {
  readonly originOf: (response: HttpResponse) => Origin;
}

/** Creates what is served at `/ws`, on one app or several. */
export function serveSockets({ originOf, ...options }: SocketsOptions): Sockets {
  const { settings, log, hits, pace, tasks } = options;
  const intake = new Intake(pace, hits, settings);
  const fanOut = new FanOut();
  const context = { ...options, fanOut, bound: createConfiguredFilter(settings.webSocketFilters) };
  const plain = servePlain(context);
  const v1 = serveV1(context);
  /** With the clients bounded by `maxClients`. */
  const opening = new Set<Handshake>();
  const clients = new Map<Session, ConnectedClient>();
  const networks = new NetworkCounts();
  const tooManyOf = (address: string) =>
    `expected at most ${settings.limits.clientsPerAddress} WebSocket clients of ${networkOf(address)}, all are there`;
  let lastId = 0;

  const upgrade = (response: HttpResponse, request: HttpRequest, socketContext: us_socket_context_t) => {
    const expected = `expected at most ${settings.maxClients} WebSocket clients, all are there`;
    if (clients.size + opening.size >= settings.maxClients)
      throw new LimitError('clients', 'too-many-clients', expected);
    const address = remoteAddress(response);
    if (networks.of(address) >= settings.limits.clientsPerAddress)
      throw new LimitError('clientsPerAddress', 'too-many-clients', tooManyOf(address));
    const protocol = offers(request, v1.name) ? v1 : plain;
    const origin = originOf(response);
    const query = request.getQuery() ?? '';
    const key = request.getHeader('sec-websocket-key');
    const extensions = request.getHeader('sec-websocket-extensions');
    const asJson = acceptsJson(request.getHeader('accept'));
    const exchange = keepResponse(response);
    const handshake: Handshake = new Handshake({
      address,
      exchange,
      begin: () => protocol.accept(origin, address, query),
      upgrade(session) {
        const tenant = { session, address, protocol: protocol.name };
        response.upgrade<Tenant>(tenant, key, protocol.name, extensions, socketContext);
      },
      refuse(error) {
        exchange.fail(asHubError(error, log), asJson);
      },
      end() {
        opening.delete(handshake);
        networks.remove(address);
      },
    });
    opening.add(handshake);
    networks.add(address);
    tasks.do(handshake);
  };

  return {
    serve(app, admit) {
      let openSockets = 0;
      app.ws<Tenant>('/ws', {
        maxPayloadLength: limits.frameBytes.default,
        maxBackpressure: limits.unreadBytes.default, // what comes beyond is dropped, and the session is told,
        idleTimeout: limits.idleMs.default / 1000,
        sendPingsAutomatically: true,
        upgrade(response, request, socketContext) {
          admit(response, request, 'write', () => upgrade(response, request, socketContext));
        },
        open(socket) {
          const { session, address, protocol } = socket.getUserData();
          const name = protocol === v1.name ? protocolName : 'plain';
          openSockets++;
          networks.add(address);
          clients.set(session, { id: ++lastId, address, protocol: name, since: Date.now(), session });
          session.open(socket);
        },
        message: (socket, message, isBinary) => intake.message(socket, message, isBinary),
        ping: (socket, message) => intake.control(socket, message.byteLength),
        pong: (socket, message) => intake.control(socket, message.byteLength),
        dropped: (socket) => socket.getUserData().session.dropped(),
        drain: (socket) => socket.getUserData().session.drained(),
        close(socket, _code, reason) {
          const { session, address } = socket.getUserData();
          openSockets--;
          countSocketGone();
          networks.remove(address);
          if (textOf(reason) === tooBigReason) hits.add('frameBytes', address);
          clients.delete(session);
          intake.forget(session);
          session.close();
        },
      });
      return () => openSockets > 0;
    },
    get count() {
      return clients.size;
    },
    clients: () => clients.values(),
    tell(change) {
      plain.note(change);
      fanOut.tell(change);
    },
    declare: (parameter) => v1.declare(parameter),
    forget(parameter) {
      const channel = fanOut.forget(parameter);
      if (channel !== undefined) v1.forget(channel);
    },
    close() {
      plain.close();
      v1.close();
    },
  };
}

function textOf(bytes: ArrayBuffer): string {
  return bytes.byteLength === 0 ? '' : Buffer.from(bytes).toString();
}

function offers(request: HttpRequest, protocol: string): boolean {
  const offered = request.getHeader('sec-websocket-protocol');
  return offered !== '' && offered.split(',').some((name) => name.trim() === protocol);
}
