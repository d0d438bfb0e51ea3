// The entrance is a port and the uWebSockets.js app behind it. An app always presents the same certificate, so a new app, which takes over
// the port, is created for a renewed certificate.
import { platform } from 'node:os';
import { concat, NEVER, type Observable, of, type SchedulerLike, timer } from 'rxjs';
import { exhaustMap, map, startWith, tap } from 'rxjs/operators';
import { holdLateUpgrades } from '../../../net/late-upgrade.ts';
import { createApp, type ListenSocket, listen, type TemplatedApp } from '../../../net/uws.ts';
import type { ConnectionEvent, Log } from '../../connection.ts';
import { type CertificateFiles, Renewal } from './certificate.ts';

/** The interval at which the entrance checks the certificate files, in milliseconds. */
const lookEveryMs = 2000;
/** How long a replaced app without a WebSocket continues to serve clients, in milliseconds. */
const restMs = 3_600_000;

interface Entrance {
  readonly port: number;
  /**
   * Emits the state of the entrance, immediately and, with TLS, every two seconds. While subscribed, the entrance checks for a renewed
   * certificate. Never errors.
   */
  readonly state$: Observable<ConnectionEvent>;
  /** Stops accepting connections; open connections stay. */
  shut(): void;
  /** Cuts all connections; resolves when no connection is left. */
  close(): Promise<void>;
}

interface EntranceOptions {
  readonly bindIp: string;
  readonly port: number;
  readonly tls: CertificateFiles | undefined;
  readonly log: Log;
  readonly scheduler: SchedulerLike;
  /** Receives each app that serves clients. */
  readonly apps: Apps;
  /** Adds routes and sockets to an app; returns a function that checks whether a WebSocket of the app is open. */
  readonly furnish: (app: TemplatedApp) => () => boolean;
}

/** Opens a port and starts to serve clients. Errors: `cannot-start` if the port is taken or the certificate has an error. */
export function openEntrance({ bindIp, port, tls, log, scheduler, apps, furnish }: EntranceOptions): Entrance {
  let listener: ListenSocket | undefined;
  let boundPort = port;

  const open = () => {
    const app = createApp(tls);
    const hasSockets = furnish(app);
    shut(); // two apps that listen on one port would share the clients
    if (platform() === 'win32') apps.closeAll(); // on Windows, a port is not free while it has connections
    listener = listen(app, bindIp, boundPort);
    if (boundPort === 0 && tls !== undefined) listener = listenAgain(app, bindIp, listener);
    boundPort = listener.port;
    apps.add(app, hasSockets, scheduler.now());
  };
  const shut = () => {
    listener?.close();
    listener = undefined;
  };
  const releaseUpgrades = holdLateUpgrades(); // comes first, because a failure at this point leaves no port in use
  const start = () => {
    try {
      if (tls !== undefined) return new Renewal(tls, log, open);
      open();
      return undefined;
    } catch (error) {
      void releaseUpgrades();
      throw error;
    }
  };
  const renewal = start();

  const running: ConnectionEvent = { state: 'running' };
  return {
    get port() {
      return boundPort;
    },
    state$: renewal
      ? timer(0, lookEveryMs, scheduler).pipe(
          exhaustMap(() => renewal.stamp()),
          tap(() => apps.closeReplaced(scheduler.now() - restMs)),
          map((stamp) => renewal.take(stamp)),
          startWith(renewal.state()),
        )
      : concat(of(running), NEVER),
    shut,
    close() {
      apps.closeAll();
      return releaseUpgrades();
    },
  };
}

/**
 * Closes the listener and listens on the port that the system chose for it, this time by number, because another app can take over only a
 * port that was opened by number.
 */
function listenAgain(app: TemplatedApp, bindIp: string, listener: ListenSocket): ListenSocket {
  const { port } = listener;
  listener.close();
  return listen(app, bindIp, port);
}

// The uWebSockets.js apps that serve the clients of a port. After a certificate has been renewed, there are several apps: new clients go to
// the newest app, and the older apps keep their clients.

/** The maximum number of apps that serve clients. Beyond this number, the hub disconnects the clients of the oldest app. */
const maxApps = 8;

interface ServingApp {
  readonly app: TemplatedApp;
  /** Returns whether a WebSocket of the app is open. */
  readonly hasSockets: () => boolean;
  replacedAtMs: number;
}

export class Apps {
  /** The apps that serve clients, newest first. */
  #apps: ServingApp[] = [];

  /** Adds the newest app. From `nowMs` on, the app before it counts as replaced. */
  add(app: TemplatedApp, hasSockets: () => boolean, nowMs: number): void {
    const [before] = this.#apps;
    if (before !== undefined) before.replacedAtMs = nowMs;
    this.#apps = [{ app, hasSockets, replacedAtMs: Number.POSITIVE_INFINITY }, ...this.#apps];
    this.#keep((one) => this.#apps.indexOf(one) < maxApps);
  }

  /** Sends a frame to the sockets in all apps that subscribe to a topic. */
  publish(topic: ArrayBuffer, frame: Uint8Array): void {
    for (const { app } of this.#apps) app.publish(topic, frame, false, false);
  }

  /** Closes the apps that were replaced before `beforeMs` and have no open WebSocket. */
  closeReplaced(beforeMs: number): void {
    this.#keep(({ hasSockets, replacedAtMs }) => hasSockets() || replacedAtMs > beforeMs);
  }

  /** Closes all apps, which cuts all connections. */
  closeAll(): void {
    this.#keep(() => false);
  }

  #keep(stays: (one: ServingApp) => boolean): void {
    const before = this.#apps;
    this.#apps = before.filter(stays);
    for (const one of before) if (!this.#apps.includes(one)) one.app.close();
  }
}
