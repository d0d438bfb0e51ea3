// Puts together the parts of the server of a REST API connection.

import { interval, type Observable } from 'rxjs';
import type { Origin, Parameter } from '../../model/parameter.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { isEveryInterface } from '../setting.ts';
import { ParameterReader } from './endpoints/parameter.ts';
import { routesOf } from './endpoints/routes.ts';
import { Apps, openEntrance } from './entrance/entrance.ts';
import type { Handler } from './http/admission.ts';
import { createOpenAnswer } from './http/answer/headers.ts';
import { Attempts } from './http/guard/attempts.ts';
import { Entry } from './http/guard/entry.ts';
import { createGuard } from './http/guard/guard.ts';
import { Witness } from './http/guard/witness.ts';
import { PostponedRequests } from './http/postponed-requests.ts';
import { createRouter } from './http/router.ts';
import { WriteCounts } from './input/write-counts.ts';
import { createConnectionCount } from './limits/connection-count.ts';
import { createLimitHits, type LimitHits } from './limits/limit-hits.ts';
import { createRates } from './limits/rates.ts';
import { FairQueue } from './pacing/fair-queue.ts';
import { Round } from './pacing/round.ts';
import { shownAddress } from './proxies/address.ts';
import { TrustedProxies } from './proxies/trusted-proxies.ts';
import type { Settings } from './settings.ts';
import { type Sockets, serveSockets } from './sockets/sockets.ts';
import type { AccountSettings } from './users/accounts.ts';
import { Devices, noteMs } from './users/devices.ts';
import { type Departure, Directory } from './users/directory.ts';
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
export function startServer(context: ConnectionContext<Settings>, hub: HubPort, consoleFolder: string): Server {
  const { id, settings, log, scheduler, resolvePath } = context;
  const hits = createLimitHits(log);
  const { directory, devices, entry, guard } = createReception(context, hub, {
    hits,
    dismiss: (departures) => sockets.dismiss(departures),
    portOf: () => entrance.port,
  });
  const writes = new WriteCounts();
  const rates = createRates(settings.limits);
  const round = new Round();
  const queue = new FairQueue(round);
  const openAnswer = createOpenAnswer(settings);
  const apps = new Apps();
  const proxies = new TrustedProxies(settings.trustedProxies, settings.tls !== undefined);
  const { filter, countSocket } = createConnectionCount(settings.limits, hits, () => entrance.port, proxies);
  const postponed = new PostponedRequests(round, queue, hits);
  const shared = { hub, settings, log, hits, writes, rates, queue, originOf: createOrigins(id) };
  const sockets = serveSockets({ ...shared, countSocket, apps, round });
  const reader = new ParameterReader();
  let isStopping = false;
  const stopping = { isStopping: () => isStopping };
  const readValue: Handler = (response, request, visitor) => reader.answer(response, request, visitor);
  const routes = routesOf({ ...shared, ...stopping, id, sockets, entry, readValue, resolvePath, consoleFolder });
  const { bindIp, port, tls } = settings;
  const entrance = openEntrance({
    ...{ bindIp, port, log, scheduler, apps },
    tls: tls && { certFile: resolvePath(tls.certFile), keyFile: resolvePath(tls.keyFile) },
    furnish(app) {
      const router = createRouter({ app, guard, proxies, openAnswer, log, hits, rates, postponed });
      app.filter(filter);
      for (const route of routes) router.add(route);
      return sockets.serve(app, router.admit);
    },
  });
  const noting = interval(noteMs, scheduler).subscribe(() => entry.forget());
  tellWhere(context, entrance.port, directory.everybody !== undefined);
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

interface ReceptionOptions {
  readonly hits: LimitHits;
  /** Closes the sockets of who has left. */
  readonly dismiss: (departures: readonly Departure[]) => void;
  /** The port of the entrance, once that is open. */
  readonly portOf: () => number;
}

/** Creates what decides who may come in. Errors: `cannot-start`. */
function createReception(
  { id, settings, log, withoutSecrets, resolvePath }: ConnectionContext<Settings>,
  hub: HubPort,
  { hits, dismiss, portOf }: ReceptionOptions,
) {
  const directory = new Directory(settings, hub);
  const attempts = new Attempts(settings.limits.wrongCredentials);
  const deviceFile = settings.deviceFile === '' ? undefined : resolvePath(settings.deviceFile);
  const devices = new Devices(directory, deviceFile, log, dismiss);
  const entry = new Entry({
    ...{ directory, devices, attempts, witness: new Witness({ id, log, withoutSecrets }, hub), hits },
    cookieName: () => `patchbay-${portOf()}`,
    hasTls: settings.tls !== undefined,
  });
  return { directory, devices, entry, guard: createGuard(settings, entry, attempts) };
}

/** Tells of a visitor who it is, for those who see what it has written. */
function createOrigins(id: string): (visitor: Visitor, address: string) => Origin {
  const prefix = `${id} `; // one for all clients
  return ({ name }, address) => {
    const shown = shownAddress(address);
    return { kind: 'client', name: prefix + (name === '' ? shown : `${name} ${shown}`) };
  };
}

/** Tells the operator where the server listens, and whether everybody may come in. */
function tellWhere({ settings, log }: ConnectionContext<Settings>, port: number, isOpenToAll: boolean): void {
  const { bindIp, tls } = settings;
  const scheme = tls ? 'https' : 'http';
  log.info({ port }, `listens on ${scheme}://${urlHost(bindIp)}:${port}/`);
  if (isEveryInterface(bindIp) && isOpenToAll)
    log.warn(
      {},
      'OPEN TO THE NETWORK: everyone who reaches this machine can read and write; set users, username, token or bindIp',
    );
}

function urlHost(bindIp: string): string {
  if (bindIp === '') return 'localhost';
  return bindIp.includes(':') ? `[${bindIp}]` : bindIp;
}
