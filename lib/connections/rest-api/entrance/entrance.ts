// The entrance is where clients come in: a port, and the app of uWebSockets.js behind it. An app shows one certificate all its life.
// So a renewed certificate gets an app of its own, which takes over the port.

import { platform } from 'node:os';
import { concat, NEVER, type Observable, of, type SchedulerLike, timer } from 'rxjs';
import { exhaustMap, map, startWith, tap } from 'rxjs/operators';
import { holdLateUpgrades } from '../../../net/late-upgrade.ts';
import { createApp, type ListenSocket, listen, type TemplatedApp } from '../../../net/uws.ts';
import type { ConnectionEvent, Log } from '../../connection.ts';
import type { Apps } from './apps.ts';
import type { CertificateFiles } from './certificate.ts';
import { Renewal } from './renewal.ts';

/** How often the entrance looks at the files of the certificate. */
const lookEveryMs = 2000;
/** How long an app that was replaced still serves clients that have no WebSocket. */
const restMs = 3_600_000;

export interface Entrance {
  readonly port: number;
  /** How it is doing, at once and every two seconds. While somebody subscribes, it looks for a renewed certificate. Never errors. */
  readonly state$: Observable<ConnectionEvent>;
  /** From now on it takes no new connection; those that are open stay. */
  shut(): void;
  /** Cuts all connections; resolves when nothing of them is left here. */
  close(): Promise<void>;
}

export interface EntranceOptions {
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
