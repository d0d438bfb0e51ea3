// GET /hub/client.js: the client library as one module for browsers. `npm install` builds it.

import { fileURLToPath } from 'node:url';
import { HubError } from '../../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../../net/uws.ts';
import { type Reading, realPathOf } from '../../files/reading.ts';
import { type FileService, type Place, replyFile } from '../../files/static-file.ts';

/** In a clone this is a file of lib and in a package one of dist; the script is in the same place from both. */
const file = fileURLToPath(new URL('../../../../../dist/web/client.js', import.meta.url));

export function serveClientScript(service: FileService, response: HttpResponse, request: HttpRequest): Promise<void> {
  return replyFile(response, request, service, locate);
}

function* locate(path: string): Reading<Place> {
  try {
    return { file: yield* realPathOf(file) };
  } catch {
    throw new HubError(
      'not-found',
      `${path}: it has not been built here, "npm install" in the folder of the hub does that`,
    );
  }
}
