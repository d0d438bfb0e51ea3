// `Expect: 100-continue`: a client waits for permission to send its body (RFC 9110 section 10.1.1). The library grants permission if the
// value is in lower case. This file handles the forms that the library does not recognize: upper case, several lines, further members.

import type { HttpRequest, HttpResponse } from '../../../../net/uws.ts';
import { joinedHeaders, lists } from '../../input/parse-input.ts';

/**
 * Marks the response to a client that waits for permission to send its body. If the answer is sent before the permission, the connection is
 * closed after the answer.
 */
export function noteExpectation(response: HttpResponse, request: HttpRequest): void {
  const expect = request.getHeader('expect');
  if (expect === '' || expect === '100-continue') return;
  response.isAwaited = lists(joinedHeaders(request, 'expect')[0]!, '100-continue');
}

/** Returns whether the client is still waiting for permission to send its body. */
export function isAwaited(response: HttpResponse): boolean {
  return response.isAwaited === true;
}

/**
 * Permits a waiting client to send its body. The library supports only one status per response, so the status of the answer is later
 * written as a header.
 */
export function letSend(response: HttpResponse): void {
  if (!isAwaited(response)) return;
  response.isAwaited = false;
  response.writeStatus('100 Continue\r\n'); // includes the empty line that ends the interim response
  response.hasContinued = true;
}

/** Returns whether `100 Continue` has been sent, in which case the status of the answer must be written as a header. */
export function hasContinued(response: HttpResponse): boolean {
  return response.hasContinued === true;
}
