// Routes, and what holds for each of them: the guard goes first, what a handler throws is answered, HEAD gets no body, and
// other methods get 405 (design.md section 5).

import { HubError } from '../../model/error.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../../net/uws.ts';
import type { Log } from '../connection.ts';
import { asHubError } from './exchange.ts';
import type { Guard } from './guard.ts';
import { acceptsJson, endWithLength, replyError } from './reply.ts';

/** Answers a request, or keeps the response for later before it returns; may throw a `HubError` until then. */
export type Handler = (response: HttpResponse, request: HttpRequest) => void;

export interface Router {
  /** Routes GET and HEAD of a path that only reads. */
  read(path: string, handler: Handler): void;
  /** Routes GET and POST of a path that writes. */
  write(path: string, methods: { get: Handler; post: Handler }): void;
  /** Runs a handler if the guard lets the request in, and answers what either throws. */
  admit(response: HttpResponse, request: HttpRequest, isWrite: boolean, handler: Handler): void;
}

export function createRouter(app: TemplatedApp, guard: Guard, log: Log): Router {
  const challenges = guard.challenges.map((challenge) => ['WWW-Authenticate', challenge] as const);

  const admit: Router['admit'] = (response, request, isWrite, handler) => {
    try {
      guard.check(request, isWrite);
      handler(response, request);
    } catch (error) {
      const known = asHubError(error, log);
      const asJson = acceptsJson(request.getHeader('accept'));
      replyError(response, known, asJson, known.code === 'unauthorized' ? challenges : []);
    }
  };

  const guarded =
    (handler: Handler, isWrite: boolean): Handler =>
    (response, request) =>
      admit(response, request, isWrite, handler);

  return {
    admit,
    read(path, handler) {
      app.get(path, guarded(handler, false));
      app.head(path, withoutBody(guarded(handler, false)));
      app.any(path, guarded(refuseMethod('GET, HEAD'), false));
    },
    write(path, { get, post }) {
      app.get(path, guarded(get, true));
      app.post(path, guarded(post, true));
      const refuse = guarded(refuseMethod('GET, POST'), true);
      app.head(path, withoutBody(refuse));
      app.any(path, refuse);
    },
  };
}

/** Sends nothing of the body, and its length when it comes in one piece (RFC 9110 section 9.3.2). */
function withoutBody(handler: Handler): Handler {
  return (response, request) => {
    let isStreamed = false;
    response.write = () => {
      isStreamed = true;
      return true;
    };
    response.end = (body = '') =>
      isStreamed ? response.endWithoutBody() : endWithLength(response, Buffer.byteLength(body as string));
    handler(response, request);
  };
}

function refuseMethod(allowed: string): Handler {
  return (response, request) => {
    const error = new HubError('method-not-allowed', `expected ${allowed}, got ${request.getMethod().toUpperCase()}`);
    replyError(response, error, acceptsJson(request.getHeader('accept')), [['Allow', allowed]]);
  };
}
