// One file as an answer (RFC 9110 sections 13 and 14): conditional and range requests, sent as fast as the client reads.

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { contentType } from 'mime-types';
import { HubError } from '../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../net/uws.ts';
import type { Log } from '../connection.ts';
import { type ByteRange, isNotModified, readRange } from './conditional.ts';
import { asHubError, type Exchange, keepResponse } from './exchange.ts';
import { begin } from './headers.ts';
import { acceptsJson, endWithLength, replyError } from './reply.ts';

const chunkBytes = 64 * 1024;
/** What the file system answers for a file that we do not have, or may not show. */
const missingCodes = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EPERM', 'ENXIO']);

/** Where the answer to a path is: a file, or another path. */
export type Place = { readonly file: string } | { readonly location: string };

interface StaticFile {
  readonly handle: FileHandle;
  readonly bytes: number;
  readonly etag: string;
  readonly modified: Date;
  readonly type: string;
}

export function noSuchFile(path: string): HubError {
  return new HubError('not-found', `${path}: there is no such file`);
}

/** Answers GET and HEAD with the file that `locate` finds for a path, or with the error that it throws. */
export async function replyFile(
  response: HttpResponse,
  request: HttpRequest,
  log: Log,
  locate: (path: string, query: string) => Promise<Place>,
): Promise<void> {
  const exchange = keepResponse(response);
  const path = request.getUrl();
  const query = request.getQuery() ?? '';
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
    const place = await locate(path, query);
    if ('location' in place) return redirect(exchange, place.location);
    file = await openFile(place.file, path);
    if (isNotModified(headers, file)) return replyNotModified(exchange, file);
    const range = readRange(headers, file);
    if (range === 'unsatisfiable') return replyUnsatisfiable(exchange, file, asJson);
    await sendFile(exchange, file, range, isHead);
  } catch (error) {
    const isMissing = missingCodes.has((error as NodeJS.ErrnoException).code ?? '');
    exchange.fail(isMissing ? noSuchFile(path) : asHubError(error, log), asJson);
  } finally {
    await file?.handle.close();
  }
}

async function openFile(name: string, path: string): Promise<StaticFile> {
  const handle = await open(name, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // a named pipe must not block us
  const stats = await handle.stat();
  if (!stats.isFile()) {
    await handle.close();
    throw noSuchFile(path);
  }
  return {
    handle,
    bytes: stats.size,
    etag: `"${stats.size.toString(36)}-${stats.mtimeMs.toString(36)}"`,
    modified: stats.mtime,
    type: contentType(basename(name)) || 'application/octet-stream',
  };
}

function writeValidators(response: HttpResponse, { etag, modified }: StaticFile): void {
  response.writeHeader('ETag', etag).writeHeader('Last-Modified', modified.toUTCString());
  response.writeHeader('Cache-Control', 'no-cache');
}

function redirect(exchange: Exchange, location: string): void {
  exchange.reply((response) => begin(response, '302 Found').writeHeader('Location', location).end());
}

function replyNotModified(exchange: Exchange, file: StaticFile): void {
  exchange.reply((response) => {
    begin(response, '304 Not Modified');
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
    begin(response, range ? '206 Partial Content' : undefined).writeHeader('Content-Type', file.type);
    response.writeHeader('Accept-Ranges', 'bytes');
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
