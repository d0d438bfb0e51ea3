// Two readers can see the end of a bad request in different places. A proxy and the hub behind it would then not agree where the next
// request begins and whose it is (RFC 9112 sections 6.3 and 11.2). So the hub refuses such requests.

import { HubError } from '../../../model/error.ts';
import { encodeText, type HttpRequest, type HttpResponse } from '../../../net/uws.ts';
import { acceptOf, wantsJsonErrors } from './answer/accept.ts';
import { replyError } from './answer/reply.ts';
import { keepResponse } from './exchange.ts';
import type { Act } from './guard/purpose.ts';

const lengthHeader = encodeText('content-length');
const codingHeader = encodeText('transfer-encoding');
const digits = /^\d+$/;

let lengths = 0;
let codings = 0;
let hosts = 0;
let trailers = 0;
let last = '';

/** Counts the headers that matter. It is called for every header, so it compares lengths first. */
function count(name: string, value: string): void {
  if (name.length === 4) {
    if (name === 'host') hosts++;
  } else if (name.length === 7) {
    if (name === 'trailer') trailers++;
  } else if (name.length === 14) {
    if (name !== 'content-length') return;
    lengths++;
    last = value;
  } else if (name.length === 17 && name === 'transfer-encoding') {
    codings++;
    last = value;
  }
}

/**
 * What is ambiguous about the length of a request or its host, or comes behind a body that nobody reads; undefined: nothing. To see all headers takes a tenth of the time of an
 * answer. So for a request that only reads and shows no length, nobody looks for a length behind an empty one.
 */
export function ambiguityOf(request: HttpRequest, act: Act): string | undefined {
  if (act === 'read' && request.getHeader(lengthHeader) === '' && request.getHeader(codingHeader) === '')
    return undefined;
  lengths = codings = hosts = trailers = 0;
  request.forEach(count);
  if (lengths + codings === 0 && hosts === 1) return undefined;
  if (hosts > 1) return `Host: expected it once, got it ${hosts} times`;
  if (lengths > 0 && codings > 0) return 'expected Content-Length or Transfer-Encoding, got both';
  if (lengths > 1) return `Content-Length: expected it once, got it ${lengths} times`;
  if (codings > 1) return `Transfer-Encoding: expected it once, got it ${codings} times`;
  if (lengths === 1 && !digits.test(last)) return `Content-Length: expected a number of bytes, got "${last}"`;
  if (codings === 1 && last.toLowerCase() !== 'chunked') return `Transfer-Encoding: expected chunked, got "${last}"`;
  if (codings === 1 && trailers > 0) return 'Trailer: expected none, as no trailer is read';
  if (codings === 1 && act === 'write by GET') return 'Transfer-Encoding: expected no body of a GET';
  return undefined;
}

/**
 * Answers 400 and closes the connection, in the next round of the event loop. While an answer is due the library takes nothing more from a
 * connection, and so it does not take what came behind the request.
 */
export function refuseAndClose(response: HttpResponse, request: HttpRequest, message: string): void {
  const asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
  const exchange = keepResponse(response);
  const refuse = () => replyError(response, new HubError('bad-request', message), asJson, [], true);
  setImmediate(() => exchange.reply(refuse));
}
