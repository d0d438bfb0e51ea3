// The checks before each handler: the framing must be unambiguous, and the guard must admit the request. If a check fails, the client gets
// an error.

import { HubError } from '../../../model/error.ts';
import { encodeText, type HttpRequest, type HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { asHubError } from '../input/parse-input.ts';
import { LimitError, type LimitHits } from '../limits/limit-hits.ts';
import { networkOf } from '../limits/network.ts';
import { type Rates, shareOf } from '../limits/rates.ts';
import { hasGone, noteGone, remoteAddressOf } from '../proxies/trusted-proxies.ts';
import type { Principal } from '../users/principal.ts';
import { acceptOf, wantsJsonErrors } from './answer/accept.ts';
import { type OpenAnswer, redirect } from './answer/headers.ts';
import { replyError } from './answer/reply.ts';
import { noRoomForBody, serveFor } from './answer/send.ts';
import { keepResponse } from './exchange.ts';
import type { Guard } from './guard/guard.ts';
import type { Act, Purpose } from './guard/site-check.ts';
import { keepBody, keepRequest } from './postponed-requests.ts';

/** Answers the request of an admitted principal, or keeps the response and answers later. May throw a `HubError` before returning. */
export type Handler = (response: HttpResponse, request: HttpRequest, principal: Principal) => void;

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

  /**
   * If a request could be interpreted as two requests, answers it with an error. Returns whether this was the case. Call this before a
   * request is postponed, because a postponed request keeps each header only once.
   */
  isRefused(response: HttpResponse, request: HttpRequest, act: Act): boolean {
    const ambiguity = ambiguityOf(request, act);
    if (ambiguity === undefined) return false;
    this.#context.openAnswer(response, request);
    refuseAndClose(response, request, ambiguity);
    return true;
  }

  /**
   * Runs a handler if the guard admits the request; answers with the error if the guard or the handler throws. If a handshake exceeds a
   * limit, the connection is also closed; otherwise thousands of useless connections would remain open until they all time out together.
   */
  answer(response: HttpResponse, request: HttpRequest, purpose: Purpose, handler: Handler, isHandshake = false): void {
    const { guard, openAnswer, hits } = this.#context;
    openAnswer(response, request);
    serveFor(hits);
    let isIn = false;
    try {
      const principal = guard.check(request, purpose, response);
      isIn = true;
      if (principal instanceof Promise) this.#answerLater(response, request, principal, purpose, handler, isHandshake);
      else this.#serve(response, request, principal, purpose, handler);
    } catch (error) {
      this.#refuse(response, request, isIn ? error : this.#counted(error, purpose, response), isHandshake);
    }
  }

  /** Answers with an error, because the hub has no memory left for the body. The principal is not known yet. */
  refuseBody(response: HttpResponse, request: HttpRequest): void {
    this.#context.openAnswer(response, request);
    serveFor(this.#context.hits);
    this.#refuse(response, request, noRoomForBody(), false);
  }

  /**
   * Counts a request that the guard refused towards the client's network. Returns the guard's error, or the error for exceeding the limit.
   */
  #counted(error: unknown, purpose: Purpose, response: HttpResponse): unknown {
    if (purpose.isUnmetered) return error;
    try {
      this.#context.rates.request?.(networkOf(remoteAddressOf(response)));
      return error;
    } catch (limitError) {
      return limitError;
    }
  }

  /** Counts an admitted request and runs its handler. Errors: `too-many-requests`; any error from the handler. */
  #serve(response: HttpResponse, request: HttpRequest, principal: Principal, purpose: Purpose, handler: Handler): void {
    if (!purpose.isUnmetered) this.#context.rates.request?.(shareOf(principal, remoteAddressOf(response)));
    handler(response, request, principal);
  }

  /** Answers once the password has been compared. The parts of the body that arrive in the meantime are kept. */
  #answerLater(
    response: HttpResponse,
    request: HttpRequest,
    coming: Promise<Principal>,
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
      (principal) => go(() => this.#serve(response, kept, principal, purpose, handler)),
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
      redirect(response, request, '/hub/sign-in');
      return;
    }
    const challenges = known.code === 'unauthorized' ? guard.challenges(request) : [];
    const headers = challenges.map((challenge) => ['WWW-Authenticate', challenge] as const);
    replyError(response, known, asJson, headers, isHandshake && known instanceof LimitError);
  }
}

/** Returns whether a path leads to a page that people open. Without credentials, they are redirected to the sign-in page. */
function isPage(path: string): boolean {
  return path === '/' || path === '/hub' || path === '/hub/';
}

// Two parsers may disagree about where an ambiguous request ends. A proxy and the hub behind it would then disagree on where the next
// request begins and who sent it (RFC 9112 sections 6.3 and 11.2). So the hub refuses ambiguous requests.

const lengthHeader = encodeText('content-length');
const codingHeader = encodeText('transfer-encoding');
const digits = /^\d+$/;

let lengths = 0;
let codings = 0;
let hosts = 0;
let trailers = 0;
let last = '';

/**
 * Counts a header that matters for the framing of a request. The lengths of names are compared first, because this function runs for every
 * header.
 */
function count(name: string, value: string): void {
  if (name.length === 4) {
    if (name === 'host') hosts++;
  } else if (name.length === 7) {
    if (name === 'trailer') trailers++;
  } else if (name.length === 14) {
    if (name !== 'content-length') return;
    lengths++;
    last = value;
  } else if (name.length === 17 && name === 'transfer-encoding') {
    codings++;
    last = value;
  }
}

/**
 * Describes the ambiguity in the length or the host of a request, or after a body that is never read; returns undefined if the request is
 * unambiguous. Visiting all headers takes a tenth of the time that an answer takes, so a request that only reads and has no length is not
 * searched for a second length.
 */
function ambiguityOf(request: HttpRequest, act: Act): string | undefined {
  if (act === 'read' && request.getHeader(lengthHeader) === '' && request.getHeader(codingHeader) === '')
    return undefined;
  lengths = codings = hosts = trailers = 0;
  request.forEach(count);
  if (lengths + codings === 0 && hosts === 1) return undefined;
  if (hosts > 1) return `Host: expected one header, got ${hosts}`;
  if (lengths > 0 && codings > 0) return 'expected Content-Length or Transfer-Encoding, got both';
  if (lengths > 1) return `Content-Length: expected one header, got ${lengths}`;
  if (codings > 1) return `Transfer-Encoding: expected one header, got ${codings}`;
  if (lengths === 1 && !digits.test(last)) return `Content-Length: expected a number of bytes, got "${last}"`;
  if (codings === 1 && last.toLowerCase() !== 'chunked') return `Transfer-Encoding: expected chunked, got "${last}"`;
  if (codings === 1 && trailers > 0) return 'Trailer: expected none, because the hub does not support trailers';
  if (codings === 1 && act === 'write by GET') return 'Transfer-Encoding: expected a GET without a body';
  return undefined;
}

/**
 * Answers 400 and closes the connection, in the next round of the event loop. While an answer is due, the library reads nothing more from
 * the connection, so the bytes after the request are ignored.
 */
function refuseAndClose(response: HttpResponse, request: HttpRequest, message: string): void {
  const asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
  const exchange = keepResponse(response);
  const refuse = () => replyError(response, new HubError('bad-request', message), asJson, [], true);
  setImmediate(() => exchange.reply(refuse));
}
