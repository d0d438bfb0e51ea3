// A file as an answer, with conditional and range requests (RFC 9110 sections 13 and 14). A short part is read and sent as a whole, before
// the handler returns if the disk is fast enough. A long part is sent as fast as the client can read.
import { close, type Stats } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import type { contentType } from 'mime-types';
import { readFlags } from '../../../files/regular-file.ts';
import { HubError } from '../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { acceptOf, acceptsJson } from '../http/answer/accept.ts';
import {
  type ByteRange,
  isNotModified,
  type Preconditions,
  preconditionsOf,
  type RangeHeaders,
  readRange,
} from '../http/answer/conditional.ts';
import { begin } from '../http/answer/headers.ts';
import { endWithLength, replyError } from '../http/answer/reply.ts';
import { send } from '../http/answer/send.ts';
import type { Paced } from '../http/body.ts';
import { type Exchange, keepResponse } from '../http/exchange.ts';
import { sendParts } from '../http/send-parts.ts';
import { asHubError } from '../input/parse-input.ts';
import { releaseFile, takeFile } from '../limits/connection-count.ts';
import { LimitError } from '../limits/limit-hits.ts';
import { closeDescriptor, type Disk, descriptorStats, openDescriptor, type Reading, readBytes } from './reading.ts';

const require = createRequire(import.meta.url);
/**
 * Returns the content type for a file name, or false if the type is unknown. The library contains a table of thousands of types, so it is
 * loaded only when the first file is served.
 */
const contentTypeOf: typeof contentType = (name) =>
  (require('mime-types') as typeof import('mime-types')).contentType(name);

/** The maximum length of a part that is read as a whole, in bytes. */
const atOnceBytes = 256 * 1024;
/** The codes of file system errors that mean that a file does not exist or that the hub may not read it. */
const missingCodes = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EPERM', 'ENXIO']);

/**
 * The target of a requested path: a file, or the location to which the client is redirected. `check` examines the file once it is open.
 * Errors: `not-found`.
 */
export type Place =
  | { readonly file: string; check?(descriptor: number, stats: Stats): Reading<void> }
  | { readonly location: string };

interface StaticFile {
  readonly bytes: number;
  readonly etag: string;
  readonly modified: Date;
  readonly type: string;
}

interface Part {
  readonly start: number;
  readonly length: number;
  readonly isRange: boolean;
}

type Answer =
  | { readonly kind: 'elsewhere'; readonly location: string }
  | { readonly kind: 'unchanged'; readonly file: StaticFile }
  | { readonly kind: 'unsatisfiable'; readonly file: StaticFile }
  | { readonly kind: 'head'; readonly file: StaticFile; readonly part: Part }
  | { readonly kind: 'short'; readonly file: StaticFile; readonly part: Part; readonly content: Buffer }
  | { readonly kind: 'long'; readonly file: StaticFile; readonly part: Part; readonly descriptor: number };

export function noSuchFile(path: string): HubError {
  return new HubError('not-found', `${path}: no such file`);
}

/** The disk that contains the files, the queue that schedules the work, and the share to which the work is charged. */
export interface FileService extends Paced {
  readonly disk: Disk;
  readonly log: Log;
}

/** Answers GET and HEAD with the file that `locate` finds for the requested path, or with the error that `locate` throws. */
export async function replyFile(
  response: HttpResponse,
  request: HttpRequest,
  service: FileService,
  locate: (path: string, query: string) => Reading<Place>,
): Promise<void> {
  const exchange = keepResponse(response);
  const path = request.getUrl();
  const query = request.getQuery() ?? '';
  const isHead = request.getMethod() === 'head';
  const asJson = acceptsJson(acceptOf(request));
  const headers = {
    range: isHead ? '' : request.getHeader('range'), // ranges apply only to GET (RFC 9110 section 14.2)
    ifRange: request.getHeader('if-range'),
    ...preconditionsOf(request),
  };
  try {
    const answer = service.disk.read(findAnswer(path, locate(path, query), headers, isHead));
    await reply(exchange, answer instanceof Promise ? await answer : answer, asJson, service);
  } catch (error) {
    const isMissing = missingCodes.has((error as NodeJS.ErrnoException).code ?? '');
    exchange.fail(isMissing ? noSuchFile(path) : asHubError(error, service.log), asJson);
  }
}

/**
 * Finds the answer to a request for a path. Errors: any error from `locating`; `not-found`, `precondition-failed`; any file system error.
 */
function* findAnswer(
  path: string,
  locating: Reading<Place>,
  headers: Preconditions & RangeHeaders,
  isHead: boolean,
): Reading<Answer> {
  const place = yield* locating;
  if ('location' in place) return { kind: 'elsewhere', location: place.location };
  const descriptor = yield* openDescriptor(place.file, readFlags);
  let staysOpen = false;
  try {
    const stats = yield* descriptorStats(descriptor);
    if (!stats.isFile()) throw noSuchFile(path);
    yield* place.check?.(descriptor, stats) ?? [];
    const file = {
      bytes: stats.size,
      etag: `"${stats.size.toString(36)}-${stats.mtimeMs.toString(36)}"`,
      modified: stats.mtime,
      type: contentTypeOf(basename(place.file)) || 'application/octet-stream',
    };
    if (isNotModified(headers, file)) return { kind: 'unchanged', file };
    const range = readRange(headers, file);
    if (range === 'unsatisfiable') return { kind: 'unsatisfiable', file };
    const part = { start: 0, length: file.bytes, ...range, isRange: range !== undefined };
    if (isHead) return { kind: 'head', file, part };
    if (part.length <= atOnceBytes) {
      const content = Buffer.allocUnsafe(part.length);
      const bytes = yield* readBytes(descriptor, content, part.start);
      return { kind: 'short', file, part, content: content.subarray(0, bytes) };
    }
    if (!takeFile())
      throw new LimitError('files', 'too-many-clients', 'too many long files are being sent; try again later');
    staysOpen = true;
    return { kind: 'long', file, part, descriptor };
  } finally {
    if (!staysOpen) yield* closeDescriptor(descriptor);
  }
}

function reply(exchange: Exchange, answer: Answer, asJson: boolean, service: FileService): Promise<void> | undefined {
  if (answer.kind === 'long') {
    exchange.reply((response) => beginFile(response, answer.file, answer.part));
    return streamFile(exchange, answer.descriptor, answer.part, service);
  }
  exchange.reply((response) => {
    if (answer.kind === 'elsewhere') begin(response, '302 Found').writeHeader('Location', answer.location).end();
    else if (answer.kind === 'unchanged')
      writeValidators(begin(response, '304 Not Modified'), answer.file).endWithoutBody();
    else if (answer.kind === 'unsatisfiable') replyUnsatisfiable(response, answer.file, asJson);
    else if (answer.kind === 'head') endWithLength(beginFile(response, answer.file, answer.part), answer.part.length);
    else if (answer.content.length < answer.part.length)
      response.close(); // the file has become shorter since it was opened
    else send(beginFile(response, answer.file, answer.part), answer.content);
  });
  return undefined;
}

function replyUnsatisfiable(response: HttpResponse, { bytes }: StaticFile, asJson: boolean): void {
  const error = new HubError('range-not-satisfiable', `Range: expected a range within the ${bytes} bytes of the file`);
  replyError(response, error, asJson, [['Content-Range', `bytes */${bytes}`]]);
}

function beginFile(response: HttpResponse, file: StaticFile, { start, length, isRange }: Part): HttpResponse {
  begin(response, isRange ? '206 Partial Content' : undefined).writeHeader('Content-Type', file.type);
  response.writeHeader('Accept-Ranges', 'bytes');
  writeValidators(response, file);
  if (isRange) response.writeHeader('Content-Range', `bytes ${start}-${start + length - 1}/${file.bytes}`);
  return response;
}

function writeValidators(response: HttpResponse, { etag, modified }: StaticFile): HttpResponse {
  response.writeHeader('ETag', etag).writeHeader('Last-Modified', modified.toUTCString());
  return response.writeHeader('Cache-Control', 'no-cache');
}

// Sends a file piece by piece, as fast as the client can read.

const chunkBytes = 64 * 1024;

/** Sends a part of an open file and closes the file. Cuts the connection if the file has become too short for the announced length. */
async function streamFile(
  exchange: Exchange,
  descriptor: number,
  { start, length }: ByteRange,
  { disk, queue, share }: Paced & { readonly disk: Disk },
): Promise<void> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  const next = (sent: number) => {
    const chunk = buffer.subarray(0, Math.min(chunkBytes, length - sent));
    const read = disk.read(readBytes(descriptor, chunk, start + sent));
    const filled = (bytes: number) => (bytes === 0 ? undefined : chunk.subarray(0, bytes));
    return read instanceof Promise ? read.then(filled) : filled(read);
  };
  try {
    await sendParts(exchange, { queue, share }, { totalBytes: length, heldBytes: chunkBytes, next });
  } finally {
    await promisify(close)(descriptor);
    releaseFile();
  }
}
