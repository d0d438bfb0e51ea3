// Routes, and what holds for each of them: the guard comes first, what a handler throws is answered, HEAD gets no body, and other methods
// get 405.

import { type ErrorCode, HubError } from '../../../model/error.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { asHubError } from '../input/fault-gate.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import { remoteAddress } from '../limits/remote-address.ts';
import { wantsJsonErrors } from './answer/accept.ts';
import type { Header, OpenAnswer } from './answer/headers.ts';
import { replyPreflight } from './answer/preflight.ts';
import { endWithLength, replyError } from './answer/reply.ts';
import { serveFor } from './answer/served-hits.ts';
import { ambiguityOf, refuseAndClose } from './framing.ts';
import { retryAfterSeconds } from './guard/attempts.ts';
import type { Act, Guard } from './guard/guard.ts';
import type { PostponedRequests } from './postponed-requests.ts';

/** Answers a request, or keeps the response for later. It may throw a `HubError` before it returns. */
export type Handler = (response: HttpResponse, request: HttpRequest) => void;

/** What is answered at a path; with `/*` at its end also at all paths below it. Where GET has no `getWrites` HEAD is answered as well. */
export interface Route {
  readonly path: string;
  readonly get?: Handler;
  readonly post?: Handler;
  /** true: GET changes something, and so pages of other sites may not ask. */
  readonly getWrites?: boolean;
}

export interface Router {
  add(route: Route): void;
  /** Runs a handler if the guard lets the request in. It answers what either of them throws. */
  admit(response: HttpResponse, request: HttpRequest, act: Act, handler: Handler): void;
}

/** What a route allows, as `Allow` says it: `GET, HEAD`. */
export function methodsOf({ get, post, getWrites = false }: Route): string[] {
  return [...(get ? ['GET'] : []), ...(get && !getWrites ? ['HEAD'] : []), ...(post ? ['POST'] : [])];
}

interface RouterContext {
  readonly app: TemplatedApp;
  readonly guard: Guard;
  readonly openAnswer: OpenAnswer;
  readonly log: Log;
  readonly hits: LimitHits;
  readonly postponed: PostponedRequests;
}

export function createRouter({ app, guard, openAnswer, log, hits, postponed }: RouterContext): Router {
  const challenges = guard.challenges.map((challenge) => ['WWW-Authenticate', challenge] as const);

  const headersOf = (code: ErrorCode): readonly Header[] => {
    if (code === 'unauthorized') return challenges;
    return code === 'too-many-attempts' ? [['Retry-After', String(retryAfterSeconds)]] : [];
  };

  /** Refuses what could be two requests. This comes before a request is postponed, since a kept request has each header only once. */
  const isRefused = (response: HttpResponse, request: HttpRequest, act: Act) => {
    const ambiguity = ambiguityOf(request, act === 'read');
    if (ambiguity === undefined) return false;
    openAnswer(response, request);
    refuseAndClose(response, request, ambiguity);
    return true;
  };

  const answer: Router['admit'] = (response, request, act, handler) => {
    openAnswer(response, request);
    serveFor(hits);
    try {
      guard.check(request, act, () => remoteAddress(response));
      handler(response, request);
    } catch (error) {
      const known = asHubError(error, log);
      const asJson = wantsJsonErrors(request.getUrl(), request.getHeader('accept'));
      replyError(response, known, asJson, headersOf(known.code));
    }
  };

  const guarded =
    (handler: Handler, act: Act): Handler =>
    (response, request) => {
      if (isRefused(response, request, act)) return;
      if (postponed.hasTime()) {
        // For each read the library gathers 16 KB of answers. After that it hands every piece to the system by itself.
        if (postponed.isRoundLong) response.cork(() => answer(response, request, act, handler));
        else answer(response, request, act, handler);
      } else postponed.put(response, request, (kept) => answer(response, kept, act, handler));
    };

  return {
    admit(response, request, act, handler) {
      if (!isRefused(response, request, act)) answer(response, request, act, handler);
    },
    add(route) {
      const { path, get, post, getWrites = false } = route;
      const methods = methodsOf(route).join(', ');
      const refuse = guarded(refuseMethod(methods), 'read');
      // This is set without `get` too: else a route of a folder above would answer.
      app.get(path, get === undefined ? refuse : guarded(get, getWrites ? 'write by GET' : 'read'));
      app.head(path, withoutBody(get === undefined || getWrites ? refuse : guarded(get, 'read')));
      if (post !== undefined) app.post(path, guarded(post, 'write'));
      app.options(path, (response, request) => {
        if (!guard.isPreflight(request)) return refuse(response, request);
        if (isRefused(response, request, 'write')) return;
        openAnswer(response, request);
        replyPreflight(response, request, methods);
      });
      app.any(path, refuse);
    },
  };
}

/** Sends no body, but its length if it comes in one piece (RFC 9110 section 9.3.2). */
function withoutBody(handler: Handler): Handler {
  return (response, request) => {
    let isStreamed = false;
    response.isHead = true;
    response.write = () => {
      isStreamed = true;
      return true;
    };
    response.end = (body = '', closes = false) => {
      if (closes) return response.endWithoutBody(0, true);
      return isStreamed ? response.endWithoutBody() : endWithLength(response, Buffer.byteLength(body as string));
    };
    handler(response, request);
  };
}

function refuseMethod(allowed: string): Handler {
  return (response, request) => {
    const error = new HubError('method-not-allowed', `expected ${allowed}, got ${request.getMethod().toUpperCase()}`);
    const asJson = wantsJsonErrors(request.getUrl(), request.getHeader('accept'));
    replyError(response, error, asJson, [['Allow', allowed]]);
  };
}
