// The link to the servers: it connects, finds out within some seconds when it is broken, and connects again for ever. Each time
// there is a session, and whatever belongs to it ends with it.
import { connect as openSocket, type Socket } from 'node:net';
import { nextTick } from 'node:process';
import { addAbortSignal } from 'node:stream';
import type { ConnectionOptions, NatsConnection, ServerInfo, TlsOptions } from '@nats-io/transport-node';
import { BehaviorSubject, type Observable, type SchedulerLike, Subscription } from 'rxjs';
import { messageOf } from '../../../model/error.ts';
import type { Log } from '../../connection.ts';
import type { ResolvePath } from '../../setting.ts';
import type { NatsSettings } from '../settings.ts';
import { readCredentials, readTlsFiles } from './credential-files.ts';
import type { Intake } from './nats-intake.ts';
import { attemptAll } from './server-attempts.ts';
import { askerOf, hubOf, hubOfInbox, inboxPrefixOf } from './subjects.ts';
import type { Transport } from './transport.ts';

/** A session with a server; `connection` is for JetStream, everything else goes through `transport`. */
export interface Session {
  readonly connection: NatsConnection;
  readonly transport: Transport;
  /** The server that it is with, `10.0.0.5:4222`. */
  readonly server: string;
  /** Whether that lets anybody in. */
  readonly isOpen: boolean;
}

/** The present session, or why there is none; an empty reason: not yet. */
export type LinkState = { readonly session: Session } | { readonly session: undefined; readonly reason: string };

export interface Link {
  /** Hot, replays last, never completes, never errors. */
  readonly state$: Observable<LinkState>;
  readonly state: LinkState;
  /** Ends it; resolves when what was sent is with the server, or cannot be. */
  close(): Promise<void>;
}

interface LinkContext {
  readonly intake: Intake;
  readonly settings: NatsSettings;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  readonly resolvePath: ResolvePath;
}

/** A server that says nothing for so long has not answered. */
const connectMs = 3000;
/** The pause before a link that broke is made again. */
const againMs = 250;
/** A server that answers none of two pings is gone. */
const pingIntervalMs = 1000;
const maxPingsOut = 2;

export function openLink(context: LinkContext): Link {
  const { settings, scheduler, log, intake } = context;
  const state$ = new BehaviorSubject<LinkState>({ session: undefined, reason: '' });
  let place = Math.floor(Math.random() * settings.servers.length); // so that hubs are spread over the servers
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
    connect(againMs);
  };
  const enter = (opened: NatsConnection) => {
    connection = opened;
    watch(opened, log);
    readInTurns(opened, intake);
    const server = opened.getServer();
    void opened.closed().then((error) => lose(`lost ${server}${error ? `: ${messageOf(error)}` : ''}`));
    log.info({ server }, `is connected to ${server}`);
    const isOpen = letsAnybodyIn(opened.info, settings);
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

/** Opens a connection to one server. Errors: why there is none. */
async function dial(
  { settings, scheduler, resolvePath }: LinkContext,
  server: string,
  signal: AbortSignal,
): Promise<NatsConnection> {
  const endMs = scheduler.now() + connectMs;
  await hearGreeting(server, connectMs, signal);
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
    // a certificate of an IP address is compared with that of the server only if the address is given
    ...(isTls && { tls: { ...files, host: hostname.replace(/^\[|\]$/g, '') } as TlsOptions }),
  };
  return connect(options);
}

/** Whether a server asks nobody who it is: this hub has shown nothing that others do not have. */
function letsAnybodyIn(info: ServerInfo | undefined, { credentials, tls }: NatsSettings): boolean {
  const showsItself = Object.values(credentials).some((one) => one !== '') || (tls?.certFile ?? '') !== '';
  return !showsItself || (info?.auth_required !== true && info?.tls_verify !== true);
}

function openDomain(domain: string, server: string): string {
  const danger = 'who reaches it can write all that hubs share, in the name of any hub and user';
  const remedy = 'give each hub credentials, and the permissions that "patchbay permissions" prints';
  return `domain "${domain}" is open: ${server} asks nobody who it is, so ${danger}; ${remedy}`;
}

/** Tells what the server refuses, such as a subject that this hub has no permission for. */
function watch(connection: NatsConnection, log: Log): void {
  void (async () => {
    for await (const status of connection.status())
      if (status.type === 'error')
        log.warn({}, `the server refuses something: ${messageOf(status.error)}`, 'refused by the server');
  })();
}

const defaultPort = 4222;

/**
 * Waits until a server says the first word, as each does to whoever connects. A socket of its own can be given up at any time; the client
 * library would keep one that hangs. Errors: why the server says nothing, *timeout* after a time, or that the signal has ended it.
 */
export async function hearGreeting(server: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
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
  throw new Error('it ends each connection at once');
}

function reasonOf(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' ? 'connection refused' : messageOf(error) || code;
}

/** So many bytes of what a socket has are given to the client library at a time: some dozens of the shortest messages. */
const sliceBytes = 8192;

/** The library shows its socket to nobody, and has no other way to be slowed down. */
function socketOf(connection: NatsConnection): Socket | undefined {
  const { protocol } = connection as { protocol?: { transport?: { socket?: Socket } } };
  return protocol?.transport?.socket;
}

/**
 * The client library reads all that a socket has, message by message, before anything else goes on. So it gets some of it at a time, and no
 * more in a round of the event loop than there is time for.
 */
function readInTurns(connection: NatsConnection, intake: Intake): void {
  const socket = socketOf(connection);
  const [give] = socket?.listeners('data') ?? [];
  if (socket === undefined || give === undefined) return;
  const goOn = (work: () => void) => (intake.hasTime ? work() : setImmediate(work));
  const read = (bytes: Buffer) => {
    const end = intake.begin();
    give.call(socket, bytes.subarray(0, sliceBytes));
    // it is read in microtasks, and this comes behind all of them
    queueMicrotask(() =>
      nextTick(() => {
        end();
        goOn(() => (bytes.length > sliceBytes ? read(bytes.subarray(sliceBytes)) : socket.resume()));
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

/** How much may be on its way to the server; what comes beyond is not sent. */
const maxUnsentBytes = 32 * 1024 * 1024;
/** The server is asked so often whether it has all. */
const askedEveryBytes = 1024 * 1024;

interface TransportContext {
  readonly domain: string;
  readonly intake: Intake;
  readonly log: Log;
}

/**
 * What comes is taken in turns, by the hub that has sent it. Who asks is answered in an inbox alone: another subject could be one of this
 * hub, where only this hub may send.
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
      () => {}, // the session ends
    );
  };
  const isFull = () => sent - arrived > maxUnsentBytes;
  const send = (bytes: number, work: () => void) => {
    if (connection.isClosed() || isFull()) return;
    try {
      work();
      account(bytes);
    } catch (error) {
      log.warn({}, `nothing could be sent: ${messageOf(error)}`, 'not sent');
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
          const sender = askerOf(subject) ?? (inbox || hubOf(subject));
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
      if (isFull()) throw new Error('too much is on its way to the server');
      account(data.length);
      const { data: answer } = await connection.request(subject, data, { timeout: timeoutMs });
      return answer;
    },
  };
}
