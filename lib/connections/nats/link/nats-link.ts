// The link to the NATS servers. It connects, detects a broken connection within seconds, and always reconnects. Each connection is a
// session. Everything that depends on a session ends with it.

import { connect as openSocket, type Socket } from 'node:net';
import { nextTick } from 'node:process';
import { addAbortSignal } from 'node:stream';
import type { ConnectionOptions, NatsConnection, ServerInfo, TlsOptions } from '@nats-io/transport-node';
import { BehaviorSubject, type Observable, type SchedulerLike, Subscription } from 'rxjs';
import { messageOf } from '../../../model/error.ts';
import { Backoff } from '../../../model/time/backoff.ts';
import type { Log } from '../../connection.ts';
import type { ResolvePath } from '../../setting.ts';
import type { NatsSettings } from '../settings.ts';
import { readCredentials, readTlsFiles } from './credential-files.ts';
import type { Intake } from './nats-intake.ts';
import { hubOf, hubOfInbox, inboxPrefixOf, requesterOf } from './subjects.ts';
import type { Transport } from './transport.ts';

/** A session with a server. `connection` is only for JetStream; all other code uses `transport`. */
export interface Session {
  readonly connection: NatsConnection;
  readonly transport: Transport;
  /** The address of the server, such as `10.0.0.5:4222`. */
  readonly server: string;
  /** Whether the server accepts clients without credentials. */
  readonly isOpen: boolean;
}

/** The current session, or the reason why there is no session. An empty reason means that the reason is not known yet. */
export type LinkState = { readonly session: Session } | { readonly session: undefined; readonly reason: string };

export interface Link {
  /** The state of the link. Hot, replays last, never completes, never errors. */
  readonly state$: Observable<LinkState>;
  readonly state: LinkState;
  /** Closes the link. Resolves when the server has received all sent data or cannot receive it. */
  close(): Promise<void>;
}

interface LinkContext {
  readonly intake: Intake;
  readonly settings: NatsSettings;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  readonly resolvePath: ResolvePath;
}

/** The time after which a server counts as not answering, in milliseconds. */
const connectMs = 3000;
/** The pause before a broken link is reconnected, in milliseconds. */
const retryMs = 250;
/** The interval between pings, in milliseconds. A server that does not answer two pings counts as gone. */
const pingIntervalMs = 1000;
const maxPingsOut = 2;

export function openLink(context: LinkContext): Link {
  const { settings, scheduler, log, intake } = context;
  const state$ = new BehaviorSubject<LinkState>({ session: undefined, reason: '' });
  let place = Math.floor(Math.random() * settings.servers.length); // distributes hubs over the servers
  let attempts = Subscription.EMPTY;
  let connection: NatsConnection | undefined;
  let isClosed = false;
  let wasOpen = false;
  const report = (reason: string) => {
    const { value } = state$;
    if (value.session !== undefined || value.reason !== reason) state$.next({ session: undefined, reason });
  };
  const connect = (firstPauseMs: number) => {
    const { servers } = settings;
    const next = () => servers[place++ % servers.length]!;
    const toServer = (server: string, signal: AbortSignal) => dial(context, server, signal);
    attempts = attemptAll({ servers, next, clock: scheduler, dial: toServer, enter, report }, firstPauseMs);
  };
  const lose = (reason: string) => {
    connection = undefined;
    if (isClosed) return;
    report(reason);
    connect(retryMs);
  };
  const enter = (opened: NatsConnection) => {
    connection = opened;
    watch(opened, log);
    readInTurns(opened, intake);
    const server = opened.getServer();
    void opened.closed().then((error) => lose(`lost ${server}${error ? `: ${messageOf(error)}` : ''}`));
    log.info({ server }, `connected to ${server}`);
    const isOpen = acceptsAnybody(opened.info, settings);
    if (isOpen && !wasOpen) log.warn({ server, domain: settings.domain }, openDomain(settings.domain, server));
    wasOpen = isOpen;
    state$.next({
      session: {
        connection: opened,
        transport: createTransport(opened, { domain: settings.domain, intake, log }),
        server,
        isOpen,
      },
    });
  };
  connect(0);
  return {
    state$: state$.asObservable(),
    get state() {
      return state$.value;
    },
    async close() {
      isClosed = true;
      attempts.unsubscribe();
      state$.next({ session: undefined, reason: 'the connection was stopped' });
      await connection?.drain().catch(() => {});
    },
  };
}

/** Connects to a server. Rejects with the reason if the attempt fails. */
async function dial(
  { settings, scheduler, resolvePath }: LinkContext,
  server: string,
  signal: AbortSignal,
): Promise<NatsConnection> {
  const endMs = scheduler.now() + connectMs;
  await awaitGreeting(server, connectMs, signal);
  const { domain, hub, credentials, tls } = settings;
  const { user, password, token, nkey, file } = credentials;
  const { connect, nkeyAuthenticator } = await import('@nats-io/transport-node');
  const { hostname } = new URL(server.replace(/^\w+:/, 'http:'));
  const isTls = tls !== undefined || server.startsWith('tls:');
  const files = tls === undefined ? {} : await readTlsFiles(tls, resolvePath);
  const options: ConnectionOptions = {
    servers: server.replace(/^\w+:\/\//, ''),
    name: `patchbay ${domain}/${hub}`,
    inboxPrefix: inboxPrefixOf(settings),
    noEcho: true,
    reconnect: false,
    timeout: Math.max(1, endMs - scheduler.now()),
    pingInterval: pingIntervalMs,
    maxPingOut: maxPingsOut,
    noAsyncTraces: true,
    ...(user !== '' && { user, pass: password }),
    ...(token !== '' && { token }),
    ...(nkey !== '' && { authenticator: nkeyAuthenticator(new TextEncoder().encode(nkey)) }),
    ...(file !== '' && { authenticator: await readCredentials(file, resolvePath) }),
    // the client library checks a certificate for an IP address only if the address is passed to it
    ...(isTls && { tls: { ...files, host: hostname.replace(/^\[|\]$/g, '') } as TlsOptions }),
  };
  return connect(options);
}

/** Returns whether a server requires no credentials. In this case, any client could act like this hub. */
function acceptsAnybody(info: ServerInfo | undefined, { credentials, tls }: NatsSettings): boolean {
  const hasCredentials = Object.values(credentials).some((one) => one !== '') || (tls?.certFile ?? '') !== '';
  return !hasCredentials || (info?.auth_required !== true && info?.tls_verify !== true);
}

function openDomain(domain: string, server: string): string {
  const danger = 'anyone who can reach it can write all shared parameters, in the name of any hub and user';
  const remedy = 'give each hub credentials, and the permissions that "patchbay permissions" prints';
  return `domain "${domain}" is open: ${server} requires no credentials, so ${danger}; ${remedy}`;
}

/** Logs errors that the server reports, such as a missing permission for a subject. */
function watch(connection: NatsConnection, log: Log): void {
  void (async () => {
    for await (const status of connection.status())
      if (status.type === 'error')
        log.warn({}, `the server reports an error: ${messageOf(status.error)}`, 'server error');
  })();
}

const defaultPort = 4222;

/**
 * Waits for the greeting that a server sends to each client. Uses a separate socket, which can be closed at any time, whereas the client
 * library would keep a socket that hangs. Rejects with the reason for the silence, with *timeout*, or if `signal` is aborted.
 */
export async function awaitGreeting(server: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(server.replace(/^(\w+:\/\/)?/, 'http://'));
  const socket = openSocket({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || defaultPort });
  const timer = setTimeout(() => socket.destroy(new Error('timeout')), timeoutMs);
  try {
    for await (const _ of addAbortSignal(signal, socket)) return;
  } catch (error) {
    throw new Error(reasonOf(error));
  } finally {
    clearTimeout(timer);
  }
  throw new Error('it closes each connection immediately');
}

function reasonOf(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' ? 'connection refused' : messageOf(error) || code;
}

/** The maximum number of bytes that are passed to the client library at once: enough for a few dozen of the shortest messages. */
const sliceBytes = 8192;

/** Returns the client library's socket. The socket is not public, but there is no other way to slow the library down. */
function socketOf(connection: NatsConnection): Socket | undefined {
  const { protocol } = connection as { protocol?: { transport?: { socket?: Socket } } };
  return protocol?.transport?.socket;
}

/**
 * Limits reading to the time that is reserved for reading in each round of the event loop. The client library would read everything
 * available on a socket, message by message, before any other code runs. Therefore, it receives one slice at a time.
 */
function readInTurns(connection: NatsConnection, intake: Intake): void {
  const socket = socketOf(connection);
  const [give] = socket?.listeners('data') ?? [];
  if (socket === undefined || give === undefined) return;
  const whenTime = (work: () => void) => (intake.hasTime ? work() : setImmediate(work));
  const read = (bytes: Buffer) => {
    const end = intake.begin();
    give.call(socket, bytes.subarray(0, sliceBytes));
    // the library reads in microtasks, and this callback runs after all of these microtasks
    queueMicrotask(() =>
      nextTick(() => {
        end();
        whenTime(() => (bytes.length > sliceBytes ? read(bytes.subarray(sliceBytes)) : socket.resume()));
      }),
    );
  };
  socket.off('data', give as (bytes: Buffer) => void);
  socket.on('data', (bytes) => {
    socket.pause();
    read(bytes);
  });
}

// The transport over a session with a NATS server.

/** The maximum number of bytes that may be in transit to the server. Above this number, nothing is sent. */
const maxUnsentBytes = 32 * 1024 * 1024;
/** The number of sent bytes after which the server is asked whether it has received everything. */
const askedEveryBytes = 1024 * 1024;

interface TransportContext {
  readonly domain: string;
  readonly intake: Intake;
  readonly log: Log;
}

/**
 * Creates the transport of a session. Incoming messages are processed in turns, by sender. Answers are sent only to inboxes, because any
 * other reply subject could be a subject of this hub, to which only this hub may send.
 */
function createTransport(connection: NatsConnection, { domain, intake, log }: TransportContext): Transport {
  let sent = 0;
  let asked = 0;
  let arrived = 0;
  const account = (bytes: number) => {
    sent += bytes;
    if (sent - asked < askedEveryBytes) return;
    asked = sent;
    const reached = sent;
    connection.flush().then(
      () => {
        arrived = reached;
      },
      () => {}, // the session is ending
    );
  };
  const isFull = () => sent - arrived > maxUnsentBytes;
  const send = (bytes: number, work: () => void) => {
    if (connection.isClosed() || isFull()) return;
    try {
      work();
      account(bytes);
    } catch (error) {
      log.warn({}, `a message could not be sent: ${messageOf(error)}`, 'not sent');
    }
  };
  return {
    publish: (subject, data) => send(data.length, () => connection.publish(subject, data)),
    subscribe(subject, take) {
      if (connection.isClosed()) return () => {};
      let isSubscribed = true;
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return;
          const { subject, data } = message;
          const inbox = message.reply === undefined ? undefined : hubOfInbox(domain, message.reply);
          const sender = requesterOf(subject) ?? (inbox || hubOf(subject));
          const reply = (answer: Uint8Array | string) => {
            if (inbox !== undefined) send(answer.length, () => message.respond(answer));
          };
          intake.take(sender, data.length, () => (isSubscribed ? take({ subject, data, reply }) : undefined));
        },
      });
      return () => {
        isSubscribed = false;
        subscription.unsubscribe();
      };
    },
    async request(subject, data, timeoutMs) {
      if (isFull()) throw new Error('too many bytes are waiting to be sent to the server');
      account(data.length);
      const { data: answer } = await connection.request(subject, data, { timeout: timeoutMs });
      return answer;
    },
  };
}

// Tries several servers until one of them answers. An attempt that hangs does not delay other attempts. A link that drops packets may
// recover while an attempt is still waiting; for this reason, the next attempt runs in parallel.

/** The pauses after all servers have failed, in milliseconds. */
const pauses = { firstMs: 250, longestMs: 400 };
/**
 * The time after which the next attempt starts even if the current attempt has not ended, in milliseconds. Each attempt has a deadline, so
 * only a few attempts run in parallel.
 */
const nextAttemptMs = 400;

/** An open connection to a server, which can be closed. */
interface Opened {
  close(): Promise<void>;
}

interface AttemptsOptions<T extends Opened> {
  readonly servers: readonly string[];
  /** Returns the next server. After the last server, the first server follows. */
  readonly next: () => string;
  readonly clock: SchedulerLike;
  /** Connects to a server. Rejects if the server does not answer in time. `signal` ends an attempt that hangs. */
  readonly dial: (server: string, signal: AbortSignal) => Promise<T>;
  /** Called once, with the first open connection. Connections that are opened later or after the end are closed. */
  readonly enter: (opened: T) => void;
  /** Called with the reasons when every server has failed, and again after each further attempt. */
  readonly report: (reason: string) => void;
}

/** Starts to connect after a pause. Ends when a server has answered or when the returned `Subscription` is unsubscribed. */
export function attemptAll<T extends Opened>(options: AttemptsOptions<T>, firstPauseMs: number): Subscription {
  const { servers, next, clock, dial, enter, report } = options;
  const backoff = new Backoff(pauses);
  const reasons = new Map<string, string>();
  const ending = new AbortController();
  const attempts = new Subscription(() => ending.abort());
  let waiting = Subscription.EMPTY;
  let begun = 0;
  const beginAfter = (ms: number) => {
    waiting.unsubscribe();
    waiting = clock.schedule(() => void attempt(), ms);
  };
  const attempt = async () => {
    const number = ++begun;
    const server = next();
    beginAfter(nextAttemptMs);
    try {
      const opened = await dial(server, ending.signal);
      if (attempts.closed) return void opened.close().catch(() => {});
      attempts.unsubscribe();
      enter(opened);
    } catch (error) {
      if (attempts.closed) return;
      reasons.set(server, messageOf(error));
      if (number === begun) beginAfter(number % servers.length === 0 ? backoff.next() : 0);
      if (servers.every((one) => reasons.has(one)))
        report(`cannot reach ${servers.map((one) => `${one}: ${reasons.get(one)}`).join('; ')}`);
    }
  };
  attempts.add(() => waiting.unsubscribe());
  beginAfter(firstPauseMs);
  return attempts;
}
