// The entrance is where clients come in: a port, and the app of uWebSockets.js behind it. An app shows one certificate all its life.
// So a renewed certificate gets an app of its own, which takes over the port.
import { platform } from 'node:os';
import { concat, NEVER, type Observable, of, type SchedulerLike, timer } from 'rxjs';
import { exhaustMap, map, startWith, tap } from 'rxjs/operators';
import { holdLateUpgrades } from '../../../net/late-upgrade.ts';
import { createApp, type ListenSocket, listen, type TemplatedApp } from '../../../net/uws.ts';
import type { ConnectionEvent, Log } from '../../connection.ts';
import { type CertificateFiles, Renewal } from './certificate.ts';

/** How often the entrance looks at the files of the certificate. */
const lookEveryMs = 2000;
/** How long an app that was replaced still serves clients that have no WebSocket. */
const restMs = 3_600_000;

interface Entrance {
  readonly port: number;
  /** How it is doing, at once and every two seconds. While somebody subscribes, it looks for a renewed certificate. Never errors. */
  readonly state$: Observable<ConnectionEvent>;
  /** From now on it takes no new connection; those that are open stay. */
  shut(): void;
  /** Cuts all connections; resolves when nothing of them is left here. */
  close(): Promise<void>;
}

interface EntranceOptions {
  readonly bindIp: string;
  readonly port: number;
  readonly tls: CertificateFiles | undefined;
  readonly log: Log;
  readonly scheduler: SchedulerLike;
  /** Gets each app that serves clients. */
  readonly apps: Apps;
  /** Adds routes and sockets to an app; returns a function that tells whether a WebSocket of the app is open. */
  readonly furnish: (app: TemplatedApp) => () => boolean;
}

/** Opens an entrance. Errors: `cannot-start` when the port is taken, or something is wrong with the certificate. */
export function openEntrance({ bindIp, port, tls, log, scheduler, apps, furnish }: EntranceOptions): Entrance {
  let listener: ListenSocket | undefined;
  let boundPort = port;

  const open = () => {
    const app = createApp(tls);
    const hasSockets = furnish(app);
    shut(); // two apps that listen on one port would share its clients
    if (platform() === 'win32') apps.closeAll(); // on Windows a port is not free while it has connections
    listener = listen(app, bindIp, boundPort);
    if (boundPort === 0 && tls !== undefined) listener = listenAgain(app, bindIp, listener);
    boundPort = listener.port;
    apps.add(app, hasSockets, scheduler.now());
  };
  const shut = () => {
    listener?.close();
    listener = undefined;
  };
  const giveBack = holdLateUpgrades(); // first, as it may fail: then no port is left taken
  const start = () => {
    try {
      if (tls !== undefined) return new Renewal(tls, log, open);
      open();
      return undefined;
    } catch (error) {
      void giveBack();
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
      return giveBack();
    },
  };
}

/** Listens again on the port that the system chose, by its number: another app can take over only such a port. */
function listenAgain(app: TemplatedApp, bindIp: string, listener: ListenSocket): ListenSocket {
  const { port } = listener;
  listener.close();
  return listen(app, bindIp, port);
}

// The apps of uWebSockets.js that serve the clients of a port. There are several after a certificate was renewed: new clients come to
// the newest app, and those before it keep their clients.

/** How many apps there are at most. When there would be more, the clients of the oldest are cut. */
const maxApps = 8;

interface ServingApp {
  readonly app: TemplatedApp;
  /** Whether a WebSocket of the app is open. */
  readonly hasSockets: () => boolean;
  replacedAtMs: number;
}

export class Apps {
  /** The newest first. */
  #apps: ServingApp[] = [];

  /** Adds the newest app; the one before it is replaced now. */
  add(app: TemplatedApp, hasSockets: () => boolean, nowMs: number): void {
    const [before] = this.#apps;
    if (before !== undefined) before.replacedAtMs = nowMs;
    this.#apps = [{ app, hasSockets, replacedAtMs: Number.POSITIVE_INFINITY }, ...this.#apps];
    this.#keep((one) => this.#apps.indexOf(one) < maxApps);
  }

  /** Hands a frame to the sockets that subscribe to a topic, whichever app they belong to. */
  publish(topic: ArrayBuffer, frame: Uint8Array): void {
    for (const { app } of this.#apps) app.publish(topic, frame, false, false);
  }

  /** Closes the apps that were replaced before a time and have no WebSocket. */
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
