// The WebSocket endpoint `/ws`. Clients speak one of two protocols; a single fan-out delivers the changes to all clients.

import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import type { TemplatedApp, WebSocketBehavior } from '../../../net/uws.ts';
import { closeCodes } from '../../../wire/protocol.ts';
import type { LostFires } from '../../mirroring.ts';
import { bothOf, createConfiguredFilter } from '../filters/filter.ts';
import type { Router } from '../http/router.ts';
import { type LimitName, limits } from '../limits/client-limits.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import type { Departure } from '../users/directory.ts';
import type { Principal } from '../users/principal.ts';
import { ClientRegister } from './client-register.ts';
import { FanOut } from './fan-out.ts';
import { beginHandshake } from './handshake.ts';
import { Intake } from './intake.ts';
import { servePlain } from './plain/plain-protocol.ts';
import type { ConnectedClient, ProtocolContext, Session } from './socket-protocol.ts';
import { UnreadWatch } from './user-shares.ts';
import { serveV1 } from './v1/v1-protocol.ts';

export interface Sockets {
  /** Serves `/ws` on an app; returns a function that checks whether a socket of the app is open. */
  serve(app: TemplatedApp, admit: Router['admit']): () => boolean;
  readonly count: number;
  /** The protocols that clients may speak. */
  readonly protocols: readonly ConnectedClient['protocol'][];
  readonly fanOut: Pick<FanOut, 'changes' | 'rounds' | 'lost'>;
  clients(): Iterable<ConnectedClient>;
  /** Sends a change to every client that subscribes to the changed parameter. */
  readonly notify: (change: Change) => void;
  /** Announces a new parameter to the `patchbay.v1` clients that subscribe to it. */
  readonly declare: (parameter: Parameter) => void;
  /** Forgets a parameter that the hub has removed. */
  readonly forget: (parameter: Parameter) => void;
  /** Reports to clients which parameters have become stale or fresh again. */
  readonly reportStale: (parameters: Iterable<Parameter>) => void;
  /** Reports to clients that firings from other hubs were lost. */
  readonly reportLost: (fires: LostFires) => void;
  /** Closes the sockets of principals that have lost access; the close code states whether the client may return. */
  dismiss(departures: readonly Departure[]): void;
  /** Closes every client (close code 1001) and refuses new handshakes; returns whether there were any clients or handshakes. */
  close(): boolean;
}

interface SocketsOptions extends Omit<ProtocolContext, 'fanOut' | 'notePublished' | 'boundOf' | 'resume'> {
  readonly originOf: (principal: Principal, remoteAddress: string) => Origin;
  /** Called when a socket opens (1) or closes (-1). */
  readonly countSocket: (step: 1 | -1) => void;
}

/** Creates the server for `/ws`, which serves one or more apps. */
export function serveSockets({ originOf, countSocket, ...options }: SocketsOptions): Sockets {
  const { settings, log, hits, round, queue } = options;
  const fanOut = new FanOut();
  const configured = createConfiguredFilter(settings.webSocketFilters);
  const boundOf = ({ rights }: Principal) => (rights === undefined ? configured : bothOf(configured, rights.reads));
  const intake = new Intake(round, queue, hits, settings);
  const clients = new ClientRegister(settings);
  const unread = new UnreadWatch(clients, settings.limits, hits);
  const notePublished = (characters: number) => unread.published(characters);
  const resume = (session: Session) => intake.resume(session);
  const context = { ...options, fanOut, notePublished, boundOf, resume };
  const plain = servePlain(context);
  const v1 = serveV1(context);
  const heartbeat = new Heartbeat(clients);
  const handshake = { clients, plain, v1, queue, log, originOf };

  return {
    serve(app, admit) {
      let openSockets = 0;
      app.ws<ConnectedClient>('/ws', {
        maxPayloadLength: limits.frameBytes.default,
        maxBackpressure: settings.limits.unreadBytes, // beyond this limit, uWebSockets.js drops frames and calls `dropped`
        idleTimeout: limits.idleMs.default / 1000,
        sendPingsAutomatically: false, // uWebSockets.js would ping so late that the client would have only 16 s to answer
        upgrade(response, request, socketContext) {
          admit(response, request, { act: 'write', need: 'entry' }, (asked, kept, principal) =>
            beginHandshake(handshake, asked, kept, principal, socketContext),
          );
        },
        ...handlersOf(clients, intake, hits, (step) => {
          openSockets += step;
          countSocket(step);
          if (step < 0) return;
          unread.added(clients.size + 1);
          heartbeat.start();
        }),
      });
      return () => openSockets > 0;
    },
    get count() {
      return clients.size;
    },
    protocols: [plain.name, v1.name],
    fanOut,
    clients: () => clients.clients(),
    notify: fanOut.notify,
    declare: (parameter) => v1.declare(parameter),
    forget: (parameter) => v1.forget(parameter, fanOut.forget(parameter)),
    reportStale: v1.reportStale,
    reportLost: v1.reportLost,
    dismiss: (departures) => dismiss(clients, departures),
    close() {
      const hadClients = !clients.isEmpty;
      clients.close();
      intake.stop();
      unread.stop();
      heartbeat.stop();
      plain.close();
      v1.close();
      return hadClients;
    },
  };
}

/** Closes the sockets of principals that have lost access. */
function dismiss(clients: ClientRegister, departures: readonly Departure[]): void {
  const mayReturn = new Map<Principal, boolean>(departures.map((one) => [one.signedIn, one.mayReturn]));
  for (const { principal, session } of [...clients.clients()]) {
    const returns = mayReturn.get(principal);
    if (returns === true) session.end(closeCodes.rightsChanged, 'your rights have changed');
    else if (returns === false) session.end(closeCodes.signedOut, 'you are signed out');
  }
}

/** Returns the WebSocket handlers for an app; `count` is called when a socket opens (1) or closes (-1). */
function handlersOf(
  clients: ClientRegister,
  intake: Intake,
  hits: LimitHits,
  count: (step: 1 | -1) => void,
): Partial<WebSocketBehavior<ConnectedClient>> {
  return {
    open(socket) {
      const client = socket.getUserData();
      count(1);
      clients.add(client);
      client.session.open(socket);
    },
    message: (socket, message, isBinary) => intake.message(socket, message, isBinary),
    ping: (socket, message) => intake.control(socket, message.byteLength),
    pong: (socket, message) => intake.pong(socket, message.byteLength),
    dropped: (socket) => socket.getUserData().session.dropped(),
    drain: (socket) => socket.getUserData().session.drained(),
    close(socket, code, reason) {
      const client = socket.getUserData();
      count(-1);
      clients.remove(client);
      const limit = limitOfCut(code, reason);
      if (limit !== undefined || client.isCut || code === closeCodes.flooding || code === closeCodes.stalled)
        clients.noteGivenUp(client);
      if (limit !== undefined) hits.add(limit, client.remoteAddress);
      intake.forget(client.session);
      client.session.close();
    },
  };
}

/** The close code that is reported for a socket that ended without a close frame (RFC 6455 section 7.1.5). No client can send this code. */
const cutCode = 1006;

/** The limits, keyed by the reasons that the uWebSockets.js binary reports when it closes a socket. */
export const limitsByReason: ReadonlyMap<string, LimitName> = new Map([
  ['Received too big message', 'frameBytes'],
  ['WebSocket timed out from inactivity', 'idleMs'],
]);

/**
 * Returns the limit whose violation made uWebSockets.js cut a socket; undefined if the socket was closed for another reason. uWebSockets.js
 * reports the reason as a string.
 */
export function limitOfCut(code: number, reason: ArrayBuffer): LimitName | undefined {
  return code === cutCode ? limitsByReason.get(Buffer.from(reason).toString()) : undefined;
}

// Pings every client in turn, silent or not, so that no live client is silent for long, and no proxy in between drops an unused socket.
// uWebSockets.js cuts off a client that is silent for longer than `idleMs`.

/** The number of beats within which each client is pinged about once. */
const beatsPerRound = 30;

interface Clients {
  readonly size: number;
  clients(): Iterable<ConnectedClient>;
}

export class Heartbeat {
  readonly #clients: Clients;
  readonly #beatMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** The clients that have not been pinged in this round; undefined if the first round has not begun. */
  #walk: Iterator<ConnectedClient> | undefined;
  #beat = 0;

  constructor(clients: Clients, beatMs = 1000) {
    this.#clients = clients;
    this.#beatMs = beatMs;
  }

  /** Starts the heartbeat if it is not running. Call this when a client connects. */
  start(): void {
    this.#timer ??= setInterval(() => this.#pingSome(), this.#beatMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#walk = undefined;
    this.#beat = 0;
  }

  /** Pings the next clients in the round. Clients that connect during a round come at its end, and may have to wait for the next round. */
  #pingSome(): void {
    const { size } = this.#clients;
    if (size === 0) {
      this.stop();
      return;
    }
    this.#beat = (this.#beat + 1) % beatsPerRound;
    if (this.#beat === 0) this.#walk = this.#clients.clients()[Symbol.iterator]();
    for (let left = Math.ceil(size / beatsPerRound); left > 0; left--) {
      const next = this.#walk?.next();
      if (next === undefined || next.done) return;
      next.value.session.ping();
    }
  }
}
