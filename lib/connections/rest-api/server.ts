// Puts together the parts of the server of a REST API connection.

import { interval, type Observable } from 'rxjs';
import type { Origin, Parameter } from '../../model/parameter.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { isEveryInterface } from '../setting.ts';
import { Apps } from './entrance/apps.ts';
import { openEntrance } from './entrance/entrance.ts';
import { createOpenAnswer } from './http/answer/headers.ts';
import { Attempts } from './http/guard/attempts.ts';
import { Entry } from './http/guard/entry.ts';
import { createGuard } from './http/guard/guard.ts';
import { Witness } from './http/guard/witness.ts';
import { PostponedRequests } from './http/postponed-requests.ts';
import { createRouter } from './http/router.ts';
import { WriteCounts } from './input/write-counts.ts';
import { createConnectionCount } from './limits/connection-count.ts';
import { createLimitHits } from './limits/limit-hits.ts';
import { createRates } from './limits/rates.ts';
import { Pace } from './pacing/pace.ts';
import { createTaskQueue } from './pacing/work-queue.ts';
import { ParameterReader } from './pages/parameters/read.ts';
import { routesOf } from './routes/routes.ts';
import type { Settings } from './settings.ts';
import { type Sockets, serveSockets } from './sockets/sockets.ts';
import type { AccountSettings } from './users/accounts.ts';
import { Devices, noteMs } from './users/devices.ts';
import { Directory } from './users/directory.ts';
import type { Visitor } from './users/visitor.ts';

/** How long clients have to take the close frame, or the answer to their handshake, before their connections are cut. */
const goodbyeMs = 100;

export interface Server {
  readonly sockets: Sockets;
  readonly state$: Observable<ConnectionEvent>;
  /** Takes over who may come in, and what they may do. */
  adopt(settings: AccountSettings): void;
  /** To be told of a parameter that is no more. */
  forget(parameter: Parameter): void;
  stop(): Promise<void>;
}

/** Starts the server of a connection. Errors: `cannot-start`. */
export function startServer(
  { id, settings, log, withoutSecrets, scheduler, resolvePath }: ConnectionContext<Settings>,
  hub: HubPort,
  consoleFolder: string,
): Server {
  const directory = new Directory(settings, hub);
  const attempts = new Attempts(settings.limits.wrongCredentials);
  const deviceFile = settings.deviceFile === '' ? undefined : resolvePath(settings.deviceFile);
  const devices = new Devices(directory, deviceFile, log, (departures) => sockets.dismiss(departures));
  const hits = createLimitHits(log);
  const entry = new Entry({
    ...{ directory, devices, attempts, witness: new Witness({ id, log, withoutSecrets }, hub), hits },
    cookieName: () => `${settings.tls ? '__Host-' : ''}patchbay-${entrance.port}`,
    isSecure: settings.tls !== undefined,
  });
  const guard = createGuard(settings, entry, attempts);
  const writes = new WriteCounts();
  const rates = createRates(settings.limits);
  const pace = new Pace();
  const openAnswer = createOpenAnswer(settings);
  const prefix = `${id} `; // one for all clients
  const originOf = ({ name }: Visitor, address: string): Origin => ({
    kind: 'client',
    name: prefix + (name === '' ? address : `${name} ${address}`),
  });
  const tasks = createTaskQueue();
  const apps = new Apps();
  const { filter, countSocket, requesting } = createConnectionCount(settings.limits, hits, () => entrance.port);
  const postponed = new PostponedRequests(pace, hits, requesting);
  const sockets = serveSockets({ countSocket, apps, hub, settings, log, hits, writes, rates, pace, tasks, originOf });
  const reader = new ParameterReader();
  let isStopping = false;
  const routes = routesOf({
    id,
    hub,
    settings,
    log,
    tasks,
    hits,
    writes,
    rates,
    sockets,
    entry,
    reader,
    resolvePath,
    isStopping: () => isStopping,
    originOf,
    consoleFolder,
  });
  const { bindIp, port, tls } = settings;
  const entrance = openEntrance({
    bindIp,
    port,
    tls: tls && { certFile: resolvePath(tls.certFile), keyFile: resolvePath(tls.keyFile) },
    log,
    scheduler,
    apps,
    furnish(app) {
      const router = createRouter({ app, guard, openAnswer, log, hits, rates, postponed });
      app.filter(filter);
      for (const route of routes) router.add(route);
      return sockets.serve(app, router.admit);
    },
  });
  const noting = interval(noteMs, scheduler).subscribe(() => entry.forget());
  const scheme = tls ? 'https' : 'http';
  log.info({ port: entrance.port }, `listens on ${scheme}://${urlHost(bindIp)}:${entrance.port}/`);
  if (isEveryInterface(bindIp) && directory.everybody !== undefined)
    log.warn(
      {},
      'OPEN TO THE NETWORK: everyone who reaches this machine can read and write; set users, username, token or bindIp',
    );
  return {
    sockets,
    state$: entrance.state$,
    adopt(next) {
      const { departures, changes } = directory.adopt(next);
      sockets.dismiss(devices.adopt(departures));
      entry.witness.noteUsers(changes);
    },
    forget(parameter) {
      reader.forget();
      directory.forget(parameter.address);
      sockets.forget(parameter);
    },
    async stop() {
      isStopping = true;
      noting.unsubscribe();
      entrance.shut();
      if (sockets.close()) await new Promise((resolve) => setTimeout(resolve, goodbyeMs));
      await entrance.close();
      await devices.saved();
    },
  };
}

function urlHost(bindIp: string): string {
  if (bindIp === '') return 'localhost';
  return bindIp.includes(':') ? `[${bindIp}]` : bindIp;
}
