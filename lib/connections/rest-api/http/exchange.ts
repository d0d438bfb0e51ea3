// An exchange is an HTTP request that is answered later. In uWebSockets.js, a request is only valid during the call of its handler, so the
// handler first reads everything needed later. Nothing is sent after the client has disconnected.

import type { HubError } from '../../../model/error.ts';
import { corkUpgrade } from '../../../net/late-upgrade.ts';
import type { HttpResponse } from '../../../net/uws.ts';
import { noteGone } from '../proxies/trusted-proxies.ts';
import type { Principal } from '../users/principal.ts';
import { replyError } from './answer/reply.ts';
import { cut, servedHits, serveFor } from './answer/send.ts';

export interface Exchange {
  readonly response: HttpResponse;
  readonly isAborted: boolean;
  /** Begins or sends an answer, unless the client has disconnected. */
  reply(send: (response: HttpResponse) => void): void;
  /** Answers a handshake, unless the client has disconnected. */
  upgrade(send: () => void): void;
  /**
   * Answers with an error. If the answer has already begun, cuts the connection instead, so that the client does not mistake a partial
   * answer for a complete one.
   */
  fail(error: HubError, asJson: boolean): void;
  /** Sets the function to call when the client disconnects; replaces an earlier one. */
  whenAborted(act: () => void): void;
  /** Resolves as soon as the client can receive more data or has disconnected. */
  writable(): Promise<void>;
}

/**
 * Cuts off an answer if the principal loses access. Returns a function to call once the answer is complete, after which the answer is no
 * longer cut off.
 */
export function cutWith(principal: Principal, response: HttpResponse): () => void {
  return principal.onLeave(() => cut(response));
}

/** Keeps a response for later. Call this before the handler returns. */
export function keepResponse(response: HttpResponse): Exchange {
  const hits = servedHits();
  let isAborted = false;
  let hasBegun = false;
  let wake: (() => void) | undefined;
  let act: (() => void) | undefined;
  response.onAborted(() => {
    isAborted = true;
    noteGone(response);
    wake?.();
    act?.();
  });
  const begin = () => {
    if (isAborted) return false;
    hasBegun = true;
    serveFor(hits);
    return true;
  };
  // This handler is set only once: if it were replaced while it is running, the library would restore it afterwards.
  const listen = () =>
    response.onWritable(() => {
      wake?.();
      return true;
    });
  return {
    response,
    get isAborted() {
      return isAborted;
    },
    reply(send) {
      if (begin()) response.cork(() => send(response));
    },
    upgrade(send) {
      if (begin()) corkUpgrade(response, send);
    },
    fail(error, asJson) {
      if (isAborted) return;
      if (!hasBegun) this.reply(() => replyError(response, error, asJson));
      else cut(response);
    },
    whenAborted(next) {
      act = next;
    },
    writable: () =>
      new Promise((resolve) => {
        if (isAborted) return resolve();
        if (wake === undefined) listen();
        wake = resolve;
      }),
  };
}
