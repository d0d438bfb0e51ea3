// Answers: values and errors as plain text, or as JSON where the client accepts it (RFC 9110 section 12.5.1, RFC 9457).

import { createHash } from 'node:crypto';
import { errorCatalogue, type HubError } from '../../../model/error.ts';
import { toText, type Value } from '../../../model/value.ts';
import { encodeText, type HttpResponse } from '../../../net/uws.ts';
import { servedHits } from '../limits/limit-hits.ts';
import { LimitError } from '../limits/limits.ts';
import { remoteAddress } from '../limits/remote-address.ts';
import { matchesTag } from './conditional.ts';
import { begin, beginValue, type Header, jsonType, textType } from './headers.ts';
import { send } from './send.ts';
import { httpStatus } from './status.ts';

/** Whether JSON is asked for by name, and not less than plain text: `application/json;q=0.9, text/plain;q=0.1` → true. */
export function acceptsJson(accept: string): boolean {
  if (accept === '' || accept === '*/*') return false;
  if (accept === jsonType) return true;
  let json = 0;
  let text = 0;
  for (const range of accept.split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    if (type === jsonType || type === 'application/problem+json') json = Math.max(json, quality);
    else if (type === 'text/plain') text = Math.max(text, quality);
  }
  return json > 0 && json >= text;
}

/** Whether an error of this path is told as JSON: below /hub/ answers are JSON, and errors too unless text is asked for. */
export function wantsJsonErrors(url: string, accept: string): boolean {
  return acceptsJson(accept) || (url.startsWith('/hub/') && !accept.includes('text/'));
}

/**
 * Answers with JSON that the client may keep: asked for again with its ETag it is 304 as long as it is the same
 * (RFC 9110 section 13.1.2).
 */
export function replyJson(response: HttpResponse, data: object, ifNoneMatch: string): void {
  const body = `${JSON.stringify(data)}\n`;
  const etag = `"${createHash('sha1').update(body).digest('base64url')}"`;
  const isKnown = matchesTag(ifNoneMatch, etag);
  begin(response, isKnown ? '304 Not Modified' : undefined);
  response.writeHeader('ETag', etag).writeHeader('Cache-Control', 'no-cache');
  if (isKnown) response.endWithoutBody();
  else send(response.writeHeader('Content-Type', jsonType), body);
}

/** Answers 200 with a value: plain text, or its JSON. */
export function replyValue(response: HttpResponse, value: Value, asJson: boolean): void {
  send(beginValue(response, asJson), encodeBody(asJson ? JSON.stringify(value) : toText(value)));
}

const maxEncodedBodies = 1000;
const maxEncodedLength = 64;
const encodedBodies = new Map<string, ArrayBuffer>();

/** Short bodies are asked for again and again: the first thousand are kept as bytes. */
function encodeBody(text: string): ArrayBuffer | string {
  const known = encodedBodies.get(text);
  if (known !== undefined || text.length > maxEncodedLength || encodedBodies.size >= maxEncodedBodies)
    return known ?? text;
  const bytes = encodeText(text);
  encodedBodies.set(text, bytes);
  return bytes;
}

/** Ends the answer to a HEAD request. The library, given a length itself, would wait for as many bytes. */
export function endWithLength(response: HttpResponse, bodyBytes: number): HttpResponse {
  return response.writeHeader('Content-Length', String(bodyBytes)).endWithoutBody();
}

/** Answers with one sentence, or with the problem object `{"type","title","status","detail","code"}`; `closes` the connection. */
export function replyError(
  response: HttpResponse,
  error: HubError,
  asJson: boolean,
  headers: readonly Header[] = [],
  closes = false,
): void {
  const status = httpStatus[error.code];
  if (error instanceof LimitError) servedHits()?.add(error.limit, remoteAddress(response));
  begin(response, status).writeHeader('Content-Type', asJson ? 'application/problem+json' : textType);
  response.writeHeader('Cache-Control', 'no-store');
  for (const [name, value] of headers) response.writeHeader(name, value);
  const body = asJson ? JSON.stringify(problemOf(error, status)) : `${error.message}\n`;
  if (closes) response.end(body, true);
  else send(response, body);
}

function problemOf({ code, message }: HubError, status: string): object {
  const title = errorCatalogue[code];
  return { type: 'about:blank', title, status: Number.parseInt(status, 10), detail: message, code };
}
