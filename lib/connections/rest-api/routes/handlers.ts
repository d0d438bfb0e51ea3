// Handlers that routes share.

import { HubError } from '../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import type { Handler } from '../http/admission.ts';
import { begin } from '../http/answer/headers.ts';
import { cutWith } from '../http/exchange.ts';
import { asHubError } from '../input/fault-gate.ts';
import { type ReadPage, servePage } from '../pages/page.ts';
import type { RouteContext } from './route-context.ts';

/** Answers before it returns, or later. */
type Serve = (response: HttpResponse, request: HttpRequest) => Promise<void>;

/** Makes handlers of what reads pages. */
export function pagesOf({ queue, log }: RouteContext): (read: ReadPage) => Handler {
  return (read) => servePage(read, queue, log);
}

/** Has an answer that takes long cut when its visitor has to leave. */
export function later(serve: Serve, log: Log): Handler {
  return (response, request, visitor) => {
    const stay = cutWith(visitor, response);
    void serve(response, request)
      .catch((error) => asHubError(error, log))
      .finally(stay);
  };
}

export function replyNotFound(_: HttpResponse, request: HttpRequest): void {
  throw new HubError('not-found', `${request.getUrl()}: there is no such page`);
}

export function redirectToHub(response: HttpResponse): void {
  begin(response, '302 Found').writeHeader('Location', '/hub/').end();
}
