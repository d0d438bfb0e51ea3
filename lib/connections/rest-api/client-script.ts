// GET /hub/client.js: the client library as one module for browsers, as `npm install` builds it.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HubError } from '../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../net/uws.ts';
import type { Log } from '../connection.ts';
import { replyFile } from './static-file.ts';

/** The same place from lib in a clone and from dist in a package. */
const file = fileURLToPath(new URL('../../../dist/web/client.js', import.meta.url));

export function serveClientScript(response: HttpResponse, request: HttpRequest, log: Log): Promise<void> {
  return replyFile(response, request, log, async (path) => {
    if (existsSync(file)) return { file };
    throw new HubError(
      'not-found',
      `${path}: it has not been built here, "npm install" in the folder of the hub does that`,
    );
  });
}
