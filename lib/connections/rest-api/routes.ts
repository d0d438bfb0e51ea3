// What the hub answers over HTTP, path by path. openapi/document.ts tells machines the same, and a spec compares both.

import { existsSync } from 'node:fs';
import { HubError } from '../../model/error.ts';
import type { Origin } from '../../model/parameter.ts';
import type { Recording } from '../../model/recorded.ts';
import type { HttpRequest, HttpResponse } from '../../net/uws.ts';
import type { Log } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { createDisk } from './files/disk.ts';
import { serveFile } from './files/document-root.ts';
import type { Handler } from './http/admission.ts';
import { acceptsJson } from './http/answer/accept.ts';
import { begin } from './http/answer/headers.ts';
import { replyError } from './http/answer/reply.ts';
import { cutWith } from './http/exchange.ts';
import type { Entry } from './http/guard/entry.ts';
import { createOwnerCheck } from './http/guard/owner.ts';
import { decodePath } from './http/path.ts';
import type { Route } from './http/router.ts';
import { asHubError } from './input/fault-gate.ts';
import type { WriteCounts } from './input/write-counts.ts';
import type { LimitHits } from './limits/limit-hits.ts';
import { PastShares } from './limits/past-shares.ts';
import type { Rates } from './limits/rates.ts';
import { remoteAddress } from './limits/remote-address.ts';
import { shareOf } from './limits/share.ts';
import { createMetricsPage } from './metrics/page.ts';
import type { TaskQueue } from './pacing/work-queue.ts';
import { serveClientScript } from './pages/browser/client-script.ts';
import { consolePath, replyContents, serveConsoleFile, serveConsolePage } from './pages/browser/console.ts';
import { clientsOf } from './pages/clients.ts';
import { connectionsOf, connectionsPath, controlConnection } from './pages/connections.ts';
import { listDashboards, readDashboard } from './pages/dashboards.ts';
import { filesOf } from './pages/flow-files.ts';
import { healthOf, isLive, isReady } from './pages/health.ts';
import { hubsOf } from './pages/hubs.ts';
import { wholeLogOf } from './pages/log.ts';
import { openApiOf } from './pages/openapi/document.ts';
import { type PageRequest, type ReadPage, servePage, servePageOfFiles } from './pages/page.ts';
import { explainParameter, explainPath } from './pages/parameters/explain.ts';
import { listParameters } from './pages/parameters/list.ts';
import { type ParameterReader, parametersPath } from './pages/parameters/read.ts';
import { updateByGet, updateByPost } from './pages/parameters/update.ts';
import { auditPath, readAuditQuestion } from './pages/past/audit.ts';
import { eventsPath, readEventsQuestion } from './pages/past/events.ts';
import { historyPath, readHistoriesQuestion, readHistoryQuestion } from './pages/past/history.ts';
import { type PastContext, servePast } from './pages/past/serve-past.ts';
import { serveRecording } from './pages/record.ts';
import { switchRule } from './pages/rules.ts';
import { reloadHub, shadowOf } from './pages/shadow.ts';
import { serveBackup } from './pages/store/backup.ts';
import { compareSnapshot, snapshotsOf, snapshotsPath } from './pages/store/snapshots.ts';
import { serveStore } from './pages/store/store.ts';
import { traceRule } from './pages/trace.ts';
import { meOf, signIn, signOut } from './pages/users/sign-in.ts';
import { serveSignInFile, serveSignInPage, signInPath } from './pages/users/sign-in-page.ts';
import { actOnUsers, usersOf } from './pages/users/users.ts';
import type { Settings } from './settings.ts';
import type { Sockets } from './sockets/sockets.ts';
import { followTrace } from './tracing/traceparent.ts';
import type { Visitor } from './users/visitor.ts';

const dashboardsPath = '/hub/dashboards';

export interface RouteContext {
  /** The Connection ID of the REST API. */
  readonly id: string;
  readonly hub: HubPort;
  readonly settings: Settings;
  readonly log: Log;
  readonly tasks: TaskQueue;
  readonly hits: LimitHits;
  readonly writes: WriteCounts;
  readonly rates: Rates;
  readonly sockets: Sockets;
  readonly entry: Entry;
  readonly reader: ParameterReader;
  readonly resolvePath: (path: string) => string;
  readonly originOf: (response: HttpResponse, visitor: Visitor) => Origin;
  /** The folder of the built console. */
  readonly consoleFolder: string;
}

/** Answers before it returns, or later. */
type Serve = (response: HttpResponse, request: HttpRequest) => Promise<void>;

export function routesOf(context: RouteContext): Route[] {
  return [
    { path: '/ws', need: 'entry', get: refusePlainHttp },
    ...parameterRoutes(context),
    ...pastRoutes(context),
    ...stateRoutes(context),
    ...operationRoutes(context),
    ...storeRoutes(context),
    ...dashboardRoutes(context),
    ...userRoutes(context),
    ...browserRoutes(context),
    { path: '/hub/*', need: 'entry', get: replyNotFound },
    ...documentRoutes(context),
  ];
}

/** Values of parameters, and why they are so. */
function parameterRoutes(context: RouteContext): Route[] {
  const { hub, settings, originOf, reader, rates } = context;
  const json = pagesOf(context);
  const updaterOf = (response: HttpResponse, request: HttpRequest, visitor: Visitor) => ({
    view: visitor.view,
    origin: followTrace(originOf(response, visitor), request),
    expectRate: rates.writes && (() => expectRate(visitor, remoteAddress(response))),
  });
  /** Errors: `too-many-requests`. */
  const expectRate = (visitor: Visitor, address: string) => {
    const refusal = rates.writes?.({ share: shareOf(visitor, address), id: undefined }, 1);
    if (refusal !== undefined) throw refusal;
  };
  return [
    {
      path: `${parametersPath}*`,
      need: 'entry',
      get: (response, request, visitor) => reader.answer(response, request, visitor),
    },
    {
      path: '/update',
      need: 'entry',
      ...(settings.getUpdates && {
        getWrites: true,
        get: (response, request, visitor) =>
          updateByGet(context, updaterOf(response, request, visitor), response, request),
      }),
      post: (response, request, visitor) =>
        updateByPost(context, updaterOf(response, request, visitor), response, request),
    },
    {
      path: '/hub/parameters',
      need: 'entry',
      get: (response, request, visitor) => listParameters(context, visitor, response, request),
    },
    {
      path: `${explainPath}*`,
      need: 'entry',
      get: json(({ path, visitor }) => explainParameter(hub, visitor.view, path)),
    },
  ];
}

/** What was, as far as a store knows. */
function pastRoutes({ hub, tasks, log }: RouteContext): Route[] {
  const past: PastContext = { hub, tasks, log, shares: new PastShares() };
  return [
    { path: historyPath, need: 'entry', get: servePast(past, readHistoriesQuestion) },
    { path: `${historyPath}/*`, need: 'entry', get: servePast(past, readHistoryQuestion) },
    { path: `${eventsPath}*`, need: 'entry', get: servePast(past, readEventsQuestion) },
    { path: auditPath, need: 'manage', get: servePast(past, readAuditQuestion) },
  ];
}

/** How the hub is, and what it has. */
function stateRoutes(context: RouteContext): Route[] {
  const { hub, settings, log, sockets } = context;
  const json = pagesOf(context);
  return [
    { path: '/hub/clients', need: 'manage', get: json(() => clientsOf(sockets.clients())) },
    { path: '/hub/files', need: 'manage', get: json(() => filesOf(hub)) },
    { path: '/hub/health', need: 'entry', get: json(({ visitor }) => healthOf(hub, visitor)) },
    { path: '/hub/health/live', need: 'entry', get: json(isLive) },
    { path: '/hub/health/ready', need: 'entry', get: json(({ visitor }) => isReady(hub, visitor)) },
    { path: '/hub/metrics', need: 'metrics', get: later(createMetricsPage(context, log), log) },
    { path: '/hub/hubs', need: 'manage', get: json(() => hubsOf(hub)) },
    { path: '/hub/log', need: 'manage', get: json(({ query }) => wholeLogOf(hub, query)) },
    { path: '/hub/openapi.json', need: 'entry', get: json(() => openApiOf(hub.version, settings)) },
    { path: '/hub/trace', need: 'manage', get: json(({ query }) => traceRule(hub, query)) },
  ];
}

/** What can be switched, stopped and started again. */
function operationRoutes(context: RouteContext): Route[] {
  const { id, hub, log, originOf } = context;
  const operationOf = (response: HttpResponse, request: HttpRequest, visitor: Visitor) => ({
    ...{ id, hub, log, visitor },
    by: followTrace(originOf(response, visitor), request),
  });
  const json = pagesOf(context);
  return [
    { path: connectionsPath, need: 'manage', get: json(() => connectionsOf(hub)) },
    {
      path: `${connectionsPath}/*`,
      need: 'manage',
      post: (response, request, visitor) =>
        controlConnection(operationOf(response, request, visitor), response, request),
    },
    {
      path: '/hub/rules',
      need: 'manage',
      get: json(() => hub.rules()),
      post: (response, request, visitor) => switchRule(operationOf(response, request, visitor), response, request),
    },
    {
      path: '/hub/reload',
      need: 'manage',
      post: (response, request, visitor) => reloadHub(operationOf(response, request, visitor), response, request),
    },
    { path: '/hub/shadow', need: 'manage', get: json(() => shadowOf(hub)) },
  ];
}

/** What the store keeps. */
function storeRoutes(context: RouteContext): Route[] {
  const { hub, settings, log } = context;
  const json = pagesOf(context);
  const expectOwner = createOwnerCheck(settings);
  const recordings = new Set<Recording>();
  return [
    {
      path: '/hub/backup',
      need: 'manage',
      getWrites: true, // it changes nothing, but no page of another site may have it made
      get(response, request, visitor) {
        expectOwner(request, remoteAddress(response));
        serveBackup(hub, visitor, response, request, log);
      },
    },
    {
      path: '/hub/record',
      need: 'manage',
      getWrites: true, // it changes nothing, but no page of another site may have it made
      get(response, request, visitor) {
        expectOwner(request, remoteAddress(response));
        serveRecording(hub, recordings, visitor, response, log);
      },
    },
    {
      path: '/hub/store',
      need: 'manage',
      get: later((response, request) => serveStore(hub, response, request, log), log),
    },
    { path: snapshotsPath, need: 'entry', get: json(({ visitor }) => snapshotsOf(hub, visitor)) },
    {
      path: `${snapshotsPath}/*`,
      need: 'entry',
      get: json(({ path, visitor }) => compareSnapshot(hub, path, visitor)),
    },
  ];
}

function dashboardRoutes({ settings, log, resolvePath }: RouteContext): Route[] {
  const folder = settings.dashboards === '' ? undefined : resolvePath(settings.dashboards);
  const disk = createDisk(folder ?? '');
  const read = ({ path, visitor }: PageRequest) =>
    readDashboard(folder, decodePath(path.slice(dashboardsPath.length + 1)), visitor);
  return [
    {
      path: dashboardsPath,
      need: 'entry',
      get: servePageOfFiles(disk, ({ visitor }) => listDashboards(folder, visitor), log),
    },
    { path: `${dashboardsPath}/*`, need: 'entry', get: servePageOfFiles(disk, read, log) },
  ];
}

/** Who may come in, and how. */
function userRoutes(context: RouteContext): Route[] {
  const { entry, log } = context;
  const json = pagesOf(context);
  const dismiss: Sockets['dismiss'] = (departures) => context.sockets.dismiss(departures);
  return [
    { path: '/hub/me', need: 'nothing', get: json(({ visitor }) => meOf(entry, visitor)) },
    {
      path: signInPath,
      need: 'nothing',
      get: serveSignInPage,
      post: (response, request, visitor) => signIn(entry, log, visitor, response, request),
    },
    {
      path: `${signInPath}/*`,
      need: 'nothing',
      get: (response, request) => serveSignInFile(response, request.getUrl()),
    },
    {
      path: '/hub/sign-out',
      need: 'nothing',
      post: (response, request, visitor) => signOut(entry, dismiss, visitor, response, request, log),
    },
    {
      path: '/hub/users',
      need: 'manage',
      get: json(() => usersOf(entry)),
      post: (response, request, visitor) => actOnUsers(entry, dismiss, visitor, response, request, log),
    },
  ];
}

/** What browsers open: the console, or where it would be, and the client library. */
function browserRoutes({ hub, settings, log, consoleFolder: folder }: RouteContext): Route[] {
  const disk = createDisk(folder);
  const script = later((response, request) => serveClientScript(disk, response, request, log), log);
  const others: Route[] = [
    { path: '/hub', need: 'entry', get: redirectToHub },
    { path: '/hub/client.js', need: 'entry', get: script },
  ];
  if (!settings.console)
    return [
      ...others,
      { path: '/hub/', need: 'entry', get: (response) => replyContents(hub, response) },
      { path: `${consolePath}*`, need: 'entry', get: replyNotFound },
    ];
  const page = later((response, request) => serveConsolePage(folder, disk, hub, response, request, log), log);
  const file = later((response, request) => serveConsoleFile(folder, disk, response, request, log), log);
  return [
    ...others,
    { path: '/hub/', need: 'entry', get: page },
    { path: `${consolePath}*`, need: 'entry', get: file },
  ];
}

function documentRoutes({ settings, log, resolvePath }: RouteContext): Route[] {
  const root = settings.documentRoot && resolvePath(settings.documentRoot);
  if (root === '')
    return [
      { path: '/', need: 'entry', get: redirectToHub },
      { path: '/*', need: 'entry', get: replyNotFound },
    ];
  if (!existsSync(root)) log.warn({}, `documentRoot: expected a folder, there is none at ${root}`);
  const disk = createDisk(root);
  return [
    {
      path: '/*',
      need: 'entry',
      get: later((response, request) => serveFile(root, disk, response, request, log), log),
    },
  ];
}

/** Makes handlers of what reads pages. */
function pagesOf({ tasks, log }: RouteContext): (read: ReadPage) => Handler {
  return (read) => servePage(read, tasks, log);
}

/** Has an answer that takes long cut when its visitor has to leave. */
function later(serve: Serve, log: Log): Handler {
  return (response, request, visitor) => {
    const stay = cutWith(visitor, response);
    void serve(response, request)
      .catch((error) => asHubError(error, log))
      .finally(stay);
  };
}

function refusePlainHttp(response: HttpResponse, request: HttpRequest): void {
  const error = new HubError('upgrade-required', '/ws: expected a WebSocket handshake, got plain HTTP');
  replyError(response, error, acceptsJson(request.getHeader('accept')));
}

function replyNotFound(_: HttpResponse, request: HttpRequest): void {
  throw new HubError('not-found', `${request.getUrl()}: there is no such page`);
}

function redirectToHub(response: HttpResponse): void {
  begin(response, '302 Found').writeHeader('Location', '/hub/').end();
}
