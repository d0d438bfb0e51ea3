// What the hub answers over HTTP, path by path. openapi/document.ts tells machines the same, and a spec compares both.

import { existsSync } from 'node:fs';
import { HubError } from '../../model/error.ts';
import type { Origin } from '../../model/parameter.ts';
import type { HttpRequest, HttpResponse } from '../../net/uws.ts';
import type { Log } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { createDisk } from './files/disk.ts';
import { serveFile } from './files/document-root.ts';
import type { Handler } from './http/admission.ts';
import { acceptsJson } from './http/answer/accept.ts';
import { begin } from './http/answer/headers.ts';
import { replyError } from './http/answer/reply.ts';
import { createOwnerCheck } from './http/guard/owner.ts';
import { decodePath } from './http/path.ts';
import type { Route } from './http/router.ts';
import { asHubError } from './input/fault-gate.ts';
import type { WriteCounts } from './input/write-counts.ts';
import type { LimitHits } from './limits/limit-hits.ts';
import { PastShares } from './limits/past-shares.ts';
import { remoteAddress } from './limits/remote-address.ts';
import { createMetricsPage } from './metrics/page.ts';
import type { TaskQueue } from './pacing/work-queue.ts';
import { serveClientScript } from './pages/browser/client-script.ts';
import { consolePath, replyContents, serveConsoleFile, serveConsolePage } from './pages/browser/console.ts';
import { clientsOf } from './pages/clients.ts';
import { connectionsOf, connectionsPath, controlConnection } from './pages/connections.ts';
import { listDashboards, readDashboard } from './pages/dashboards.ts';
import { filesOf } from './pages/flow-files.ts';
import { healthOf, isLive, isReady } from './pages/health.ts';
import { wholeLogOf } from './pages/log.ts';
import { openApiOf } from './pages/openapi/document.ts';
import { type ReadPage, servePage, servePageOfFiles } from './pages/page.ts';
import { explainParameter, explainPath } from './pages/parameters/explain.ts';
import { listParameters } from './pages/parameters/list.ts';
import { type ParameterReader, parametersPath } from './pages/parameters/read.ts';
import { updateByGet, updateByPost } from './pages/parameters/update.ts';
import { auditPath, readAuditQuestion } from './pages/past/audit.ts';
import { eventsPath, readEventsQuestion } from './pages/past/events.ts';
import { historyPath, readHistoriesQuestion, readHistoryQuestion } from './pages/past/history.ts';
import { type PastContext, servePast } from './pages/past/serve-past.ts';
import { switchRule } from './pages/rules.ts';
import { reloadHub, shadowOf } from './pages/shadow.ts';
import { serveBackup } from './pages/store/backup.ts';
import { compareSnapshot, snapshotsOf, snapshotsPath } from './pages/store/snapshots.ts';
import { serveStore } from './pages/store/store.ts';
import { traceRule } from './pages/trace.ts';
import type { Settings } from './settings.ts';
import type { Sockets } from './sockets/sockets.ts';

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
  readonly sockets: Sockets;
  readonly reader: ParameterReader;
  readonly resolvePath: (path: string) => string;
  readonly originOf: (response: HttpResponse) => Origin;
  /** The folder of the built console. */
  readonly consoleFolder: string;
}

/** Answers before it returns, or later. */
type Serve = (response: HttpResponse, request: HttpRequest) => Promise<void>;

export function routesOf(context: RouteContext): Route[] {
  return [
    { path: '/ws', get: refusePlainHttp },
    ...parameterRoutes(context),
    ...pastRoutes(context),
    ...stateRoutes(context),
    ...operationRoutes(context),
    ...storeRoutes(context),
    ...dashboardRoutes(context),
    ...browserRoutes(context),
    { path: '/hub/*', get: replyNotFound },
    ...documentRoutes(context),
  ];
}

/** Values of parameters, and why they are so. */
function parameterRoutes(context: RouteContext): Route[] {
  const { hub, settings, originOf, reader } = context;
  const json = pagesOf(context);
  return [
    { path: `${parametersPath}*`, get: (response, request) => reader.answer(response, request) },
    {
      path: '/update',
      ...(settings.getUpdates && {
        getWrites: true,
        get: (response, request) => updateByGet(context, originOf(response), response, request),
      }),
      post: (response, request) => updateByPost(context, originOf(response), response, request),
    },
    { path: '/hub/parameters', get: (response, request) => listParameters(context, response, request) },
    { path: `${explainPath}*`, get: json(({ path }) => explainParameter(hub, path)) },
  ];
}

/** What was, as far as a store knows. */
function pastRoutes({ hub, tasks, log }: RouteContext): Route[] {
  const past: PastContext = { hub, tasks, log, shares: new PastShares() };
  return [
    { path: historyPath, get: servePast(past, readHistoriesQuestion) },
    { path: `${historyPath}/*`, get: servePast(past, readHistoryQuestion) },
    { path: `${eventsPath}*`, get: servePast(past, readEventsQuestion) },
    { path: auditPath, get: servePast(past, readAuditQuestion) },
  ];
}

/** How the hub is, and what it has. */
function stateRoutes(context: RouteContext): Route[] {
  const { hub, settings, log, sockets } = context;
  const json = pagesOf(context);
  return [
    { path: '/hub/clients', get: json(() => clientsOf(sockets.clients())) },
    { path: '/hub/files', get: json(() => filesOf(hub)) },
    { path: '/hub/health', get: json(() => healthOf(hub)) },
    { path: '/hub/health/live', get: json(isLive) },
    { path: '/hub/health/ready', get: json(() => isReady(hub)) },
    { path: '/hub/metrics', get: later(createMetricsPage(context, log), log) },
    { path: '/hub/log', get: json(({ query }) => wholeLogOf(hub, query)) },
    { path: '/hub/openapi.json', get: json(() => openApiOf(hub.version, settings)) },
    { path: '/hub/trace', get: json(({ query }) => traceRule(hub, query)) },
  ];
}

/** What can be switched, stopped and started again. */
function operationRoutes(context: RouteContext): Route[] {
  const { id, hub, log, originOf } = context;
  const operationOf = (response: HttpResponse) => ({ id, hub, log, by: originOf(response) });
  const json = pagesOf(context);
  return [
    { path: connectionsPath, get: json(() => connectionsOf(hub)) },
    {
      path: `${connectionsPath}/*`,
      post: (response, request) => controlConnection(operationOf(response), response, request),
    },
    {
      path: '/hub/rules',
      get: json(() => hub.rules()),
      post: (response, request) => switchRule(operationOf(response), response, request),
    },
    { path: '/hub/reload', post: (response, request) => reloadHub(operationOf(response), response, request) },
    { path: '/hub/shadow', get: json(() => shadowOf(hub)) },
  ];
}

/** What the store keeps. */
function storeRoutes(context: RouteContext): Route[] {
  const { hub, settings, log } = context;
  const json = pagesOf(context);
  const expectOwner = createOwnerCheck(settings);
  return [
    {
      path: '/hub/backup',
      getWrites: true, // it changes nothing, but no page of another site may have it made
      get(response, request) {
        expectOwner(request, remoteAddress(response));
        serveBackup(hub, response, request, log);
      },
    },
    { path: '/hub/store', get: later((response, request) => serveStore(hub, response, request, log), log) },
    { path: snapshotsPath, get: json(() => snapshotsOf(hub)) },
    { path: `${snapshotsPath}/*`, get: json(({ path }) => compareSnapshot(hub, path)) },
  ];
}

function dashboardRoutes({ settings, log, resolvePath }: RouteContext): Route[] {
  const folder = settings.dashboards === '' ? undefined : resolvePath(settings.dashboards);
  const disk = createDisk(folder ?? '');
  const read = (path: string) => readDashboard(folder, decodePath(path.slice(dashboardsPath.length + 1)));
  return [
    { path: dashboardsPath, get: servePageOfFiles(disk, () => listDashboards(folder), log) },
    { path: `${dashboardsPath}/*`, get: servePageOfFiles(disk, read, log) },
  ];
}

/** What browsers open: the console, or where it would be, and the client library. */
function browserRoutes({ hub, settings, log, consoleFolder: folder }: RouteContext): Route[] {
  const disk = createDisk(folder);
  const script = later((response, request) => serveClientScript(disk, response, request, log), log);
  const others: Route[] = [
    { path: '/hub', get: redirectToHub },
    { path: '/hub/client.js', get: script },
  ];
  if (!settings.console)
    return [
      ...others,
      { path: '/hub/', get: (response) => replyContents(hub, response) },
      { path: `${consolePath}*`, get: replyNotFound },
    ];
  const page = later((response, request) => serveConsolePage(folder, disk, hub, response, request, log), log);
  const file = later((response, request) => serveConsoleFile(folder, disk, response, request, log), log);
  return [...others, { path: '/hub/', get: page }, { path: `${consolePath}*`, get: file }];
}

function documentRoutes({ settings, log, resolvePath }: RouteContext): Route[] {
  const root = settings.documentRoot && resolvePath(settings.documentRoot);
  if (root === '')
    return [
      { path: '/', get: redirectToHub },
      { path: '/*', get: replyNotFound },
    ];
  if (!existsSync(root)) log.warn({}, `documentRoot: expected a folder, there is none at ${root}`);
  const disk = createDisk(root);
  return [{ path: '/*', get: later((response, request) => serveFile(root, disk, response, request, log), log) }];
}

/** Makes handlers of what reads pages. */
function pagesOf({ tasks, log }: RouteContext): (read: ReadPage) => Handler {
  return (read) => servePage(read, tasks, log);
}

function later(serve: Serve, log: Log): Handler {
  return (response, request) => void serve(response, request).catch((error) => asHubError(error, log));
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
