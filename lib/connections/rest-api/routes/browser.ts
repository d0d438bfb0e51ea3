// The routes to what browsers open: the console, or where it would be, the client library, and the Document Root.

import { existsSync } from 'node:fs';
import { createDisk } from '../files/disk.ts';
import { serveFile } from '../files/document-root.ts';
import { PrivateFileCheck } from '../files/opened-file.ts';
import type { Route } from '../http/router.ts';
import { serveClientScript } from '../pages/browser/client-script.ts';
import { consolePath, replyContents, serveConsoleFile, serveConsolePage } from '../pages/browser/console.ts';
import { later, redirectToHub, replyNotFound } from './handlers.ts';
import type { RouteContext } from './route-context.ts';

/** What browsers open: the console, or where it would be, and the client library. */
export function browserRoutes(context: RouteContext): Route[] {
  const { hub, settings, consoleFolder: folder, log } = context;
  const disk = createDisk(folder);
  const script = later(
    (response, request, paced) => serveClientScript({ ...paced, disk, log }, response, request),
    context,
  );
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
  const page = later(
    (response, request, paced) => serveConsolePage(folder, { ...paced, disk, log }, hub, response, request),
    context,
  );
  const file = later(
    (response, request, paced) => serveConsoleFile(folder, { ...paced, disk, log }, response, request),
    context,
  );
  return [
    ...others,
    { path: '/hub/', need: 'entry', get: page },
    { path: `${consolePath}*`, need: 'entry', get: file },
  ];
}

/** The files of the Document Root; without one, `/` leads to the console. */
export function documentRoutes(context: RouteContext): Route[] {
  const { hub, settings, log, resolvePath } = context;
  const root = settings.documentRoot && resolvePath(settings.documentRoot);
  if (root === '')
    return [
      { path: '/', need: 'entry', get: redirectToHub },
      { path: '/*', need: 'entry', get: replyNotFound },
    ];
  if (!existsSync(root)) log.warn({}, `documentRoot: expected a folder, there is none at ${root}`);
  const disk = createDisk(root);
  const hidden = new PrivateFileCheck(() => hub.keeping.installation());
  return [
    {
      path: '/*',
      need: 'entry',
      get: later(
        (response, request, paced) => serveFile(root, { ...paced, disk, log }, hidden, response, request),
        context,
      ),
    },
  ];
}
