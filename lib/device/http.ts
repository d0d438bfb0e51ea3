// The HTTP transport, which uses undici: persistent connections, bounded answers, compression, authentication, redirects, and streams of
// server-sent events. A link counts as open immediately; only answers show whether the device is online.

import { isIPv6, type Socket } from 'node:net';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import type { buildConnector, Client, Dispatcher } from 'undici';
import { messageOf } from '../model/error.ts';
import { type Credentials, HttpAuth, maskedHeader } from './http-auth.ts';
import { EventReader, type HttpRequest, readRequest, writeAnswer, writeRequest } from './http-message.ts';
import {
  breakOff,
  connectReason,
  fingerprintFault,
  type HttpHead,
  type Link,
  type LinkListener,
  type ServerEvent,
  type TlsTarget,
  type Transport,
  tlsOptions,
} from './transport.ts';

export interface HttpTarget {
  /** The base URL for the paths in requests: `http://10.0.0.9/base`. */
  readonly url: URL;
  readonly tls?: TlsTarget | undefined;
  readonly credentials: Credentials;
  /** The maximum number of connections to the device that are open at the same time. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
}

/** The maximum size of an answer's body, in bytes. The limit applies before and after decompression. */
export const maxBodyBytes = 1_048_576;
/** The maximum size of an answer's headers, in bytes. */
export const maxHeadBytes = 16_384;
/** The maximum number of redirects for a request, and the maximum number of other origins to which redirects may lead. */
export const maxRedirects = 5;
const maxOrigins = 4;
/** How long an unused connection stays open unless the device requests a shorter time, in milliseconds. */
const keepAliveMs = 30_000;

type Undici = Pick<typeof import('undici'), 'Client' | 'buildConnector'>;

/**
 * Returns the function with which undici opens connections. This function checks the certificate's fingerprint before anything is sent, and
 * passes each socket to `opened`.
 */
export function connectorOf(
  { buildConnector }: Pick<Undici, 'buildConnector'>,
  tls: TlsTarget | undefined,
  timeout: number,
  opened: (socket: Socket) => void = () => {},
): buildConnector.connector {
  const own = tls === undefined ? {} : tlsOptions(tls);
  const connect = buildConnector({ ...own, timeout, maxCachedSessions: 0 } as object);
  const fingerprint = tls?.fingerprint;
  return (options, callback) =>
    connect(options, (error, socket) => {
      // undici passes no socket if there is an error
      const isUnpinned = socket == null || fingerprint === undefined;
      const fault = error ?? (isUnpinned ? undefined : fingerprintFault(socket, fingerprint));
      if (fault === undefined) {
        opened(socket!);
        callback(null, socket!);
        return;
      }
      socket?.destroy();
      callback(typeof fault === 'string' ? new Error(fault) : fault, null);
    });
}

/**
 * Destroys the socket of an undici client. If a socket closes without an error, undici takes this for the end of an answer without a
 * length. If that answer was aborted, undici then throws an error that cannot be caught. Therefore, the socket emits an error first.
 */
export function breakOffClient(socket: Socket): void {
  if (!socket.destroyed) socket.emit('error', new Error('given up'));
  breakOff(socket);
}

export function httpTransport(target: HttpTarget): Transport {
  return {
    name: target.url.host + target.url.pathname.replace(/\/$/, ''),
    keepsFrames: true,
    open: (listener) => new HttpLink(target, listener),
  };
}

class HttpLink implements Link {
  readonly #target: HttpTarget;
  readonly #listener: LinkListener;
  readonly #auth: HttpAuth;
  readonly #origin: string;
  /** The path in the base URL, without a trailing `/`. */
  readonly #base: string;
  readonly #connections = new Map<string, Connections>();
  readonly #exchanges = new Map<object, Exchange>();
  /** The parsed requests, keyed by their bytes. Polls send the same bytes while the device is online. */
  readonly #known = new WeakMap<Uint8Array, HttpRequest>();
  /** The headers of each request without the credentials. */
  readonly #headers = new WeakMap<HttpRequest, readonly string[]>();
  #undici: Undici | undefined;
  #isEnded = false;

  constructor(target: HttpTarget, listener: LinkListener) {
    this.#target = target;
    this.#listener = listener;
    this.#auth = new HttpAuth(target.credentials);
    this.#origin = target.url.origin; // cached, because reading the property costs more than comparing the origins
    this.#base = target.url.pathname.replace(/\/$/, '');
    void this.#open().catch((error) => {
      if (!this.#isEnded) listener.closed(messageOf(error));
      this.#isEnded = true;
    });
  }

  async #open(): Promise<void> {
    this.#undici = await import('undici'); // loaded on demand, because most hubs have no HTTP devices
    if (!this.#isEnded) this.#listener.opened();
  }

  send(bytes: Uint8Array, key: object = {}): void {
    if (this.#isEnded) return;
    const request = this.#read(bytes);
    if (request === undefined) return;
    const exchange = new Exchange(this, key, request, this.#origin, this.#base + request.target);
    this.#exchanges.set(key, exchange);
    this.dispatch(exchange);
  }

  #read(bytes: Uint8Array): HttpRequest | undefined {
    const known = this.#known.get(bytes);
    if (known !== undefined) return known;
    const request = readRequest(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
    if (request !== undefined) this.#known.set(bytes, request);
    return request;
  }

  cancel(key: object): void {
    const exchange = this.#exchanges.get(key);
    this.#exchanges.delete(key);
    exchange?.cancel();
  }

  end(isBroken = false): void {
    this.#isEnded = true;
    this.#exchanges.clear();
    for (const connections of this.#connections.values()) connections.destroy(isBroken);
    this.#connections.clear();
  }

  /** Sends a request, for the first time or after a redirect or a challenge. */
  dispatch(exchange: Exchange): void {
    const { request, origin, target } = exchange;
    const isHome = this.#isHome(exchange);
    const authorization = isHome ? this.#auth.headerFor(request.method, target) : undefined;
    exchange.authorization = authorization;
    const own = isHome ? this.#headersOf(request) : headersOf(request, {});
    const headers = authorization === undefined ? own : [...own, 'authorization', authorization.value];
    try {
      exchange.dispatch(this.#connectionsTo(origin), headers);
    } catch (error) {
      queueMicrotask(() => this.fail(exchange, messageOf(error)));
    }
  }

  /**
   * Returns a request's headers as alternating names and values. Headers from a description may contain credentials and are therefore sent
   * only to the device.
   */
  #headersOf(request: HttpRequest): readonly string[] {
    const known = this.#headers.get(request);
    if (known !== undefined) return known;
    const headers = headersOf(request, request.headers);
    this.#headers.set(request, headers);
    return headers;
  }

  /** Returns whether a request goes to the device itself and has never been redirected to another origin. */
  #isHome({ origin, hasLeft }: Exchange): boolean {
    return !hasLeft && origin === this.#origin;
  }

  #connectionsTo(origin: string): Connections {
    const known = this.#connections.get(origin);
    if (known !== undefined) return known;
    if (this.#connections.size > maxOrigins)
      throw new Error(`the device redirects to more than ${maxOrigins} other origins`);
    const { Client } = this.#undici!;
    const { tls, connectTimeoutMs } = this.#target;
    const tlsOfOrigin = origin === this.#origin ? tls : undefined;
    const create = (opened: (socket: Socket) => void) =>
      new Client(origin, {
        pipelining: 1,
        connect: connectorOf(this.#undici!, tlsOfOrigin, connectTimeoutMs, opened),
        maxHeaderSize: maxHeadBytes,
        headersTimeout: 0, // the session limits the duration of requests
        bodyTimeout: 0,
        keepAliveTimeout: keepAliveMs,
        keepAliveMaxTimeout: keepAliveMs,
      });
    const connections = new Connections(create, this.#target.connections);
    this.#connections.set(origin, connections);
    return connections;
  }

  // Events in an exchange

  fail(exchange: Exchange, reason: string, isHeard = false): void {
    if (this.#isEnded || !this.#exchanges.delete(exchange.key)) return;
    this.#listener.failed?.(exchange.key, reason, isHeard);
  }

  /** Called when the answer to an exchange is complete. */
  answered(exchange: Exchange, head: HttpHead, body: Buffer): void {
    if (this.#isEnded || this.#exchanges.get(exchange.key) !== exchange) return;
    if (head.status === 401 && this.#isHome(exchange)) {
      const outcome = this.#auth.refused(head.headers['www-authenticate'], exchange.authorization?.nonce);
      if ('again' in outcome && ++exchange.challenges <= 2) {
        this.#trace(head);
        this.dispatch(exchange);
        this.#traceAgain(exchange);
        return;
      }
      this.#deliver(
        exchange,
        { ...head, statusText: statusTextOf(head, 'fault' in outcome ? outcome.fault : '') },
        body,
      );
      return;
    }
    if (this.#isHome(exchange)) this.#auth.next(head.headers['authentication-info']);
    if (!isRedirect(head)) this.#deliver(exchange, head, body);
    else this.#follow(exchange, head);
  }

  #follow(exchange: Exchange, head: HttpHead): void {
    const { location } = head.headers;
    // not `new URL(target, origin)`, because a target that begins with // would replace the host
    const from = new URL(exchange.origin + exchange.target);
    if (++exchange.redirects > maxRedirects) {
      this.fail(exchange, `expected at most ${maxRedirects} redirects, got more`, true);
      return;
    }
    const to = URL.canParse(location!, from.href) ? new URL(location!, from) : undefined;
    if (to === undefined || !['http:', 'https:'].includes(to.protocol)) {
      this.fail(exchange, `expected a redirect to http or https, got ${JSON.stringify(location!.slice(0, 80))}`, true);
      return;
    }
    to.hash = '';
    to.username = to.password = '';
    const { method } = exchange.request;
    const becomesGet = (head.status === 303 && method !== 'HEAD') || (head.status < 303 && method === 'POST');
    if (to.origin !== from.origin && !becomesGet && method !== 'GET' && method !== 'HEAD') {
      this.fail(
        exchange,
        `expected ${method} not to be redirected away from the device, got a redirect to ${to.origin}`,
        true,
      );
      return;
    }
    if (becomesGet) {
      const { 'content-type': _, ...headers } = exchange.request.headers;
      exchange.request = { method: 'GET', target: exchange.request.target, headers, body: undefined };
    }
    // the request never contains credentials again, because the other origin may redirect it back with a different query
    if (to.origin !== this.#origin) exchange.hasLeft = true;
    this.#trace(head);
    exchange.origin = to.origin;
    exchange.target = to.pathname + to.search;
    this.dispatch(exchange);
    this.#traceAgain(exchange);
  }

  #deliver(exchange: Exchange, head: HttpHead, body: Buffer): void {
    const coding = head.headers['content-encoding']?.trim().toLowerCase() ?? '';
    if (body.length === 0 || coding === '' || coding === 'identity') {
      this.#exchanges.delete(exchange.key);
      this.#listener.received(body, { request: exchange.key, head });
      return;
    }
    const done = (error: Error | null, plain: Uint8Array) => {
      if (this.#isEnded || this.#exchanges.get(exchange.key) !== exchange) return;
      if (error !== null) {
        const isLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
        this.fail(exchange, isLong ? tooLong : `the compressed answer cannot be read: ${error.message}`, true);
        return;
      }
      this.#exchanges.delete(exchange.key);
      this.#listener.received(plain, { request: exchange.key, head });
    };
    const options = { maxOutputLength: maxBodyBytes };
    if (coding === 'gzip' || coding === 'x-gzip') gunzip(body, options, done);
    else if (coding === 'br') brotliDecompress(body, options, done);
    else if (coding === 'deflate') (hasZlibHead(body) ? inflate : inflateRaw)(body, options, done);
    else
      this.fail(
        exchange,
        `expected an answer in gzip, deflate or br, got ${JSON.stringify(coding.slice(0, 40))}`,
        true,
      );
  }

  /** Called when a stream of server-sent events has begun. */
  began(exchange: Exchange, head: HttpHead): void {
    if (!this.#isEnded) this.#listener.received(nothing, { request: exchange.key, head });
  }

  /** Called when a stream has sent data without an event, such as a comment, so that the device counts as online. */
  heard({ key }: Exchange): void {
    if (!this.#isEnded) this.#listener.received(nothing, { request: key });
  }

  event(exchange: Exchange, event: ServerEvent): void {
    if (!this.#isEnded && this.#exchanges.get(exchange.key) === exchange)
      this.#listener.received(Buffer.from(event.data), { request: exchange.key, event });
  }

  #trace(head: HttpHead): void {
    this.#listener.exchanged?.('in', Buffer.from(writeAnswer(head, '')));
  }

  #traceAgain(exchange: Exchange): void {
    const { request, origin, target, authorization } = exchange;
    const shown = {
      ...request,
      target: (origin === this.#origin ? '' : origin) + target,
      headers: { ...(authorization !== undefined && { authorization: maskedHeader(authorization.value) }) },
    };
    this.#listener.exchanged?.('out', Buffer.from(writeRequest(shown)));
  }
}

/** Returns the default headers for a request, overridden by the headers in the description. */
function headersOf(request: HttpRequest, own: Readonly<Record<string, string>>): readonly string[] {
  const headers: Record<string, string> = {
    'user-agent': 'patchbay',
    accept: '*/*',
    'accept-encoding': isStream(request) ? 'identity' : 'gzip, deflate, br',
    ...own,
  };
  if (request.body !== undefined) headers['content-type'] ??= 'application/json';
  return Object.entries(headers).flat();
}

function isStream({ headers }: HttpRequest): boolean {
  return headers.accept === eventStreamType;
}

const nothing = Buffer.alloc(0);
const tooLong = `the answer is longer than ${maxBodyBytes} bytes`;

function isRedirect({ status, headers }: HttpHead): boolean {
  return redirects.has(status) && headers.location !== undefined;
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function statusTextOf({ statusText }: HttpHead, fault: string): string {
  return [statusText, ...(fault === '' ? [] : [`(${fault})`])].join(' ').trim();
}

/** Returns whether data begins with a zlib header. Some servers send deflate data without this header. */
function hasZlibHead(body: Buffer): boolean {
  return (body[0]! & 0x0f) === 8 && body.length > 1 && ((body[0]! << 8) | body[1]!) % 31 === 0;
}

/** A connection to an origin, together with its socket after the connection was opened. */
interface Connection {
  readonly client: Client;
  socket: Socket | undefined;
}

/**
 * The connections to one origin. The connection that was used last is used first, so that idle connections may close. This pool is faster
 * than undici's pool, in which each request causes events in all connections.
 */
class Connections {
  readonly #create: (opened: (socket: Socket) => void) => Client;
  readonly #most: number;
  readonly #all: Connection[] = [];
  readonly #free: Connection[] = [];
  #next = 0;

  constructor(create: (opened: (socket: Socket) => void) => Client, most: number) {
    this.#create = create;
    this.#most = most;
  }

  /**
   * Returns a free connection, a new connection, or otherwise the next connection in turn. In the last case, the request waits in this
   * connection.
   */
  take(): Connection {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#all.length >= this.#most) return this.#all[this.#next++ % this.#all.length]!;
    const client = this.#create((socket) => {
      connection.socket = socket;
    });
    const connection: Connection = { client, socket: undefined };
    client.on('connectionError', () => this.#drop(connection));
    this.#all.push(connection);
    return connection;
  }

  /** Removes a connection that could not be established. After certain errors, undici sends no further requests over such a connection. */
  #drop(connection: Connection): void {
    for (const list of [this.#all, this.#free]) {
      const place = list.indexOf(connection);
      if (place >= 0) list.splice(place, 1);
    }
  }

  /** Makes a connection available again after a request. */
  release(connection: Connection): void {
    if (this.#all.includes(connection) && !this.#free.includes(connection)) this.#free.push(connection);
  }

  destroy(isBroken: boolean): void {
    for (const { client, socket } of this.#all) {
      if (isBroken && socket !== undefined) breakOffClient(socket);
      void client.destroy().catch(() => {});
    }
    this.#all.length = this.#free.length = 0;
  }
}

/** A request and its answer, including all redirects. Implements undici's event handlers. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly key: object;
  readonly isStream: boolean;
  readonly #link: HttpLink;
  request: HttpRequest;
  origin: string;
  /** The path and the query of the current URL. */
  target: string;
  redirects = 0;
  challenges = 0;
  /** Whether the request has ever been redirected to another origin. */
  hasLeft = false;
  /** The credentials that the request contained when it was last sent. */
  authorization: ReturnType<HttpAuth['headerFor']>;
  #connections: Connections | undefined;
  #connection: Connection | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #isCancelled = false;
  #head: HttpHead | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #reader: EventReader | undefined;
  #decoder: InstanceType<typeof TextDecoder> | undefined;

  constructor(link: HttpLink, key: object, request: HttpRequest, origin: string, target: string) {
    this.#link = link;
    this.key = key;
    this.request = request;
    this.origin = origin;
    this.target = target;
    this.isStream = isStream(request);
  }

  /** Sends the request. Errors: any error that undici throws if it cannot send the request. */
  dispatch(connections: Connections, headers: readonly string[]): void {
    const { method, body = null } = this.request;
    this.#connections = connections;
    this.#connection = connections.take();
    try {
      this.#connection.client.dispatch(
        { path: this.target, method: method as Dispatcher.HttpMethod, headers: headers as string[], body },
        this,
      );
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  #release(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) this.#connections!.release(connection);
  }

  cancel(): void {
    this.#isCancelled = true;
    if (this.#controller === undefined) return; // the request is still waiting in its connection
    if (this.#connection?.socket !== undefined) breakOffClient(this.#connection.socket); // otherwise, the request could still arrive later
    this.#controller.abort(new Error('given up'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#head = undefined;
    this.#chunks = [];
    this.#bytes = 0;
    if (this.#isCancelled) controller.abort(new Error('given up'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    written: Readonly<Record<string, string | string[] | undefined>>,
    statusText = '',
  ): void {
    if (status < 200) return;
    const headers = joined(written);
    this.#head = { status, statusText, headers };
    if (!this.isStream || status !== 200) return;
    if (!(headers['content-type'] ?? '').toLowerCase().startsWith(eventStreamType)) {
      const got = JSON.stringify(headers['content-type'] ?? '');
      controller.abort(new Error(`expected the content type ${eventStreamType}, got ${got}`));
      return;
    }
    this.#reader = new EventReader();
    this.#decoder = new TextDecoder();
    this.#link.began(this, this.#head);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#reader !== undefined) {
      try {
        this.#link.heard(this);
        for (const event of this.#reader.push(this.#decoder!.decode(chunk, { stream: true })))
          this.#link.event(this, event);
      } catch (error) {
        controller.abort(error as Error);
      }
      return;
    }
    this.#bytes += chunk.length;
    if (this.#bytes > maxBodyBytes) controller.abort(new Error(tooLong));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const head = this.#head;
    this.#controller = undefined;
    this.#release();
    if (this.#reader !== undefined || head === undefined) this.#link.fail(this, 'the device ended the event stream');
    else this.#link.answered(this, head, this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks));
  }

  onResponseError(_: unknown, error: Error): void {
    this.#controller = undefined;
    this.#release();
    this.#link.fail(this, this.#reasonOf(error), error.message === tooLong);
  }

  #reasonOf(error: Error & { readonly code?: string }): string {
    const { code = '', message } = error;
    if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
      return this.#head === undefined
        ? 'the device closed the connection without an answer'
        : 'the device closed the connection before the end of the answer';
    if (code === 'UND_ERR_HEADERS_OVERFLOW') return `the header of the answer is longer than ${maxHeadBytes} bytes`;
    if (code.startsWith('HPE_')) return `the answer is not HTTP: ${message}`;
    return message === '' ? code || error.name : connectReason(error);
  }
}

/** Joins the values of headers that occur several times. undici has already converted the names to lower case. */
function joined(written: Readonly<Record<string, string | string[] | undefined>>): HttpHead['headers'] {
  for (const name in written)
    if (typeof written[name] !== 'string') {
      const entries = Object.entries(written).filter(([, value]) => value !== undefined);
      return Object.fromEntries(entries.map(([key, value]) => [key, Array.isArray(value) ? value.join(', ') : value!]));
    }
  return written as HttpHead['headers'];
}

export const eventStreamType = 'text/event-stream';

/** Returns the URL with its host, and its port if given, replaced by `place`. */
export function withHost(url: URL, { host, port }: { readonly host: string; readonly port: number | undefined }): URL {
  const other = new URL(url);
  other.hostname = isIPv6(host) ? `[${host}]` : host;
  if (port !== undefined) other.port = String(port);
  return other;
}
