// Routes, and the rules for all routes: HEAD gets no body, other methods are answered with 405, and requests wait while the hub is busy.
import { METHODS } from 'node:http';
import { HubError } from '../../../model/error.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../../../net/uws.ts';
import { joinedHeaders, lists } from '../input/parse-input.ts';
import type { TrustedProxies } from '../proxies/trusted-proxies.ts';
import type { Need } from '../users/rights.ts';
import { Admission, type AdmissionContext, type Handler } from './admission.ts';
import { acceptOf, wantsJsonErrors } from './answer/accept.ts';
import { noteExpectation } from './answer/expect.ts';
import { begin } from './answer/headers.ts';
import { endWithLength, replyError } from './answer/reply.ts';
import type { Act, Purpose } from './guard/site-check.ts';
import type { PostponedRequests } from './postponed-requests.ts';

/** The handlers for a path and, if the path ends with `/*`, for all paths below it. If GET only reads, HEAD is supported as well. */
export interface Route {
  readonly path: string;
  readonly get?: Served;
  readonly post?: Served;
}

/** The handler of one method, and the conditions for calling it. */
interface Served {
  readonly handler: Handler;
  /** The right that a client needs. `entry` means that the answer contains only what the principal may see. */
  readonly need: Need;
  /** If true, GET has an effect, so requests from pages of other sites are refused. */
  readonly writes?: boolean | undefined;
  /** If true, the request does not count towards `requestsPerUser`. */
  readonly isUnmetered?: boolean | undefined;
}

export interface Router {
  add(route: Route): void;
  /**
   * Runs a handler for a WebSocket handshake if the guard admits the request; answers with the error if the guard or the handler throws.
   */
  admit(response: HttpResponse, request: HttpRequest, purpose: Purpose, handler: Handler): void;
}

/** Returns the supported methods in the order of the `Allow` header: `GET`, `HEAD`, `POST`. */
export function methodsOf({ get, post }: Pick<Route, 'get' | 'post'>): string[] {
  return [...(get ? ['GET'] : []), ...(get && !get.writes ? ['HEAD'] : []), ...(post ? ['POST'] : [])];
}

/** A handler in the form that uWebSockets.js calls. */
type PlainHandler = (response: HttpResponse, request: HttpRequest) => void;

interface RouterContext extends AdmissionContext {
  readonly app: TemplatedApp;
  readonly postponed: PostponedRequests;
  readonly proxies: TrustedProxies;
}

export function createRouter({ app, postponed, proxies, ...context }: RouterContext): Router {
  const { guard, openAnswer } = context;
  const admission = new Admission(context);

  const guarded =
    (handler: Handler, purpose: Purpose): PlainHandler =>
    (response, request) => {
      outliveDroppedBody(response);
      proxies.introduce(response, request);
      if (wantsClose(request)) response.closes = true;
      if (admission.isRefused(response, request, purpose.act)) return;
      if (postponed.hasTime()) {
        // For each read from a socket, the library gathers 16 KB of answers; beyond that, every piece is passed to the operating system
        // separately.
        if (postponed.isRoundLong) response.cork(() => admission.answer(response, request, purpose, handler));
        else admission.answer(response, request, purpose, handler);
      } else {
        const answer = (kept: HttpRequest) => admission.answer(response, kept, purpose, handler);
        postponed.put(response, request, answer, (kept) => admission.refuseBody(response, kept));
      }
    };

  return {
    admit(response, request, purpose, handler) {
      outliveDroppedBody(response);
      proxies.introduce(response, request);
      if (admission.isRefused(response, request, purpose.act)) return;
      admission.answer(response, request, purpose, handler, true);
    },
    add(route) {
      const { path, get, post } = route;
      const methods = methodsOf(route).join(', ');
      const serve = ({ handler, need, isUnmetered }: Served, act: Act) => guarded(handler, { act, need, isUnmetered });
      const refuse = serve({ ...(get ?? post)!, handler: refuseMethod(methods) }, 'read');
      // The handler is also set without `get`; otherwise the route of a parent path would answer.
      app.get(path, get === undefined ? refuse : serve(get, get.writes ? 'write by GET' : 'read'));
      app.head(path, withoutBody(get === undefined || get.writes ? refuse : serve(get, 'read')));
      if (post !== undefined) app.post(path, withBody(serve(post, 'write')));
      app.options(path, (response, request) => {
        if (!guard.isPreflight(request)) return refuse(response, request);
        outliveDroppedBody(response);
        if (admission.isRefused(response, request, 'write')) return;
        openAnswer(response, request);
        replyPreflight(response, request, methods);
      });
      app.any(path, withBody(refuse));
    },
  };
}

const nothing = () => {};

/**
 * Keeps the process alive when the library drops a body, which happens when `end` is called within a cork while the connection accepts no
 * data. Without a listener, the library would find an unanswered request when the handler returns, and end the process. With this listener,
 * the library cuts the connection after 10 s or with the next request.
 */
function outliveDroppedBody(response: HttpResponse): void {
  response.onAborted(nothing);
}

/** Wraps a handler for HEAD: no body is sent, but the length of a complete body is (RFC 9110 section 9.3.2). */
function withoutBody(handler: PlainHandler): PlainHandler {
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

/** Wraps a handler for requests that may have a body, and whose clients may wait for permission to send it. */
function withBody(handler: PlainHandler): PlainHandler {
  return (response, request) => {
    noteExpectation(response, request);
    handler(response, request);
  };
}

/**
 * Returns whether the client wants the connection to end after the answer. The library itself recognizes `Connection: close`, but not among
 * several values.
 */
function wantsClose(request: HttpRequest): boolean {
  const first = request.getHeader('connection');
  if (first === '' || first === 'keep-alive' || first === 'close') return false;
  return lists(joinedHeaders(request, 'connection')[0]!, 'close');
}

/** The methods that HTTP defines: those in RFC 9110 and other registered methods. */
const knownMethods = new Set(METHODS);

function refuseMethod(allowed: string): Handler {
  return (response, request) => {
    const method = request.getCaseSensitiveMethod();
    const asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
    if (knownMethods.has(method)) {
      const error = new HubError('method-not-allowed', `expected ${allowed}, got ${method}`);
      replyError(response, error, asJson, [['Allow', allowed]]);
    } else replyError(response, new HubError('not-implemented', `expected a known method, got ${method}`), asJson);
  };
}

// The answers to preflights: browsers ask before a page from allowedOrigins may send requests that forms cannot send (Fetch,
// "CORS-preflight request").

const maxAgeSeconds = 600;
const requestHeaders = 'Authorization, Content-Type, If-Modified-Since, If-None-Match, If-Range, Range, traceparent';

/** Answers 204 with the permitted methods and headers. Browsers require a further header before a page may reach a private network. */
function replyPreflight(response: HttpResponse, request: HttpRequest, methods: string): void {
  begin(response, '204 No Content').writeHeader('Access-Control-Allow-Methods', methods);
  response.writeHeader('Access-Control-Allow-Headers', requestHeaders);
  response.writeHeader('Access-Control-Max-Age', String(maxAgeSeconds));
  if (request.getHeader('access-control-request-private-network') === 'true')
    response.writeHeader('Access-Control-Allow-Private-Network', 'true');
  response.endWithoutBody();
}
