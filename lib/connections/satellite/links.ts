// The links to surfaces, over TCP and over WebSocket. Received data is read in small parts, in turns with the other links of the
// connection. Data that a surface does not read waits in a bounded queue.

import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { PacedReader, type ReadingRounds } from '../../device/paced-reader.ts';
import type { Place } from '../../device/ports.ts';
import { HubError, messageOf } from '../../model/error.ts';
import { maxLineBytes } from './lines.ts';

/** The maximum number of links in a connection. */
export const maxLinks = 128;
/** The number of unsent bytes above which a link receives no further images until the surface has read all of them. */
export const maxQueuedBytes = 262_144;
/** The number of unsent bytes above which a link is closed. */
export const maxUnsentBytes = 1_048_576;
/** The time within which a WebSocket handshake must be completed, in milliseconds. */
const handshakeMs = 5000;
/** How long a link that is closing may continue to send its remaining data, in milliseconds. */
const endingMs = 1000;

export interface Link {
  /** The address and port of the surface: `10.0.0.5:50123`. */
  readonly name: string;
  readonly unsentBytes: number;
  /**
   * Sends a line, of which each part is a string or is in UTF-8. Closes the link if more than `maxUnsentBytes` are unsent. The link reads
   * the bytes later, so they must not change.
   */
  send(...line: readonly (string | Buffer)[]): void;
  /** Closes the link. `closed` is called afterwards. */
  end(): void;
}

export interface LinkEvents {
  received(bytes: Buffer): void;
  /** Called when the link has sent all data after its queue was full. */
  drained(): void;
  /** Called when the link is closed. No event follows. */
  closed(): void;
}

export interface PortOptions {
  readonly place: Place;
  readonly rounds: ReadingRounds;
  /** Returns the reason why a surface must not connect from an address. Returns undefined if the surface may connect. */
  whyNot(address: string): string | undefined;
  refuse(reason: string): void;
  accept(link: Link): LinkEvents;
}

/** A port on which surfaces connect to the hub. */
export interface SurfacePort {
  readonly port: number;
  /** Closes all links and the port. The promise resolves when the port is free. */
  close(): Promise<void>;
}

/** Listens for surfaces over TCP. Resolves when the port is open. Errors: `cannot-start`. */
export async function listenTcp(options: PortOptions): Promise<SurfacePort> {
  const sockets = new Set<Socket>();
  const server = createServer(
    { noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000, highWaterMark: 65_536 },
    (socket) => {
      if (!admits(options, socket)) return;
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      takeSocket(socket, options);
    },
  );
  server.maxConnections = 2 * maxLinks;
  await listenOn(server, options.place, 'listen');
  return {
    port: portOf(server),
    async close() {
      for (const socket of sockets) socket.destroy();
      await closeServer(server);
    },
  };
}

/** Listens for surfaces over WebSocket. Resolves when the port is open. Errors: `cannot-start`. */
export async function listenWebSocket(options: PortOptions): Promise<SurfacePort> {
  const http = createHttpServer(
    { headersTimeout: handshakeMs, requestTimeout: handshakeMs, connectionsCheckingInterval: 1000, noDelay: true },
    (_, response) => {
      response.writeHead(426, { 'content-type': 'text/plain', connection: 'close' });
      response.end('This port is for surfaces that speak the Companion Satellite protocol over WebSocket.\n');
    },
  );
  const server = new WebSocketServer({
    server: http,
    maxPayload: maxLineBytes,
    perMessageDeflate: false,
    verifyClient: (about: { req: IncomingMessage }) => {
      const isPage = about.req.headers.origin !== undefined;
      if (isPage) options.refuse('expected a surface, got a web page in a browser');
      return !isPage;
    },
  });
  http.on('connection', (socket) => admits(options, socket));
  server.on('error', () => {}); // `listenOn` reports it
  server.on('connection', (socket, request) => {
    const { remoteAddress = '', remotePort = 0 } = request.socket;
    takeWebSocket(socket, `${remoteAddress}:${remotePort}`, options);
  });
  http.maxConnections = 2 * maxLinks;
  await listenOn(http, options.place, 'webSocketListen');
  return {
    port: portOf(http),
    async close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
      http.closeAllConnections();
      await closeServer(http);
    },
  };
}

function admits({ whyNot, refuse }: PortOptions, socket: Socket): boolean {
  const reason = whyNot(socket.remoteAddress ?? '');
  if (reason === undefined) return true;
  refuse(reason);
  socket.on('error', () => {});
  socket.destroy();
  return false;
}

function takeSocket(socket: Socket, { accept, rounds }: PortOptions): void {
  const { remoteAddress = '', remotePort = 0 } = socket;
  const link: Link = {
    name: `${remoteAddress}:${remotePort}`,
    get unsentBytes() {
      return socket.writableLength;
    },
    send: (...line) => {
      if (socket.destroyed || !socket.writable) return;
      if (socket.writableLength > maxUnsentBytes) {
        socket.destroy();
        return;
      }
      if (socket.writableCorked === 0) {
        socket.cork(); // one call of the system sends all lines of a turn
        queueMicrotask(() => socket.uncork());
      }
      for (const part of line) socket.write(part);
    },
    end: () => {
      socket.destroySoon();
      setTimeout(() => socket.destroy(), endingMs).unref(); // the peer may never read the rest
    },
  };
  const events = accept(link);
  const reader = new PacedReader(rounds, {
    take: (bytes) => events.received(bytes),
    pause: (isPaused) => void (isPaused ? socket.pause() : socket.resume()),
    closed: () => events.closed(),
  });
  socket.on('error', () => socket.destroy());
  socket.on('drain', () => events.drained());
  socket.on('data', (bytes: Buffer) => reader.push(bytes));
  socket.on('close', () => reader.close());
}

function takeWebSocket(socket: WebSocket, name: string, { accept, rounds }: PortOptions): void {
  const sent = () => {
    if (isFull && socket.bufferedAmount === 0) {
      isFull = false;
      events.drained();
    }
  };
  let isFull = false;
  const link: Link = {
    name,
    get unsentBytes() {
      return socket.bufferedAmount;
    },
    send: (...line) => {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > maxUnsentBytes) socket.terminate();
      else {
        const last = line.length - 1;
        for (const [index, part] of line.entries()) socket.send(part, { binary: false, fin: index === last }, sent);
      }
      isFull ||= socket.bufferedAmount > maxQueuedBytes;
    },
    end: () => {
      socket.close();
      setTimeout(() => socket.terminate(), endingMs).unref(); // the peer may never answer
    },
  };
  const events = accept(link);
  const reader = new PacedReader(rounds, {
    take: (bytes) => events.received(bytes),
    pause: (isPaused) => void (isPaused ? socket.pause() : socket.resume()),
    closed: () => events.closed(),
  });
  socket.on('error', () => socket.terminate());
  socket.on('message', (data) => {
    const bytes = data as Buffer;
    reader.push(bytes.at(-1) === 10 ? bytes : Buffer.concat([bytes, Buffer.from('\n')]));
  });
  socket.on('close', () => reader.close());
}

function listenOn(server: Server, { host, port }: Place, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(new HubError('cannot-start', `${setting}: port ${port}: ${messageOf(error)}`)),
    );
    server.listen({ host, port, exclusive: true }, () => {
      server.on('error', () => {});
      resolve();
    });
  });
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** The maximum number of buffers that wait for their next use. */
const maxSpareBuffers = 128;

/**
 * Provides buffers for bitmaps, and reuses them after they have been sent. A new buffer for each bitmap would cost as much time as half of
 * its drawing.
 */
export class ReusedBuffers {
  readonly #spare = new Map<number, Buffer[]>();
  #spareCount = 0;
  #taken: [Link, Buffer][] = [];

  /** Returns a buffer of this length, which must be sent on the link in this turn. */
  take(link: Link, length: number): Buffer {
    const spare = this.#spare.get(length)?.pop();
    if (spare !== undefined) this.#spareCount--;
    const buffer = spare ?? Buffer.allocUnsafeSlow(length);
    this.#taken.push([link, buffer]);
    return buffer;
  }

  /** Takes back the buffers of earlier turns, except those on links that still have unsent data. */
  takeBack(): void {
    for (const [link, buffer] of this.#taken) {
      if (link.unsentBytes > 0 || this.#spareCount >= maxSpareBuffers) continue;
      const spare = this.#spare.get(buffer.length) ?? [];
      this.#spare.set(buffer.length, spare);
      spare.push(buffer);
      this.#spareCount++;
    }
    this.#taken = [];
  }
}
