// Content negotiation: plain text or JSON (RFC 9110 section 12.5.1).

import { encodeText, type HttpRequest } from '../../../../net/uws.ts';
import { joinedHeaders } from '../../input/parse-input.ts';
import { jsonType } from './headers.ts';

/** Returns the value of the `Accept` header, with all of its lines joined. */
export function acceptOf(request: HttpRequest): string {
  const first = request.getHeader('accept');
  return first === '' || first === jsonType ? first : joinedHeaders(request, 'accept')[0]!;
}

/** Like `acceptOf`, but a tenth faster, for requests for values: ignores the lines after a line that accepts all types. */
export function quickAcceptOf(request: HttpRequest): string {
  const first = request.getHeader(acceptHeader);
  return first === '*/*' ? first : acceptOf(request);
}

const acceptHeader = encodeText('accept');

/**
 * Returns whether an `Accept` header names JSON with at least the same preference as plain text: `application/json;q=0.9, text/plain;q=0.1`
 * → true.
 */
export function acceptsJson(accept: string): boolean {
  if (accept === '' || accept === '*/*') return false;
  if (accept === jsonType) return true;
  let json = 0;
  let text = 0;
  for (const range of accept.split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    if (jsonTypes.has(type!)) json = Math.max(json, quality);
    else if (type === 'text/plain') text = Math.max(text, quality);
  }
  return json > 0 && json >= text;
}

const jsonTypes: ReadonlySet<string> = new Set([jsonType, 'application/problem+json', 'application/*']);

/**
 * Returns whether an error in the answer to `url` is sent as JSON. Below `/hub/`, answers are JSON, and so are errors unless the client
 * asks for plain text.
 */
export function wantsJsonErrors(url: string, accept: string): boolean {
  return acceptsJson(accept) || (url.startsWith('/hub/') && !accept.includes('text/'));
}
