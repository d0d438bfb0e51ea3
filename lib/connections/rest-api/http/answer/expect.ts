// `Expect: 100-continue`: a client waits until it may send its body (RFC 9110 section 10.1.1). The library lets it do so in every case where
// that is written in small letters. Here is what it does not see: other letters, several lines, further members.

import type { HttpRequest, HttpResponse } from '../../../../net/uws.ts';
import { joinedHeaders, lists } from '../../input/parse-input.ts';

/** Notes with a response that its client waits. If it is answered before it was let send, the connection ends with that. */
export function noteExpectation(response: HttpResponse, request: HttpRequest): void {
  const expect = request.getHeader('expect');
  if (expect === '' || expect === '100-continue') return;
  response.isAwaited = lists(joinedHeaders(request, 'expect')[0]!, '100-continue');
}

/** Whether the client still waits until it may send its body. */
export function isAwaited(response: HttpResponse): boolean {
  return response.isAwaited === true;
}

/** Lets a client that waits send its body. The library knows one status of a response, so that of the answer is written as a header. */
export function letSend(response: HttpResponse): void {
  if (!isAwaited(response)) return;
  response.isAwaited = false;
  response.writeStatus('100 Continue\r\n'); // with the empty line that ends it
  response.hasContinued = true;
}

/** Whether a status has been sent that is not that of the answer. */
export function hasContinued(response: HttpResponse): boolean {
  return response.hasContinued === true;
}
