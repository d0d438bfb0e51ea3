// Raw HTTP/1.1 over a socket, for requests that a well-behaved client would not send, and answers byte for byte.

import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { ExecutionContext } from 'ava';
import { within } from './deadline.ts';
import { Incoming } from './sockets/incoming.ts';

export interface Answer {
  readonly status: number;
  readonly reason: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly text: string;
}

/** A connection on which anything may be sent, and is read as the answers of HTTP. */
export class Wire {
  readonly socket: Socket;
  readonly #incoming: Incoming;

  constructor(socket: Socket) {
    this.socket = socket;
    this.#incoming = new Incoming(socket);
  }

  send(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  /** The next answer; `isHead` when it answers HEAD, and has no body whatever its length says. */
  async answer({ isHead = false } = {}): Promise<Answer> {
    const [, status, reason = ''] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(await this.#incoming.line()) ?? [];
    if (status === undefined) throw new Error('expected a status line');
    const headers = await this.#headers();
    const hasBody = !isHead && status !== '304' && !status.startsWith('1');
    const body = hasBody ? await this.#body(headers) : Buffer.alloc(0);
    return { status: Number(status), reason, headers, body, text: body.toString() };
  }

  /** The next so many bytes. */
  take(bytes: number): Promise<Buffer> {
    return this.#incoming.bytes(bytes);
  }

  /** Takes what has come and was not read. */
  rest(): Buffer {
    return this.#incoming.rest();
  }

  /** Resolves with what was left unread when the other side has closed. */
  closed(): Promise<Buffer> {
    return this.#incoming.closed();
  }

  async #headers(): Promise<Answer['headers']> {
    const headers: Record<string, string> = {};
    for (let line = await this.#incoming.line(); line !== ''; line = await this.#incoming.line()) {
      const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(line) ?? [];
      const key = name.toLowerCase();
      headers[key] = key in headers ? `${headers[key]}, ${value}` : value;
    }
    return headers;
  }

  #body(headers: Answer['headers']): Promise<Buffer> {
    if (headers['transfer-encoding'] === 'chunked') return this.#chunks();
    return this.take(Number(headers['content-length'] ?? 0));
  }

  async #chunks(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for (;;) {
      const length = Number.parseInt(await this.#incoming.line(), 16);
      const chunk = await this.take(length);
      await this.take(2);
      if (length === 0) return Buffer.concat(chunks);
      chunks.push(chunk);
    }
  }
}

/**
 * Opens a connection on which anything may be sent; with `ca`, the certificate that the server must show, TLS; `tls`: how; `localAddress`:
 * from where.
 */
export async function openWire(
  t: ExecutionContext,
  port: number,
  ca?: string,
  tls: ConnectionOptions = {},
  localAddress = '127.0.0.1',
): Promise<Wire> {
  const where = { port, host: '127.0.0.1', localAddress };
  const socket = ca ? connectTls({ ...where, ca, ...tls } as ConnectionOptions) : connect(where);
  socket.setNoDelay(); // as browsers do
  t.teardown(() => socket.destroy());
  socket.on('error', () => {}); // a reset is seen as a close
  const wire = new Wire(socket);
  const opening = new Promise((resolve, reject) => {
    socket.once(ca ? 'secureConnect' : 'connect', resolve);
    socket.once('close', () => reject(new Error(`port ${port} was not reached`)));
  });
  await within(opening, `connecting to port ${port}`);
  return wire;
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
