// Static files below the Document Root (spec.md "File hosting"; RFC 9110 sections 13 and 14): conditional and range
// requests, index.html, never a dotfile, never a file outside of the root, symbolic links included.

import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { contentType } from 'mime-types';
import { HubError } from '../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../net/uws.ts';
import type { Log } from '../connection.ts';
import { type ByteRange, isNotModified, readRange } from './conditional.ts';
import { asHubError, type Exchange, keepResponse } from './exchange.ts';
import { decodePath } from './parameters.ts';
import { acceptsJson, endWithLength, replyError } from './reply.ts';

const chunkBytes = 64 * 1024;
/** First segments of paths that are ours (spec.md "File hosting"). */
const builtIn = new Set(['hub', 'parameters', 'update', 'ws']);
/** What the file system answers for a file that we do not have, or may not show. */
const missingCodes = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EPERM', 'ENXIO']);
const notFound = (path: string) => new HubError('not-found', `${path}: there is no such file`);

interface StaticFile {
  readonly handle: FileHandle;
  readonly bytes: number;
  readonly etag: string;
  readonly modified: Date;
  readonly type: string;
}

/** Answers GET and HEAD with a file of the root; a folder answers with its index.html. */
export async function serveFile(root: string, response: HttpResponse, request: HttpRequest, log: Log): Promise<void> {
  const exchange = keepResponse(response);
  const path = request.getUrl();
  const query = request.getQuery();
  const isHead = request.getMethod() === 'head';
  const asJson = acceptsJson(request.getHeader('accept'));
  const headers = {
    range: isHead ? '' : request.getHeader('range'), // ranges are for GET alone (RFC 9110 section 14.2)
    ifRange: request.getHeader('if-range'),
    ifNoneMatch: request.getHeader('if-none-match'),
    ifModifiedSince: request.getHeader('if-modified-since'),
  };
  let file: StaticFile | undefined;
  try {
    const place = await locate(root, path);
    if (place.isFolder) return redirect(exchange, path === '/' ? '/hub/' : `${path}/${query ? `?${query}` : ''}`);
    file = await openFile(place.file, path);
    if (isNotModified(headers, file)) return replyNotModified(exchange, file);
    const range = readRange(headers, file);
    if (range === 'unsatisfiable') return replyUnsatisfiable(exchange, file, asJson);
    await sendFile(exchange, file, range, isHead);
  } catch (error) {
    const isMissing = missingCodes.has((error as NodeJS.ErrnoException).code ?? '');
    exchange.fail(isMissing ? notFound(path) : asHubError(error, log), asJson);
  } finally {
    await file?.handle.close();
  }
}

/** Finds the real file of a path, or a folder to redirect to. Errors: `not-found`, `bad-address`. */
async function locate(root: string, path: string): Promise<{ file: string; isFolder: boolean }> {
  const segments = decodePath(path).split('/').slice(1);
  if (segments.some((segment) => segment.startsWith('.') || /[\\\0]/.test(segment))) throw notFound(path);
  if (builtIn.has(segments[0]!) || segments.slice(0, -1).includes('')) throw notFound(path);
  const realRoot = await realpath(root);
  const isSlashed = segments.at(-1) === '';
  const asked = await realpath(join(realRoot, ...segments));
  assertInside(realRoot, asked, path);
  if (!(await stat(asked)).isDirectory()) {
    if (isSlashed) throw notFound(path);
    return { file: asked, isFolder: false };
  }
  if (!isSlashed) return { file: asked, isFolder: true };
  const index = await realpath(join(asked, 'index.html')).catch(() => undefined);
  if (index === undefined) {
    if (path === '/') return { file: asked, isFolder: true };
    throw notFound(path);
  }
  assertInside(realRoot, index, path);
  return { file: index, isFolder: false };
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
    throw notFound(path);
}

async function openFile(name: string, path: string): Promise<StaticFile> {
  const handle = await open(name, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // a named pipe must not block us
  const stats = await handle.stat();
  if (!stats.isFile()) {
    await handle.close();
    throw notFound(path);
  }
  return {
    handle,
    bytes: stats.size,
    etag: `"${stats.size.toString(36)}-${stats.mtimeMs.toString(36)}"`,
    modified: stats.mtime,
    type: contentType(name.slice(name.lastIndexOf(sep) + 1)) || 'application/octet-stream',
  };
}

function writeValidators(response: HttpResponse, { etag, modified }: StaticFile): void {
  response.writeHeader('ETag', etag).writeHeader('Last-Modified', modified.toUTCString());
  response.writeHeader('Cache-Control', 'no-cache');
}

function redirect(exchange: Exchange, location: string): void {
  exchange.reply((response) => response.writeStatus('302 Found').writeHeader('Location', location).end());
}

function replyNotModified(exchange: Exchange, file: StaticFile): void {
  exchange.reply((response) => {
    response.writeStatus('304 Not Modified');
    writeValidators(response, file);
    response.endWithoutBody();
  });
}

function replyUnsatisfiable(exchange: Exchange, { bytes }: StaticFile, asJson: boolean): void {
  const error = new HubError('range-not-satisfiable', `Range: expected a part of the ${bytes} bytes`);
  exchange.reply((response) => replyError(response, error, asJson, [['Content-Range', `bytes */${bytes}`]]));
}

async function sendFile(
  exchange: Exchange,
  file: StaticFile,
  range: ByteRange | undefined,
  isHead: boolean,
): Promise<void> {
  const { start, length } = range ?? { start: 0, length: file.bytes };
  exchange.reply((response) => {
    response.writeStatus(range ? '206 Partial Content' : '200 OK').writeHeader('Content-Type', file.type);
    response.writeHeader('Accept-Ranges', 'bytes').writeHeader('X-Content-Type-Options', 'nosniff');
    writeValidators(response, file);
    if (range) response.writeHeader('Content-Range', `bytes ${start}-${start + length - 1}/${file.bytes}`);
    if (isHead) endWithLength(response, length);
    else if (length === 0) response.end();
  });
  if (isHead || length === 0) return;
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, length));
  for (let sent = 0; sent < length && !exchange.isAborted; ) {
    const { bytesRead } = await file.handle.read(buffer, 0, Math.min(buffer.length, length - sent), start + sent);
    if (bytesRead === 0) {
      exchange.reply((response) => response.close()); // the file has become shorter than what was announced
      return;
    }
    await sendChunk(exchange, buffer.subarray(0, bytesRead), length);
    sent += bytesRead;
  }
}

async function sendChunk(exchange: Exchange, chunk: Buffer, totalBytes: number): Promise<void> {
  for (let rest = chunk; rest.length > 0 && !exchange.isAborted; ) {
    const before = exchange.response.getWriteOffset();
    let isTaken = true;
    let isComplete = true;
    exchange.reply((response) => {
      [isTaken, isComplete] = response.tryEnd(rest, totalBytes);
    });
    if (isTaken || isComplete) return;
    const taken = exchange.isAborted ? rest.length : exchange.response.getWriteOffset() - before;
    await exchange.writable();
    rest = rest.subarray(taken);
  }
}
