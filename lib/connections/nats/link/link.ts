// The link to the servers: it connects, finds out within some seconds when it is broken, and connects again for ever. Each time
// there is a session, and whatever belongs to it ends with it.

import type { Authenticator, ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import { BehaviorSubject, type Observable, type SchedulerLike, Subscription } from 'rxjs';
import { Backoff } from '../../../model/backoff.ts';
import { messageOf } from '../../../model/error.ts';
import type { Log } from '../../connection.ts';
import type { ResolvePath } from '../../setting.ts';
import type { NatsSettings } from '../settings.ts';
import { createTransport } from './nats-transport.ts';
import { inboxPrefixOf } from './subjects.ts';
import type { Transport } from './transport.ts';

/** A session with a server; `connection` is for JetStream, everything else goes through `transport`. */
export interface Session {
  readonly connection: NatsConnection;
  readonly transport: Transport;
  /** The server that it is with, `10.0.0.5:4222`. */
  readonly server: string;
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

export interface LinkContext {
  readonly settings: NatsSettings;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  readonly resolvePath: ResolvePath;
}

const connectMs = 5000;
/** A server that answers none of two pings is gone. */
const pingIntervalMs = 1000;
const maxPingsOut = 2;

export function openLink(context: LinkContext): Link {
  const { settings, scheduler, log } = context;
  const state$ = new BehaviorSubject<LinkState>({ session: undefined, reason: '' });
  const backoff = new Backoff({ firstMs: 250, longestMs: 2000 });
  let waiting = Subscription.EMPTY;
  let connection: NatsConnection | undefined;
  let isClosed = false;
  const again = (reason: string) => {
    connection = undefined;
    if (isClosed) return;
    state$.next({ session: undefined, reason });
    waiting = scheduler.schedule(() => void connect(), backoff.next());
  };
  const connect = async () => {
    try {
      const { connect: dial, ...nats } = await import('@nats-io/transport-node');
      connection = await dial(optionsOf(context, nats));
    } catch (error) {
      again(`cannot reach ${settings.servers.join(', ')}: ${messageOf(error)}`);
      return;
    }
    if (isClosed) return void connection.close();
    backoff.reset();
    watch(connection, log);
    const server = connection.getServer();
    void connection.closed().then((error) => again(`lost ${server}${error ? `: ${messageOf(error)}` : ''}`));
    log.info({ server }, `is connected to ${server}`);
    state$.next({ session: { connection, transport: createTransport(connection, log), server } });
  };
  void connect();
  return {
    state$: state$.asObservable(),
    get state() {
      return state$.value;
    },
    async close() {
      isClosed = true;
      waiting.unsubscribe();
      state$.next({ session: undefined, reason: 'the connection was stopped' });
      await connection?.drain().catch(() => {});
    },
  };
}

function optionsOf(
  { settings, resolvePath }: LinkContext,
  nats: { nkeyAuthenticator(seed: Uint8Array): Authenticator },
): ConnectionOptions {
  const { servers, domain, hub, credentials, tls } = settings;
  const { user, password, token, nkey } = credentials;
  const fileOf = (path: string) => (path === '' ? undefined : resolvePath(path));
  const files = {
    caFile: fileOf(tls?.caFile ?? ''),
    certFile: fileOf(tls?.certFile ?? ''),
    keyFile: fileOf(tls?.keyFile ?? ''),
  };
  return {
    servers: servers.map((server) => server.replace(/^\w+:\/\//, '')),
    name: `patchbay ${domain}/${hub}`,
    inboxPrefix: inboxPrefixOf(settings),
    noEcho: true,
    reconnect: false,
    timeout: connectMs,
    pingInterval: pingIntervalMs,
    maxPingOut: maxPingsOut,
    noAsyncTraces: true,
    ...(user !== '' && { user, pass: password }),
    ...(token !== '' && { token }),
    ...(nkey !== '' && { authenticator: nats.nkeyAuthenticator(new TextEncoder().encode(nkey)) }),
    ...(tls !== undefined && {
      tls: Object.fromEntries(Object.entries(files).filter(([, path]) => path !== undefined)),
    }),
  };
}

/** Tells what the server refuses, such as a subject that this hub has no permission for. */
function watch(connection: NatsConnection, log: Log): void {
  void (async () => {
    for await (const status of connection.status())
      if (status.type === 'error')
        log.warn({}, `the server refuses something: ${messageOf(status.error)}`, 'refused by the server');
  })();
}
