// The connection type REST API: HTTP reads and writes parameters, a WebSocket sends their changes, and the hub serves static files.
import { interval, Observable } from 'rxjs';
import type { Origin, Parameter } from '../../model/parameter.ts';
import { claimFile, claimTcpPort } from '../claim.ts';
import { type ConnectionContext, type ConnectionEvent, defineGatewayType } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { isEveryInterface } from '../setting.ts';
import { DashboardChecker } from './dashboards/dashboard-checker.ts';
import { documentsIn, hintsAboutFolder, mistakesInDashboards } from './dashboards/served-dashboards.ts';
import { builtConsole } from './endpoints/browser.ts';
import { ParameterReader } from './endpoints/one-parameter.ts';
import { routesOf } from './endpoints/routes.ts';
import { Apps, openEntrance } from './entrance/entrance.ts';
import { readNow } from './files/reading.ts';
import type { Handler } from './http/admission.ts';
import { createOpenAnswer } from './http/answer/headers.ts';
import { Attempts } from './http/guard/attempts.ts';
import { AuditSink, Entry } from './http/guard/entry.ts';
import { createGuard } from './http/guard/guard.ts';
import { PostponedRequests } from './http/postponed-requests.ts';
import { createRouter } from './http/router.ts';
import { createConnectionCount } from './limits/connection-count.ts';
import { createLimitHits, type LimitHits } from './limits/limit-hits.ts';
import { createRates, WriteCounts } from './limits/rates.ts';
import { FairQueue } from './pacing/fair-queue.ts';
import { Round } from './pacing/round.ts';
import { shownAddress } from './proxies/ip-address.ts';
import { TrustedProxies, trustHints } from './proxies/trusted-proxies.ts';
import { type Settings, settingsSchema } from './settings.ts';
import { type Sockets, serveSockets } from './sockets/sockets.ts';
import { type AccountSettings, accountMistakes, isOpen, rightHints } from './users/accounts.ts';
import { Devices, noteMs } from './users/devices.ts';
import { type Departure, Directory } from './users/directory.ts';
import type { Principal } from './users/principal.ts';

/** The settings that define users and their rights; changes to them take effect without a restart of the server. */
const accountSettings = new Set<string>([
  'username',
  'password',
  'token',
  'users',
  'anonymous',
] satisfies (keyof Settings)[]);

/** Checks edited dashboards for all REST API connections. Its thread ends when nobody is editing. */
const checker = new DashboardChecker();

/** Creates the connection type `rest-api`. `consoleFolder` is the folder with the built console. */
export function createRestApi(consoleFolder: string) {
  return defineGatewayType({
    type: 'rest-api',
    grantsAccess: true,
    isExternal: true,
    settingsSchema,
    parameters: () => [],
    claims: ({ port, bindIp, deviceFile }, resolvePath) => [
      ...claimTcpPort(port, bindIp),
      ...(deviceFile === '' ? [] : claimFile(resolvePath(deviceFile))),
    ],
    mistakes: accountMistakes,
    hints: (settings, declared, resolvePath) => [
      ...rightHints(settings, declared),
      ...trustHints(settings.trustedProxies),
      ...(settings.dashboards === '' ? [] : readNow(hintsAboutFolder(resolvePath(settings.dashboards)))),
    ],
    furtherMistakes: ({ dashboards }, resolvePath, whyUnknown) =>
      dashboards === '' ? [] : readNow(mistakesInDashboards(resolvePath(dashboards), whyUnknown)),
    documents: ({ dashboards }, resolvePath) =>
      dashboards === '' ? undefined : documentsIn(resolvePath(dashboards), checker),
    takesOver,
    belongings: ({ dashboards, deviceFile }, resolvePath) =>
      [dashboards, deviceFile].filter((path) => path !== '').map(resolvePath),
    privateFiles: ({ dashboards, deviceFile, tls }, resolvePath) => [
      ...(tls === undefined ? [] : [{ path: resolvePath(tls.keyFile) }]),
      ...(deviceFile === '' ? [] : [{ path: resolvePath(deviceFile) }]),
      ...(dashboards === '' ? [] : [{ path: resolvePath(dashboards), names: /\.json5/i }]),
    ],
    servedFolders: ({ documentRoot }, resolvePath) =>
      documentRoot === '' ? [] : [{ setting: ['documentRoot'], path: resolvePath(documentRoot) }],
    run: (context, hub) =>
      new Observable<ConnectionEvent>((subscriber) => {
        const { sockets, state$, adopt, forget, stop } = startServer(context, hub, consoleFolder);
        const follow = <T>(stream$: Observable<T>, next: (one: T) => void) =>
          stream$.subscribe({ next, error: (error) => subscriber.error(error) });
        const following = [
          follow(hub.changes$, sockets.notify),
          follow(hub.declared$, sockets.declare),
          follow(hub.removed$, forget),
          follow(hub.mirroring.stale$, sockets.reportStale),
          follow(hub.mirroring.lost$, sockets.reportLost),
          follow(context.settings$, adopt),
          follow(state$, (event) => subscriber.next(event)),
        ];
        sockets.reportStale(hub.parameters()); // reports the parameters that became stale before the start
        return () => {
          for (const one of following) one.unsubscribe();
          context.finish(stop());
        };
      }),
  });
}

/**
 * Returns the settings `before` with those changes in `after` that take effect immediately: users and their rights. Returns undefined if
 * the hub was or becomes open. Clients with unchanged rights and credentials stay connected.
 */
function takesOver(before: Settings, after: Settings): Settings | undefined {
  if (isOpen(before) || isOpen(after)) return undefined;
  const kept = Object.entries(before).filter(([name]) => !accountSettings.has(name));
  const taken = Object.entries(after).filter(([name]) => accountSettings.has(name));
  return Object.fromEntries([...kept, ...taken]) as Settings;
}

export const restApi = createRestApi(builtConsole);

// Connects the parts of a REST API server.

/**
 * The time that clients have to receive the close frame, or the answer to their handshake, before the hub cuts their connections, in
 * milliseconds.
 */
const goodbyeMs = 100;

interface Server {
  readonly sockets: Sockets;
  readonly state$: Observable<ConnectionEvent>;
  /** Applies changed users and rights; principals whose access has changed are disconnected. */
  adopt(settings: AccountSettings): void;
  /** Forgets a parameter that the hub has removed. */
  forget(parameter: Parameter): void;
  stop(): Promise<void>;
}

/** Starts the server of a REST API connection. Errors: `cannot-start`. */
function startServer(context: ConnectionContext<Settings>, hub: HubPort, consoleFolder: string): Server {
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
  const readValue: Handler = (response, request, principal) => reader.answer(response, request, principal);
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
  logWhere(context, entrance.port, directory.everybody !== undefined);
  return {
    sockets,
    state$: entrance.state$,
    adopt(next) {
      const { departures, changes } = directory.adopt(next);
      sockets.dismiss(devices.adopt(departures));
      entry.auditSink.noteUsers(changes);
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
  /** Closes the sockets of principals that have lost access. */
  readonly dismiss: (departures: readonly Departure[]) => void;
  /** Returns the port of the entrance; to be called only once the entrance is open. */
  readonly portOf: () => number;
}

/** Creates the parts that decide which clients are admitted: the users, their devices, and the guard. Errors: `cannot-start`. */
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
    ...{ directory, devices, attempts, auditSink: new AuditSink({ id, log, withoutSecrets }, hub), hits },
    cookieName: () => `patchbay-${portOf()}`,
    hasTls: settings.tls !== undefined,
  });
  return { directory, devices, entry, guard: createGuard(settings, entry, attempts) };
}

/** Creates a function that describes a principal at an address as the origin of changes. `id` is the Connection ID. */
function createOrigins(id: string): (principal: Principal, address: string) => Origin {
  const prefix = `${id} `; // one string for all clients
  return ({ name }, address) => {
    const shown = shownAddress(address);
    return { kind: 'client', name: prefix + (name === '' ? shown : `${name} ${shown}`) };
  };
}

/** Logs the server's address, and a warning if the server is open to the network. */
function logWhere({ settings, log }: ConnectionContext<Settings>, port: number, isOpenToAll: boolean): void {
  const { bindIp, tls } = settings;
  const scheme = tls ? 'https' : 'http';
  log.info({ port }, `listening on ${scheme}://${urlHost(bindIp)}:${port}/`);
  if (isEveryInterface(bindIp) && isOpenToAll)
    log.warn(
      {},
      'OPEN TO THE NETWORK: everyone who can reach this machine can read and write; set users, username, token or bindIp',
    );
}

function urlHost(bindIp: string): string {
  if (bindIp === '') return 'localhost';
  return bindIp.includes(':') ? `[${bindIp}]` : bindIp;
}
