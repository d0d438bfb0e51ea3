// Serves the files below the Document Root (S-12, D-16), with index.html for a folder. Never serves files whose name starts with a dot,
// files outside the root (even through a symbolic link) and files of the installation.

import { join, sep } from 'node:path';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { decodePath } from '../input/request-path.ts';
import { type PrivateFileCheck, placeOfOpened } from './opened-file.ts';
import { type Reading, realPathOf, statsOf } from './reading.ts';
import { type FileService, noSuchFile, type Place, replyFile } from './static-file.ts';

/** The first path segments that the hub itself answers (S-12). */
const builtIn = new Set(['hub', 'parameters', 'update', 'ws']);

/** Answers GET and HEAD with a file below the Document Root, or with the `index.html` of a folder. */
export function serveFile(
  root: string,
  service: FileService,
  hidden: PrivateFileCheck,
  response: HttpResponse,
  request: HttpRequest,
): Promise<void> {
  return replyFile(response, request, service, (path, query) => {
    if (builtIn.has(decodePath(path).split('/', 2)[1]!)) throw noSuchFile(path);
    return findFile(root, path, path, query, hidden);
  });
}

/**
 * Finds the file for the percent-encoded path `below` under a root; `path` is the path that the client requested. A folder, whose path ends
 * with a slash, stands for its `index.html`. Errors: `not-found`, `bad-address`.
 */
export function* findFile(
  root: string,
  path: string,
  below: string,
  query: string,
  hidden?: PrivateFileCheck,
): Reading<Place> {
  const segments = decodePath(below).split('/').slice(1);
  if (segments.some((segment) => segment.startsWith('.') || /[\\\0]/.test(segment))) throw noSuchFile(path);
  if (segments.slice(0, -1).includes('')) throw noSuchFile(path);
  const realRoot = yield* realPathOf(root);
  const isSlashed = segments.at(-1) === '';
  const asked = yield* realPathOf(join(realRoot, ...segments));
  assertInside(realRoot, asked, path);
  if (!(yield* statsOf(asked)).isDirectory()) {
    if (isSlashed) throw noSuchFile(path);
    return placeBelow(realRoot, asked, path, hidden);
  }
  if (!isSlashed) return { location: `${path}/${query ? `?${query}` : ''}` };
  const index = yield* indexOf(asked);
  if (index === undefined) {
    if (path === '/') return { location: '/hub/' };
    throw noSuchFile(path);
  }
  assertInside(realRoot, index, path);
  return placeBelow(realRoot, index, path, hidden);
}

/** Returns the place of a file that was found below a root. Once open, the file must still be below the root and must not be hidden. */
function placeBelow(root: string, file: string, path: string, hidden: PrivateFileCheck | undefined): Place {
  return {
    file,
    *check(descriptor, stats) {
      const place = yield* placeOfOpened(descriptor, stats, file);
      if (place === undefined) throw noSuchFile(path);
      assertInside(root, place, path);
      if (hidden !== undefined && (yield* hidden.holds(place, stats))) throw noSuchFile(path);
    },
  };
}

function* indexOf(folder: string): Reading<string | undefined> {
  try {
    return yield* realPathOf(join(folder, 'index.html'));
  } catch {
    return undefined;
  }
}

function assertInside(root: string, file: string, path: string): void {
  if (file === root) return;
  const folder = root.endsWith(sep) ? root : root + sep;
  if (
    !file.startsWith(folder) ||
    file
      .slice(folder.length)
      .split(sep)
      .some((part) => part.startsWith('.'))
  )
    throw noSuchFile(path);
}
