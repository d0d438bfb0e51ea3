// What comes before each handler: the framing must be plain, the guard lets the request in and says who asks, and what either of them or
// the handler throws is answered.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { asHubError } from '../input/fault-gate.ts';
import { LimitError, type LimitHits } from '../limits/limit-hits.ts';
import { networkOf } from '../limits/network.ts';
import { type Rates, shareOf } from '../limits/rates.ts';
import { hasGone, noteGone, remoteAddressOf } from '../proxies/remote-address.ts';
import type { Visitor } from '../users/visitor.ts';
import { acceptOf, wantsJsonErrors } from './answer/accept.ts';
import { begin, type OpenAnswer } from './answer/headers.ts';
import { replyError } from './answer/reply.ts';
import { serveFor } from './answer/served-hits.ts';
import { ambiguityOf, refuseAndClose } from './framing.ts';
import type { Guard } from './guard/guard.ts';
import type { Act, Purpose } from './guard/purpose.ts';
import { keepBody, keepRequest } from './kept-request.ts';

/** Answers a request of a visitor, or keeps the response for later. It may throw a `HubError` before it returns. */
export type Handler = (response: HttpResponse, request: HttpRequest, visitor: Visitor) => void;

export interface AdmissionContext {
  readonly guard: Guard;
  readonly openAnswer: OpenAnswer;
  readonly log: Log;
  readonly hits: LimitHits;
  readonly rates: Rates;
}

export class Admission {
  readonly #context: AdmissionContext;

  constructor(context: AdmissionContext) {
    this.#context = context;
  }

  /** Refuses what could be two requests. This comes before a request is postponed, since a kept request has each header only once. */
  isRefused(response: HttpResponse, request: HttpRequest, act: Act): boolean {
    const ambiguity = ambiguityOf(request, act);
    if (ambiguity === undefined) return false;
    this.#context.openAnswer(response, request);
    refuseAndClose(response, request, ambiguity);
    return true;
  }

  /**
   * Runs a handler if the guard lets the request in. It answers what either of them throws. Who has gone past a limit with a handshake has
   * no use for the connection: it is closed, else thousands of them would wait until they are idle for too long, all at once.
   */
  answer(response: HttpResponse, request: HttpRequest, purpose: Purpose, handler: Handler, isHandshake = false): void {
    const { guard, openAnswer, hits } = this.#context;
    openAnswer(response, request);
    serveFor(hits);
    let isIn = false;
    try {
      const visitor = guard.check(request, purpose, response);
      isIn = true;
      if (visitor instanceof Promise) this.#answerLater(response, request, visitor, purpose, handler, isHandshake);
      else this.#serve(response, request, visitor, purpose, handler);
    } catch (error) {
      this.#refuse(response, request, isIn ? error : this.#counted(error, purpose, response), isHandshake);
    }
  }

  /** Counts a request that the guard refuses, for its address; returns what it is answered. */
  #counted(error: unknown, purpose: Purpose, response: HttpResponse): unknown {
    if (purpose.isUnmetered) return error;
    try {
      this.#context.rates.request?.(networkOf(remoteAddressOf(response)));
      return error;
    } catch (limitError) {
      return limitError;
    }
  }

  /** Errors: `too-many-requests`; those of the handler. */
  #serve(response: HttpResponse, request: HttpRequest, visitor: Visitor, purpose: Purpose, handler: Handler): void {
    if (!purpose.isUnmetered) this.#context.rates.request?.(shareOf(visitor, remoteAddressOf(response)));
    handler(response, request, visitor);
  }

  /** It takes a while to compare a password. What comes of the request meanwhile is kept. */
  #answerLater(
    response: HttpResponse,
    request: HttpRequest,
    coming: Promise<Visitor>,
    purpose: Purpose,
    handler: Handler,
    isHandshake: boolean,
  ): void {
    const kept = keepRequest(request);
    const endBody = keepBody(response);
    response.onAborted(() => {
      noteGone(response);
      endBody();
    });
    const go = (work: () => void) => {
      if (hasGone(response)) return;
      serveFor(this.#context.hits);
      response.cork(() => {
        try {
          work();
        } catch (error) {
          this.#refuse(response, kept, error, isHandshake);
        }
      });
      endBody();
    };
    coming.then(
      (visitor) => go(() => this.#serve(response, kept, visitor, purpose, handler)),
      (error) =>
        go(() => {
          throw this.#counted(error, purpose, response);
        }),
    );
  }

  #refuse(response: HttpResponse, request: HttpRequest, error: unknown, isHandshake: boolean): void {
    const { guard, log } = this.#context;
    const known = asHubError(error, log);
    const asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
    if (known.code === 'unauthorized' && guard.signsIn(request) && isPage(request.getUrl())) {
      begin(response, '302 Found').writeHeader('Location', '/hub/sign-in').end();
      return;
    }
    const challenges = known.code === 'unauthorized' ? guard.challenges(request) : [];
    const headers = challenges.map((challenge) => ['WWW-Authenticate', challenge] as const);
    replyError(response, known, asJson, headers, isHandshake && known instanceof LimitError);
  }
}

/** Whether people open a path to come in: then they are sent to the page to sign in. */
function isPage(path: string): boolean {
  return path === '/' || path === '/hub' || path === '/hub/';
}
