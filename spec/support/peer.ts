// A peer of a device connection: a TCP server of this process, at one port for all of its lives. What it says is written from the text of
// the maker's protocol alone.

import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface Peer {
  readonly port: number;
  /** All that was received, in Latin-1. */
  readonly received: string;
  /** Sends to all links. */
  send(text: string): void;
  /** Ends all links, and refuses others until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export interface PeerOptions {
  /** What it says to somebody who has just connected. */
  readonly greeting?: () => string;
  /** What ends a request. */
  readonly end: string;
  /** Where the end of a request stands, −1: nowhere; if omitted, where it is first. */
  readonly findEnd?: (unread: string) => number;
  /** Its answer to a request, without the end of the request; several are written one by one. */
  readonly answer: (request: string) => string | readonly string[] | undefined;
  /** Sends in pieces of so many bytes. */
  readonly pieceBytes?: number;
  /** Whether it keeps Nagle's algorithm: then a second small write waits until the first one is acknowledged. */
  readonly hasNagle?: boolean;
}

export async function startPeer(t: ExecutionContext, options: PeerOptions): Promise<Peer> {
  const links = new Set<Socket>();
  let received = '';
  let server: Server | undefined;
  let port = 0;
  const write = (socket: Socket, text: string) => {
    const bytes = Buffer.from(text, 'latin1');
    const { pieceBytes = bytes.length } = options;
    for (let at = 0; at < bytes.length; at += pieceBytes) socket.write(bytes.subarray(at, at + pieceBytes));
  };
  const serve = (socket: Socket) => {
    links.add(socket.setNoDelay(options.hasNagle !== true));
    let unread = '';
    socket.on('error', () => {});
    socket.on('close', () => links.delete(socket));
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      unread += bytes.toString('latin1');
      const find = options.findEnd ?? ((text: string) => text.indexOf(options.end));
      for (let at = find(unread); at >= 0; at = find(unread)) {
        const answer = options.answer(unread.slice(0, at));
        unread = unread.slice(at + options.end.length);
        for (const text of typeof answer === 'string' ? [answer] : (answer ?? [])) if (text !== '') write(socket, text);
      }
    });
    const greeting = options.greeting?.();
    if (greeting !== undefined) write(socket, greeting);
  };
  const stop = async () => {
    const ended = server;
    server = undefined;
    for (const link of links) link.destroy();
    if (ended !== undefined) await new Promise((resolve) => ended.close(resolve));
  };
  const start = async () => {
    server = createServer(serve).listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as { port: number }).port;
  };
  t.teardown(stop);
  await start();
  return {
    get port() {
      return port;
    },
    get received() {
      return received;
    },
    send: (text) => {
      for (const link of links) write(link, text);
    },
    stop,
    start,
  };
}
