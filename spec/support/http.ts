// Raw HTTP/1.1 over a socket, for requests that a well-behaved client would not send, and answers byte for byte.

import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { ExecutionContext } from 'ava';
import { Inbox, within } from './deadline.ts';

export interface Answer {
  readonly status: number;
  readonly reason: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly text: string;
}

export interface Wire {
  readonly socket: Socket;
  send(data: string | Uint8Array): void;
  /** The next answer; `isHead` when it answers HEAD, and has no body whatever its length says. */
  answer(options?: { isHead?: boolean }): Promise<Answer>;
  /** The next so many bytes. */
  take(bytes: number): Promise<Buffer>;
  /** Takes what has come and was not read. */
  rest(): Buffer;
  /** Resolves with what was left unread when the other side has closed. */
  closed(): Promise<Buffer>;
}

/** Opens a connection on which anything may be sent; with `ca`, the certificate that the server must show, TLS; `tls`: how. */
export async function openWire(
  t: ExecutionContext,
  port: number,
  ca?: string,
  tls: ConnectionOptions = {},
): Promise<Wire> {
  const socket = ca ? connectTls({ port, host: '127.0.0.1', ca, ...tls }) : connect(port, '127.0.0.1');
  socket.setNoDelay(); // as browsers do
  t.teardown(() => socket.destroy());
  socket.on('error', () => {}); // a reset is seen as a close
  let pieces: Buffer[] = [];
  let unreadBytes = 0;
  let isClosed = false;
  const wakes = new Inbox<true>();
  socket.on('data', (data) => {
    pieces.push(data);
    unreadBytes += data.length;
    wakes.put(true);
  });
  socket.on('close', () => {
    isClosed = true;
    wakes.put(true);
  });
  const event = ca ? 'secureConnect' : 'connect';
  const opening = new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('close', () => reject(new Error(`port ${port} was not reached`)));
  });
  await within(opening, `connecting to port ${port}`);

  const unread = (): Buffer => {
    if (pieces.length !== 1) pieces = [Buffer.concat(pieces)];
    return pieces[0]!;
  };
  const leave = (rest: Buffer) => {
    pieces = [rest];
    unreadBytes = rest.length;
  };
  const take = async <T>(read: () => { value: T; bytes: number } | undefined, what: string): Promise<T> => {
    for (;;) {
      const found = read();
      if (found) {
        leave(unread().subarray(found.bytes));
        return found.value;
      }
      if (isClosed) throw new Error(`${what}: the connection was closed, unread: ${unread().toString('latin1')}`);
      await wakes.next(what);
    }
  };
  const takeBytes = (bytes: number) =>
    take(() => (unreadBytes < bytes ? undefined : { value: unread().subarray(0, bytes), bytes }), `${bytes} bytes`);
  const takeLine = () =>
    take(() => {
      const end = unread().indexOf('\r\n');
      return end < 0 ? undefined : { value: unread().subarray(0, end).toString('latin1'), bytes: end + 2 };
    }, 'a line of an answer');

  const takeChunks = async (): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for (;;) {
      const length = Number.parseInt(await takeLine(), 16);
      const chunk = await takeBytes(length);
      await takeBytes(2);
      if (length === 0) return Buffer.concat(chunks);
      chunks.push(chunk);
    }
  };

  return {
    socket,
    send: (data) => void socket.write(data),
    take: takeBytes,
    async answer({ isHead = false } = {}) {
      const [, status, reason = ''] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(await takeLine()) ?? [];
      if (status === undefined) throw new Error('expected a status line');
      const headers: Record<string, string> = {};
      for (let line = await takeLine(); line !== ''; line = await takeLine()) {
        const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(line) ?? [];
        const key = name.toLowerCase();
        headers[key] = key in headers ? `${headers[key]}, ${value}` : value;
      }
      const hasBody = !isHead && status !== '304' && !status.startsWith('1');
      const body = !hasBody
        ? Buffer.alloc(0)
        : headers['transfer-encoding'] === 'chunked'
          ? await takeChunks()
          : await takeBytes(Number(headers['content-length'] ?? 0));
      return { status: Number(status), reason, headers, body, text: body.toString() };
    },
    rest() {
      const rest = unread();
      leave(Buffer.alloc(0));
      return rest;
    },
    async closed() {
      while (!isClosed) await wakes.next('the connection being closed');
      return unread();
    },
  };
}

export interface Question {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly ca?: string;
}

/** Asks once: `await ask(t, port, 'GET /parameters/desk/lamp', { headers: { accept: 'application/json' } })`. */
export async function ask(t: ExecutionContext, port: number, line: string, question: Question = {}): Promise<Answer> {
  const wire = await openWire(t, port, question.ca);
  wire.send(request(line, question));
  const answer = await wire.answer({ isHead: line.startsWith('HEAD ') });
  wire.socket.destroy();
  return answer;
}

/** The bytes of a request, with `Host` and `Content-Length` unless they are given. */
export function request(line: string, { headers = {}, body }: Question = {}): Buffer {
  const all: Record<string, string> = { host: 'localhost', ...headers };
  if (body !== undefined && !('transfer-encoding' in all)) all['content-length'] ??= String(Buffer.byteLength(body));
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${line} HTTP/1.1\r\n${head.join('')}\r\n`), Buffer.from(body ?? '')]);
}
