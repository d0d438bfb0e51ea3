// REST API: HTTP to read and write parameters, a WebSocket for realtime updates, static files (spec.md "Endpoints").

import { existsSync } from 'node:fs';
import { Observable } from 'rxjs';
import { HubError } from '../../model/error.ts';
import type { Origin } from '../../model/parameter.ts';
import { createApp, type HttpRequest, type HttpResponse, listen } from '../../net/uws.ts';
import { type ConnectionContext, type ConnectionEvent, defineGatewayType, type HubPort } from '../connection.ts';
import { serveClientScript } from './client-script.ts';
import { contentsOf } from './contents.ts';
import { serveFile } from './document-root.ts';
import { asHubError } from './exchange.ts';
import { explainParameter, explainPath } from './explain.ts';
import { createGuard } from './guard.ts';
import { healthOf } from './health.ts';
import { listParameters, parametersPath, readParameter } from './parameters.ts';
import { remoteAddress } from './remote-address.ts';
import { acceptsJson, jsonType, replyError, textType } from './reply.ts';
import { createRouter } from './router.ts';
import { type Settings, settingsSchema } from './settings.ts';
import { type Sockets, serveSockets } from './sockets.ts';
import { traceRule } from './trace.ts';
import { updateByGet, updateByPost } from './update.ts';

export const restApi = defineGatewayType({
  type: 'rest-api',
  config: settingsSchema,
  parameters: () => [],
  claims: ({ port, bindIp }) => (port === 0 ? [] : [{ name: `port ${port}`, scope: isOpen(bindIp) ? '*' : bindIp }]),
  run: (context, hub) =>
    new Observable<ConnectionEvent>((subscriber) => {
      const server = startServer(context, hub);
      const changes = hub.changes$.subscribe({
        next: (change) => server.sockets.tell(change),
        error: (error) => subscriber.error(error),
      });
      const declared = hub.declared$.subscribe({
        next: (parameter) => server.sockets.declare(parameter),
        error: (error) => subscriber.error(error),
      });
      const removed = hub.removed$.subscribe({
        next: (parameter) => server.sockets.forget(parameter),
        error: (error) => subscriber.error(error),
      });
      subscriber.next({ state: 'running' });
      return () => {
        changes.unsubscribe();
        declared.unsubscribe();
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
  const { read, write, admit } = createRouter(app, guard, log);
  const originOf = (response: HttpResponse): Origin => ({ kind: 'client', name: `${id} ${remoteAddress(response)}` });
  const sockets = serveSockets({ app, hub, settings: config, log, admit, originOf });

  read(`${parametersPath}*`, (response, request) => readParameter(hub, response, request));
  write('/update', {
    get: (response, request) => updateByGet(hub, originOf(response), response, request),
    post: (response, request) => updateByPost(hub, originOf(response), response, request, log),
  });
  read('/ws', refusePlainHttp);
  read('/hub', redirectToHub);
  read('/hub/', (response) => response.writeHeader('Content-Type', textType).end(contentsOf(hub)));
  read('/hub/client.js', (response, request) => {
    serveClientScript(response, request, log).catch((error) => asHubError(error, log));
  });
  read('/hub/health', (response) => response.writeHeader('Content-Type', jsonType).end(healthOf(hub)));
  read('/hub/parameters', (response, request) => listParameters(hub, response, request, log));
  read(`${explainPath}*`, (response, request) => explainParameter(hub, response, request));
  read('/hub/rules', (response) =>
    response.writeHeader('Content-Type', jsonType).end(`${JSON.stringify(hub.rules())}\n`),
  );
  read('/hub/trace', (response, request) => traceRule(hub, response, request));
  read('/hub/*', replyNotFound);
  if (config.documentRoot === '') {
    read('/', redirectToHub);
    read('/*', replyNotFound);
  } else {
    const root = resolvePath(config.documentRoot);
    if (!existsSync(root)) log.warn({}, `documentRoot: expected a folder, there is none at ${root}`);
    read('/*', (response, request) => {
      serveFile(root, response, request, log).catch((error) => asHubError(error, log));
    });
  }

  const listener = listen(app, config.bindIp, config.port);
  const scheme = config.tls ? 'https' : 'http';
  log.info({ port: listener.port }, `listens on ${scheme}://${urlHost(config.bindIp)}:${listener.port}/`);
  if (isOpen(config.bindIp) && guard.challenges.length === 0)
    log.warn(
      {},
      'OPEN TO THE NETWORK: everyone who reaches this machine can read and write; set username, token or bindIp',
    );
  return {
    sockets,
    async stop() {
      listener.close();
      const hadClients = sockets.count > 0;
      sockets.close();
      if (hadClients) await new Promise((resolve) => setTimeout(resolve, goodbyeMs));
      app.close();
    },
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

function redirectToHub(response: HttpResponse): void {
  response.writeStatus('302 Found').writeHeader('Location', '/hub/').end();
}

/** Whether all interfaces of the machine are listened on. */
function isOpen(bindIp: string): boolean {
  return ['', '0.0.0.0', '::'].includes(bindIp);
}

function urlHost(bindIp: string): string {
  if (bindIp === '') return 'localhost';
  return bindIp.includes(':') ? `[${bindIp}]` : bindIp;
}
