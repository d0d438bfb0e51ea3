// The answer to a preflight: browsers ask before a page of allowedOrigins may send what forms cannot (Fetch, "CORS-preflight request").

import type { HttpRequest, HttpResponse } from '../../../../net/uws.ts';
import { begin } from './headers.ts';

const maxAgeSeconds = 600;
const requestHeaders = 'Authorization, Content-Type, If-Modified-Since, If-None-Match, If-Range, Range, traceparent';

/** Answers 204 with what a page may send. Before it lets a page ask a private network, a browser wants one header more. */
export function replyPreflight(response: HttpResponse, request: HttpRequest, methods: string): void {
  begin(response, '204 No Content').writeHeader('Access-Control-Allow-Methods', methods);
  response.writeHeader('Access-Control-Allow-Headers', requestHeaders);
  response.writeHeader('Access-Control-Max-Age', String(maxAgeSeconds));
  if (request.getHeader('access-control-request-private-network') === 'true')
    response.writeHeader('Access-Control-Allow-Private-Network', 'true');
  response.endWithoutBody();
}
