// The console: its page at /hub/, and its scripts and styles below /hub/console/. `npm install` builds them.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HttpRequest, HttpResponse } from '../../../../net/uws.ts';
import type { HubPort } from '../../../hub-port.ts';
import { findFile } from '../../files/document-root.ts';
import { realPathOf } from '../../files/reading.ts';
import { type FileService, replyFile } from '../../files/static-file.ts';
import { beginValue, confine } from '../../http/answer/headers.ts';
import { send } from '../../http/answer/send.ts';
import { contentsOf } from './contents.ts';

export const consolePath = '/hub/console/';

/** The folder of the built console. It is in the same place from lib in a clone and from dist in a package. */
export const builtConsole = fileURLToPath(new URL('../../../../../dist/web', import.meta.url));

/** Answers with the page of the console. Where it has not been built, the answer is the contents as text. */
export async function serveConsolePage(
  folder: string,
  service: FileService,
  hub: HubPort,
  response: HttpResponse,
  request: HttpRequest,
): Promise<void> {
  const file = join(folder, 'index.html');
  if (!existsSync(file)) return replyContents(hub, response);
  confine(response);
  await replyFile(response, request, service, function* () {
    return { file: yield* realPathOf(file) };
  });
}

/** Answers with a file of the console. */
export function serveConsoleFile(
  folder: string,
  service: FileService,
  response: HttpResponse,
  request: HttpRequest,
): Promise<void> {
  const locate = (path: string) => findFile(folder, path, path.slice(consolePath.length - 1), '');
  confine(response);
  return replyFile(response, request, service, locate);
}

export function replyContents(hub: HubPort, response: HttpResponse): void {
  send(beginValue(response, false), contentsOf(hub));
}
