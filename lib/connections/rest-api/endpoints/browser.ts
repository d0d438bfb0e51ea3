// The resources for browsers: the console at /hub/, the client library, and the files below the Document Root. `npm install` builds the
// console and the library.

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HubError } from '../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { text } from '../../../wire/http/shape.ts';
import { findFile, serveFile } from '../files/document-root.ts';
import { PrivateFileCheck } from '../files/opened-file.ts';
import { createDisk, type Reading, realPathOf } from '../files/reading.ts';
import { type FileService, type Place, replyFile } from '../files/static-file.ts';
import { beginValue, confine, redirect } from '../http/answer/headers.ts';
import { send } from '../http/answer/send.ts';
import type { Route } from '../http/router.ts';
import { shownPath } from '../input/request-path.ts';
import { badPath, type Context, type Endpoint, isNeeded, later } from './endpoint.ts';

/** The folder with the built console. The same relative path leads to it from `lib` in a clone and from `dist` in a package. */
export const builtConsole = fileURLToPath(new URL('../../../../dist/web', import.meta.url));
const clientScript = fileURLToPath(new URL('../../../../dist/web/client.js', import.meta.url));
const consolePath = '/hub/console/';

const about = { method: 'GET', need: 'entry', tag: 'pages' } as const;
const isTheSame = 'The file has not changed: If-None-Match or If-Modified-Since applies';
/** The successful answers to a request for a file, keyed by status. */
const fileAnswers = {
  200: { description: 'The file', content: { '*/*': undefined } },
  206: { description: 'The requested range of the file', content: { '*/*': undefined } },
  304: { description: isTheSame },
};

export const endpoints: Endpoint[] = [
  {
    ...about,
    path: '/hub',
    id: 'goToHub',
    summary: 'Redirects to /hub/',
    answers: { 302: { description: 'Redirect to /hub/ or /hub/sign-in' } },
    serve: () => redirectToHub,
  },
  {
    ...about,
    path: '/hub/',
    id: 'openConsole',
    summary: 'The console, or a list of all requests as text if the console is disabled or not built',
    answers: {
      200: { description: 'A page', content: { 'text/html': text, 'text/plain': text } },
      302: { description: 'Redirect to /hub/sign-in, for a browser without a signed-in user' },
      304: { description: isTheSame },
    },
    serve: (context) =>
      context.settings.console
        ? filesOf(context, (service, response, request) => serveConsolePage(context, service, response, request))
        : (response) => replyContents(context, response),
  },
  {
    ...about,
    path: `${consolePath}{file}`,
    id: 'readConsoleFile',
    summary: 'A file of the console',
    names: { file: 'Path of the file' },
    answers: fileAnswers,
    errors: { 400: badPath, 404: 'File not found', 416: 'The range lies outside the file' },
    serve(context) {
      if (!context.settings.console) return replyNotFound;
      const locate = (path: string) => findFile(context.consoleFolder, path, path.slice(consolePath.length - 1), '');
      return filesOf(context, (service, response, request) => {
        confine(response);
        return replyFile(response, request, service, locate);
      });
    },
  },
  {
    ...about,
    path: '/hub/client.js',
    id: 'readClient',
    summary: 'The client library for browsers, as an ES module',
    answers: fileAnswers,
    errors: { 404: 'The client library has not been built', 416: 'The range lies outside the file' },
    serve: (context) =>
      filesOf(context, (service, response, request) => replyFile(response, request, service, locateClientScript)),
  },
];

/** Returns the routes for the files below the Document Root. Without a Document Root, `/` redirects to the console. */
export function documentRoutes(context: Context): Route[] {
  const { hub, settings, log, resolvePath } = context;
  const root = settings.documentRoot && resolvePath(settings.documentRoot);
  if (root === '')
    return [
      { path: '/', get: { need: 'entry', handler: redirectToHub } },
      { path: '/*', get: { need: 'entry', handler: replyNotFound } },
    ];
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory())
    log.warn({}, `documentRoot: expected a folder at ${root}, got none`);
  const hidden = new PrivateFileCheck(() => hub.persistence.installation());
  const handler = filesOf(
    context,
    (service, response, request) => serveFile(root, service, hidden, response, request),
    root,
  );
  return [{ path: '/*', get: { need: 'entry', handler } }];
}

type ServeFile = (service: FileService, response: HttpResponse, request: HttpRequest) => Promise<void>;

/** Creates a handler that serves the files in a folder, by default the folder with the built console. */
function filesOf(context: Context, serve: ServeFile, folder = context.consoleFolder) {
  const { log } = context;
  const disk = createDisk(folder);
  return later((response, request, paced) => serve({ ...paced, disk, log }, response, request), context);
}

export function replyNotFound(_: HttpResponse, request: HttpRequest): void {
  throw new HubError('not-found', `${shownPath(request.getUrl())}: no such page`);
}

function redirectToHub(response: HttpResponse, request: HttpRequest): void {
  redirect(response, request, '/hub/');
}

/** Answers with the console page, or with a plain-text list of all requests if the console has not been built. */
async function serveConsolePage(
  context: Context,
  service: FileService,
  response: HttpResponse,
  request: HttpRequest,
): Promise<void> {
  const page = join(context.consoleFolder, 'index.html');
  if (!existsSync(page)) return replyContents(context, response);
  confine(response);
  await replyFile(response, request, service, function* () {
    return { file: yield* realPathOf(page) };
  });
}

function* locateClientScript(path: string): Reading<Place> {
  try {
    return { file: yield* realPathOf(clientScript) };
  } catch {
    throw new HubError(
      'not-found',
      `${path}: this file has not been built; run "npm install" in the folder of the hub`,
    );
  }
}

/** Answers with a list of all requests, one per line, for people who use a browser or curl. */
function replyContents({ hub, settings, endpoints }: Context, response: HttpResponse): void {
  const lines = endpoints
    .filter(({ isThere, tag }) => (isThere?.(settings) ?? true) && tag !== 'pages')
    .map(({ method, path, query, summary }) => {
      const asked = Object.entries(query?.shape ?? {}).filter(([, shape]) => isNeeded(shape));
      const search = asked.map(([name]) => `${name}=<${name}>`).join('&');
      return [`${method} ${path.replaceAll(/\{(\w+)\}/g, '<$1>')}${search && `?${search}`}`, summary] as const;
    });
  const all = [['GET /ws', 'WebSocket: every change, and updates'] as const, ...lines];
  const width = Math.max(...all.map(([asked]) => asked.length));
  const text = all.map(([asked, summary]) => `${asked.padEnd(width)}  ${summary}`).join('\n');
  send(beginValue(response, false), `patchbay ${hub.version}\n\n${text}\n`);
}
