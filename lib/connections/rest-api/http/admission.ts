// What comes before each handler: the framing must be plain, the guard lets the request in, and what either of them or the
// handler throws is answered.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { asHubError } from '../input/fault-gate.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import { remoteAddress } from '../limits/remote-address.ts';
import { wantsJsonErrors } from './answer/accept.ts';
import type { Header, OpenAnswer } from './answer/headers.ts';
import { replyError } from './answer/reply.ts';
import { serveFor } from './answer/served-hits.ts';
import { ambiguityOf, refuseAndClose } from './framing.ts';
import type { Act, Guard } from './guard/guard.ts';

/** Answers a request, or keeps the response for later. It may throw a `HubError` before it returns. */
export type Handler = (response: HttpResponse, request: HttpRequest) => void;

export interface AdmissionContext {
  readonly guard: Guard;
  readonly openAnswer: OpenAnswer;
  readonly log: Log;
  readonly hits: LimitHits;
}

export class Admission {
  readonly #context: AdmissionContext;
  readonly #challenges: readonly Header[];

  constructor(context: AdmissionContext) {
    this.#context = context;
    this.#challenges = context.guard.challenges.map((challenge) => ['WWW-Authenticate', challenge] as const);
  }

  /** Refuses what could be two requests. This comes before a request is postponed, since a kept request has each header only once. */
  isRefused(response: HttpResponse, request: HttpRequest, act: Act): boolean {
    const ambiguity = ambiguityOf(request, act === 'read');
    if (ambiguity === undefined) return false;
    this.#context.openAnswer(response, request);
    refuseAndClose(response, request, ambiguity);
    return true;
  }

  /** Runs a handler if the guard lets the request in. It answers what either of them throws. */
  answer(response: HttpResponse, request: HttpRequest, act: Act, handler: Handler): void {
    const { guard, openAnswer, log, hits } = this.#context;
    openAnswer(response, request);
    serveFor(hits);
    try {
      guard.check(request, act, () => remoteAddress(response));
      handler(response, request);
    } catch (error) {
      const known = asHubError(error, log);
      const asJson = wantsJsonErrors(request.getUrl(), request.getHeader('accept'));
      replyError(response, known, asJson, known.code === 'unauthorized' ? this.#challenges : []);
    }
  }
}
