// Answers: JSON that clients may cache, and errors, as plain text or as JSON if the client accepts it (RFC 9110 section 12.5.1, RFC 9457).
import { createHash } from 'node:crypto';
import { type ErrorCode, errorCatalogue, type HubError } from '../../../../model/error.ts';
import { printableJson, printableLines } from '../../../../model/printable.ts';
import type { HttpResponse } from '../../../../net/uws.ts';
import type { Problem } from '../../../../wire/http/problem.ts';
import { EditConflictError } from '../../../editing.ts';
import { LimitError } from '../../limits/limit-hits.ts';
import { remoteAddressOf } from '../../proxies/trusted-proxies.ts';
import { isNotModified, type Preconditions } from './conditional.ts';
import { begin, type Header, jsonType, textType } from './headers.ts';
import { send, servedHits } from './send.ts';

/** A complete JSON body, and its ETag. */
export class JsonText {
  readonly text: string;
  readonly etag: string;

  constructor(text: string, etag: string) {
    this.text = text;
    this.etag = etag;
  }
}

/** Serializes data to JSON with a line break at the end, and computes the ETag. */
export function jsonTextOf(data: object): JsonText {
  return taggedText(`${JSON.stringify(data)}\n`);
}

export function taggedText(text: string): JsonText {
  return new JsonText(text, `"${createHash('sha1').update(text).digest('base64url')}"`);
}

/** An answer with JSON that the client may cache; `isKnown` is true if the client already has the JSON. */
interface JsonAnswer {
  readonly body: string;
  readonly etag: string;
  readonly isKnown: boolean;
}

/** Creates the answer with a JSON body, for a request with preconditions. Errors: `precondition-failed`. */
export function jsonAnswerOf({ text: body, etag }: JsonText, preconditions: Preconditions): JsonAnswer {
  return { body, etag, isKnown: isNotModified(preconditions, { etag }) };
}

/** Answers with JSON that the client may cache, or with 304 if the client already has the JSON (RFC 9110 section 13.1.2). */
export function replyJson(response: HttpResponse, { body, etag, isKnown }: JsonAnswer): void {
  begin(response, isKnown ? '304 Not Modified' : undefined);
  response.writeHeader('ETag', etag).writeHeader('Cache-Control', 'no-cache');
  if (isKnown) response.endWithoutBody();
  else send(response.writeHeader('Content-Type', jsonType), body);
}

/**
 * Ends the answer to a HEAD request with the length of the body as a header. If the length were passed to `endWithoutBody`, the library
 * would wait for that many bytes.
 */
export function endWithLength(response: HttpResponse, bodyBytes: number): HttpResponse {
  return response.writeHeader('Content-Length', String(bodyBytes)).endWithoutBody();
}

/** Answers with an error, either as one sentence or as a problem object (RFC 9457); if `closes` is true, also closes the connection. */
export function replyError(
  response: HttpResponse,
  error: HubError,
  asJson: boolean,
  headers: readonly Header[] = [],
  closes = false,
): void {
  const status = httpStatus[error.code];
  if (error instanceof LimitError) servedHits()?.add(error.limit, remoteAddressOf(response));
  begin(response, status).writeHeader('Content-Type', asJson ? 'application/problem+json' : textType);
  response.writeHeader('Cache-Control', 'no-store');
  for (const [name, value] of [...helpingHeaders(error), ...headers]) response.writeHeader(name, value);
  // the message quotes client input, and people read it in a terminal
  const body = asJson ? printableJson(JSON.stringify(problemOf(error, status))) : `${printableLines(error.message)}\n`;
  if (closes) response.end(body, true);
  else send(response, body);
}

function problemOf(error: HubError, status: string): Problem {
  const { code, message } = error;
  const title = errorCatalogue[code];
  return {
    type: 'about:blank',
    title,
    status: Number.parseInt(status, 10),
    detail: message,
    code,
    ...(error instanceof EditConflictError && { conflicts: error.conflicts }),
  };
}

// The HTTP status of each error. The type requires all codes as keys, so a new code does not compile until it has a status.

const httpStatus: Readonly<Record<ErrorCode, string>> = {
  'bad-address': '400 Bad Request',
  'bad-dashboard': '500 Internal Server Error',
  'bad-flow': '500 Internal Server Error',
  'bad-json5': '500 Internal Server Error',
  'bad-request': '400 Bad Request',
  'body-too-large': '413 Content Too Large',
  'body-type': '415 Unsupported Media Type',
  'cannot-start': '500 Internal Server Error',
  conflict: '409 Conflict',
  forbidden: '403 Forbidden',
  'foreign-host': '403 Forbidden',
  'foreign-origin': '403 Forbidden',
  internal: '500 Internal Server Error',
  'method-not-allowed': '405 Method Not Allowed',
  'not-convertible': '400 Bad Request',
  'not-confirmed': '504 Gateway Timeout',
  'not-found': '404 Not Found',
  'not-implemented': '501 Not Implemented',
  'out-of-range': '400 Bad Request',
  'precondition-failed': '412 Precondition Failed',
  'range-not-satisfiable': '416 Range Not Satisfiable',
  'read-only': '403 Forbidden',
  'state-unknown': '503 State Unknown',
  'test-failed': '500 Internal Server Error',
  'too-many-attempts': '429 Too Many Requests',
  'too-many-clients': '503 Service Unavailable',
  'too-many-requests': '429 Too Many Requests',
  unauthorized: '401 Unauthorized',
  unavailable: '503 Service Unavailable',
  'unknown-parameter': '404 Not Found',
  unprocessable: '422 Unprocessable Content',
  'upgrade-required': '426 Upgrade Required',
};

/**
 * Returns the headers for an error that state when the client may retry, or which protocol to use (RFC 9110 section 15.5.22, RFC 6455 section
 * 4.4).
 */
function helpingHeaders(error: HubError): readonly Header[] {
  const waitSeconds = error instanceof LimitError ? error.retryAfterSeconds : undefined;
  return waitSeconds === undefined ? (headersOfCodes[error.code] ?? []) : [['Retry-After', String(waitSeconds)]];
}

const headersOfCodes: Partial<Readonly<Record<ErrorCode, readonly Header[]>>> = {
  'too-many-requests': [['Retry-After', '1']],
  unavailable: [['Retry-After', '1']],
  'upgrade-required': [
    ['Upgrade', 'websocket'],
    ['Sec-WebSocket-Version', '13'],
  ],
};
