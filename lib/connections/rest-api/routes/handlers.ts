// Handlers that routes share.

import { HubError } from '../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Handler } from '../http/admission.ts';
import { begin } from '../http/answer/headers.ts';
import type { Paced } from '../http/body.ts';
import { cutWith } from '../http/exchange.ts';
import { keepRequest } from '../http/kept-request.ts';
import { asHubError } from '../input/fault-gate.ts';
import { shareOf } from '../limits/rates.ts';
import { type ReadPage, servePage } from '../pages/page.ts';
import { remoteAddressOf } from '../proxies/remote-address.ts';
import type { RouteContext } from './route-context.ts';

/** Answers before it returns, or later. */
type Serve = (response: HttpResponse, request: HttpRequest, paced: Paced) => Promise<void>;

/** Makes handlers of what reads pages. */
export function pagesOf({ queue, log }: RouteContext): (read: ReadPage) => Handler {
  return (read) => servePage(read, queue, log);
}

/** Has an answer that is made in a slice, and takes long to be sent, cut when its visitor has to leave. */
export function later(serve: Serve, { queue, log }: Pick<RouteContext, 'queue' | 'log'>): Handler {
  return (response, request, visitor) => {
    const share = shareOf(visitor, remoteAddressOf(response));
    let asked = request;
    let isLate = false;
    let isGone = false;
    const begin = () => {
      const stay = cutWith(visitor, response);
      void serve(response, asked, { queue, share })
        .catch((error) => asHubError(error, log))
        .finally(stay);
    };
    const advance = () => {
      if (isLate && !isGone) response.cork(begin);
      else if (!isLate) begin();
      return false;
    };
    queue.do({ share, line: undefined, advance }, () => {
      isLate = true;
      asked = keepRequest(request);
      response.onAborted(() => {
        isGone = true;
      });
    });
  };
}

export function replyNotFound(_: HttpResponse, request: HttpRequest): void {
  throw new HubError('not-found', `${request.getUrl()}: there is no such page`);
}

export function redirectToHub(response: HttpResponse): void {
  begin(response, '302 Found').writeHeader('Location', '/hub/').end();
}
