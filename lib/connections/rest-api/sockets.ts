// The plain realtime socket `/ws` (spec.md "Realtime socket", design.md section 6). Live clients hear what the fan-out
// publishes. A client that is behind, because it asked for a snapshot or reads too slowly, keeps one number: the revision
// up to which it has seen everything; it is sent the newest values since, as fast as it reads, and is live again.

import { describe, HubError } from '../../model/error.ts';
import type { Change, Origin, Parameter } from '../../model/parameter.ts';
import type { HttpResponse, TemplatedApp, WebSocket } from '../../net/uws.ts';
import type { HubPort, Log } from '../connection.ts';
import { asHubError } from './exchange.ts';
import { FanOut } from './fan-out.ts';
import { createConfiguredFilter, createFilter } from './filter.ts';
import { createOutbox } from './outbox.ts';
import { encodeFrame, type PlainGroup, PlainGroups } from './plain-group.ts';
import type { Router } from './router.ts';
import type { Settings } from './settings.ts';

/** Longer messages are answered with an error; beyond the hard limit the socket is closed. */
const maxMessageBytes = 64 * 1024;
const hardMessageBytes = 4 * 1024 * 1024;
/** What one client may have unread in the hub before it is behind. */
const maxUnreadBytes = 1024 * 1024;
/** How much of what it missed a client that is behind is sent ahead of its reading. */
const catchUpBytes = 256 * 1024;
const goingAway = 1001;

interface Client {
  readonly key: string;
  readonly group: PlainGroup;
  readonly origin: Origin;
  /** Everything up to this revision has been sent; undefined while the client is live. */
  seen: number | undefined;
}

type Socket = WebSocket<Client>;

export interface Sockets {
  readonly count: number;
  /** Sends a change to every client whose filter it matches. */
  tell(change: Change): void;
  /** Forgets a parameter that is no more. */
  forget(parameter: Parameter): void;
  /** Says goodbye to every client (close code 1001). */
  close(): void;
}

interface SocketsOptions {
  readonly app: TemplatedApp;
  readonly hub: HubPort;
  readonly settings: Settings;
  readonly log: Log;
  readonly admit: Router['admit'];
  readonly originOf: (response: HttpResponse) => Origin;
}

/** Serves `/ws` on an app. */
export function serveSockets({ app, hub, settings, log, admit, originOf }: SocketsOptions): Sockets {
  const sockets = new Set<Socket>();
  const outbox = createOutbox((topic, frame) => app.publish(topic, frame, false, false));
  const fanOut = new FanOut();
  const groups = new PlainGroups(fanOut, createConfiguredFilter(settings.webSocketFilters), outbox.put);
  const round = createRound(hub);

  const goLive = (socket: Socket, client: Client) => {
    client.seen = undefined;
    socket.subscribe(client.group.topic);
  };

  const catchUp = (socket: Socket) => {
    const client = socket.getUserData();
    if (client.seen === undefined || socket.isSubscribed(client.group.topic)) return;
    outbox.flush(); // what is published after the walk must be newer than what the walk sends
    for (const { address, value, lastChange } of hub.changedSince(client.seen)) {
      if (socket.getBufferedAmount() > catchUpBytes) return;
      if (value !== undefined && client.group.matches(address)) socket.send(encodeFrame(address, value), false, false);
      client.seen = lastChange!.revision;
    }
    goLive(socket, client);
  };

  app.ws<Client>('/ws', {
    maxPayloadLength: hardMessageBytes,
    maxBackpressure: maxUnreadBytes,
    idleTimeout: 120,
    sendPingsAutomatically: true,
    upgrade(response, request, context) {
      admit(response, request, true, () => {
        if (sockets.size >= settings.maxClients)
          throw new HubError(
            'too-many-clients',
            `expected at most ${settings.maxClients} WebSocket clients, all are there`,
          );
        const query = new URLSearchParams(request.getQuery() ?? '');
        const patterns = query.getAll('filter').sort();
        const filter = createFilter(patterns);
        const key = JSON.stringify(patterns);
        const client = {
          key,
          group: groups.join(key, filter),
          origin: originOf(response),
          seen: isTrue(query.get('snapshot')) ? 0 : undefined,
        };
        response.upgrade(
          client,
          request.getHeader('sec-websocket-key'),
          '',
          request.getHeader('sec-websocket-extensions'),
          context,
        );
      });
    },
    open(socket) {
      sockets.add(socket);
      const client = socket.getUserData();
      if (client.seen === undefined) goLive(socket, client);
      else socket.cork(() => catchUp(socket));
    },
    message(socket, message, isBinary) {
      receive(hub, log, socket, message, isBinary);
    },
    dropped(socket) {
      const client = socket.getUserData();
      if (client.seen !== undefined) return;
      client.seen = round.safeRevision();
      setImmediate(() => {
        if (!sockets.has(socket)) return;
        socket.unsubscribe(client.group.topic); // not in this call: the server is sending to the topic's members
        catchUp(socket);
      });
    },
    drain(socket) {
      if (socket.getBufferedAmount() < catchUpBytes / 2) catchUp(socket);
    },
    close(socket) {
      sockets.delete(socket);
      groups.leave(socket.getUserData().key);
    },
  });

  return {
    get count() {
      return sockets.size;
    },
    tell(change) {
      round.note(change.revision);
      fanOut.tell(change);
    },
    forget: (parameter) => fanOut.forget(parameter),
    close() {
      outbox.flush();
      for (const socket of [...sockets]) socket.end(goingAway, 'the hub stops');
    },
  };
}

/** Takes one message of a client, `{"p":"desk/lamp","v":true}`; a mistake is answered and the socket stays open. */
function receive(hub: HubPort, log: Log, socket: Socket, message: ArrayBuffer, isBinary: boolean): void {
  let address: string | undefined;
  try {
    if (isBinary) throw new HubError('bad-request', 'expected a text frame with {"p":…,"v":…}, got a binary frame');
    if (message.byteLength > maxMessageBytes)
      throw new HubError('bad-request', `expected at most ${maxMessageBytes} bytes, got ${message.byteLength}`);
    const text = Buffer.from(message).toString();
    const simple = simpleMessage.exec(text);
    const { p, v } = simple === null ? parse(text) : { p: simple[1], v: simple[2] };
    if (typeof p !== 'string') throw new HubError('bad-request', `p: expected an address, got ${describe(p)}`);
    address = p;
    if (v === undefined) throw new HubError('bad-request', 'v: expected a value, got nothing');
    hub.write(p, v, socket.getUserData().origin);
  } catch (error) {
    socket.send(JSON.stringify({ error: asHubError(error, log).message, p: address }), false, false);
  }
}

/** What nearly every message is: an address and a text, neither with escapes; the rest goes to the JSON parser. */
const simpleMessage = /^\{"p":"([^"\\\p{Cc}]*)","v":"([^"\\\p{Cc}]*)"\}$/u;

function parse(text: string): { p?: unknown; v?: unknown } {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new HubError('bad-request', `expected JSON {"p":…,"v":…}, got ${(error as Error).message}`);
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new HubError('bad-request', `expected an object {"p":…,"v":…}, got ${describe(data)}`);
  return data;
}

/**
 * Knows a revision up to which every frame has left: the server sends what was published at the end of a round of the
 * event loop, so what it drops was published in this round or the one before.
 */
function createRound(hub: HubPort): { note(revision: number): void; safeRevision(): number } {
  let current: number | undefined;
  let previous: number | undefined;
  return {
    note(revision) {
      if (current !== undefined) return;
      current = revision - 1;
      setImmediate(() => {
        previous = current;
        current = undefined;
      });
    },
    safeRevision: () => Math.min(previous ?? hub.revision, current ?? hub.revision),
  };
}

function isTrue(text: string | null): boolean {
  return text === 'true' || text === '1';
}
