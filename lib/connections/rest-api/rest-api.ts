// REST API: HTTP to read and write parameters, a WebSocket for realtime updates, static files (spec.md "Endpoints").

import { Observable } from 'rxjs';
import { HubError } from '../../model/error.ts';
import type { Origin } from '../../model/parameter.ts';
import { createApp, type HttpRequest, type HttpResponse, listen } from '../../net/uws.ts';
import { type ConnectionContext, type ConnectionEvent, defineGatewayType, type HubPort } from '../connection.ts';
import { serveFile } from './document-root.ts';
import { asHubError } from './exchange.ts';
import { createGuard } from './guard.ts';
import { healthOf } from './health.ts';
import { listParameters, parametersPath, readParameter } from './parameters.ts';
import { acceptsJson, jsonType, replyError } from './reply.ts';
import { type Settings, settingsSchema } from './settings.ts';
import { type Sockets, serveSockets } from './sockets.ts';
import { updateByGet, updateByPost } from './update.ts';

export const restApi = defineGatewayType({
  type: 'rest-api',
  config: settingsSchema,
  parameters: () => [],
  claims: ({ port, bindIp }) => (port === 0 ? [] : [{ name: `port ${port}`, scope: bindIp === '' ? '*' : bindIp }]),
  run: (context, hub) =>
    new Observable<ConnectionEvent>((subscriber) => {
      const server = startServer(context, hub);
      const changes = hub.changes$.subscribe({
        next: (change) => server.sockets.tell(change),
        error: (error) => subscriber.error(error),
      });
      const removed = hub.removed$.subscribe({
        next: (parameter) => server.sockets.forget(parameter),
        error: (error) => subscriber.error(error),
      });
      subscriber.next({ state: 'running' });
      return () => {
        changes.unsubscribe();
        removed.unsubscribe();
        context.finish(server.stop());
      };
    }),
});

/** How long clients have to take the close frame before their sockets are cut. */
const goodbyeMs = 100;

interface Server {
  readonly sockets: Sockets;
  stop(): Promise<void>;
}

function startServer({ id, config, log, resolvePath }: ConnectionContext<Settings>, hub: HubPort): Server {
  const app = createApp(
    config.tls && { certFile: resolvePath(config.tls.certFile), keyFile: resolvePath(config.tls.keyFile) },
  );
  const guard = createGuard(config);
  const challenges = guard.challenges.map((challenge) => ['WWW-Authenticate', challenge] as const);
  const originOf = (response: HttpResponse): Origin => ({ kind: 'client', name: `${id} ${remoteAddress(response)}` });

  /** Answers a request that is not let in, and says so. */
  const refuse = (response: HttpResponse, request: HttpRequest, isWrite: boolean): boolean => {
    const refusal = guard.refusal(request, isWrite);
    if (refusal === undefined) return false;
    const asJson = acceptsJson(request.getHeader('accept'));
    replyError(response, refusal, asJson, refusal.code === 'unauthorized' ? challenges : []);
    return true;
  };
  type Handler = (response: HttpResponse, request: HttpRequest) => void | Promise<void>;
  const guarded =
    (handler: Handler, isWrite = false): Handler =>
    (response, request) =>
      refuse(response, request, isWrite) ? undefined : handler(response, request);
  const route = (path: string, methods: Record<string, Handler>, isWrite = false) => {
    for (const [method, handler] of Object.entries(methods)) app[method as 'get'](path, guarded(handler, isWrite));
    const allowed = Object.keys(methods).join(', ').toUpperCase();
    app.any(path, guarded(refuseMethod(allowed)));
  };

  const read: Handler = (response, request) => readParameter(hub, response, request);
  route(`${parametersPath}*`, { get: read, head: read });
  route(
    '/update',
    {
      get: (response, request) => updateByGet(hub, originOf(response), response, request),
      post: (response, request) => updateByPost(hub, originOf(response), response, request),
    },
    true,
  );
  const sockets = serveSockets({ app, hub, settings: config, originOf, refuse: (a, b) => refuse(a, b, true) });
  route('/ws', { get: refusePlainHttp });
  route('/hub/health', {
    get: (response) => void response.writeHeader('Content-Type', jsonType).end(healthOf(hub)),
  });
  route('/hub/parameters', {
    get: (response, request) => {
      const query = new URLSearchParams(request.getQuery() ?? '');
      listParameters(hub, response, query).catch((error) => replyError(response, asHubError(error), true));
    },
  });
  route('/hub/*', { get: replyNotFound, head: replyNotFound });
  if (config.documentRoot === '') route('/*', { get: replyNotFound, head: replyNotFound });
  else {
    const root = resolvePath(config.documentRoot);
    const serve: Handler = (response, request) => serveFile(root, response, request);
    route('/*', { get: serve, head: serve });
  }

  const listener = listen(app, config.bindIp, config.port);
  const scheme = config.tls ? 'https' : 'http';
  log.info({ port: listener.port }, `listens on ${scheme}://${urlHost(config.bindIp)}:${listener.port}/`);
  if (config.bindIp === '' && guard.challenges.length === 0)
    log.warn(
      {},
      'OPEN TO THE NETWORK: everyone who reaches this machine can read and write; set username, token or bindIp',
    );
  return {
    sockets,
    async stop() {
      listener.close();
      if (sockets.count > 0) {
        sockets.close();
        await new Promise((resolve) => setTimeout(resolve, goodbyeMs));
      }
      app.close();
    },
  };
}

function refuseMethod(allowed: string) {
  return (response: HttpResponse, request: HttpRequest) => {
    const error = new HubError('method-not-allowed', `expected ${allowed}, got ${request.getMethod().toUpperCase()}`);
    replyError(response, error, acceptsJson(request.getHeader('accept')), [['Allow', allowed]]);
  };
}

function refusePlainHttp(response: HttpResponse, request: HttpRequest): void {
  const error = new HubError('upgrade-required', '/ws: expected a WebSocket handshake, got plain HTTP');
  replyError(response, error, acceptsJson(request.getHeader('accept')), [['Upgrade', 'websocket']]);
}

function replyNotFound(response: HttpResponse, request: HttpRequest): void {
  const error = new HubError('not-found', `${request.getUrl()}: there is no such page`);
  replyError(response, error, acceptsJson(request.getHeader('accept')));
}

/** The client's address as people write it; IPv4 that comes by an IPv6 socket as IPv4. */
function remoteAddress(response: HttpResponse): string {
  return Buffer.from(response.getRemoteAddressAsText())
    .toString()
    .replace(/^(0000:){5}ffff:/, '::ffff:');
}

function urlHost(bindIp: string): string {
  if (bindIp === '') return 'localhost';
  return bindIp.includes(':') ? `[${bindIp}]` : bindIp;
}
