// The headers at the start of every answer. They stop browsers from guessing the type of the answer, let only pages from this hub and from
// allowedOrigins embed or frame the answer, and let pages from allowedOrigins read it (Fetch, "CORS protocol"; CSP 3, "frame-ancestors").

import { encodeText, type HttpRequest, type HttpResponse } from '../../../../net/uws.ts';
import type { Settings } from '../../settings.ts';
import { originOf, refererOriginOf, serializeOrigin } from '../guard/site-check.ts';
import { hasContinued } from './expect.ts';

export const textType = 'text/plain; charset=utf-8';
export const jsonType = 'application/json';

export type Header = readonly [name: string, value: string];

/** Chooses the headers of the answer to a request. Call this before any part of the answer is sent. */
export type OpenAnswer = (response: HttpResponse, request: HttpRequest) => void;

export function createOpenAnswer(settings: Settings): OpenAnswer {
  if (settings.allowedOrigins.length === 0 && settings.tls === undefined) return () => {};
  const own = encodeOpening(fixedHeaders(settings));
  if (settings.allowedOrigins.length === 0) return (response) => keep(response, own);
  const foreign = new Map(
    settings.allowedOrigins
      .map(serializeOrigin)
      .map((origin) => [origin, encodeOpening(fixedHeaders(settings, origin))]),
  );
  return (response, request) => {
    const origin = originOf(request) || refererOriginOf(request); // requests for images and scripts have no Origin
    keep(response, foreign.get(origin) ?? foreign.get(serializeOrigin(origin)) ?? own);
  };
}

/** Redirects a browser to one of the hub's pages, in the language that the URL of the request selects. */
export function redirect(response: HttpResponse, request: HttpRequest, path: '/hub/' | '/hub/sign-in'): void {
  const language = request.getQuery('lang') ?? '';
  begin(response, '302 Found')
    .writeHeader('Location', /^[a-z]{2}$/.test(language) ? `${path}?lang=${language}` : path)
    .end();
}

/** Begins an answer with the status, by default 200, and the fixed headers: `begin(response, '404 Not Found')`. */
export function begin(response: HttpResponse, status?: string): HttpResponse {
  if (hasContinued(response))
    return response.writeHeader(`HTTP/1.1 ${status ?? '200 OK'}\r\n${firstHeader[0]}`, openingOf(response).fixed);
  if (status !== undefined) response.writeStatus(status);
  return response.writeHeader(firstName, openingOf(response).fixed);
}

/** Begins a 200 answer with JSON or plain text that caches must not store. */
export function beginValue(response: HttpResponse, asJson: boolean): HttpResponse {
  if (hasContinued(response))
    return begin(response)
      .writeHeader('Content-Type', asJson ? jsonType : textType)
      .writeHeader('Cache-Control', 'no-store');
  const { json, text } = openingOf(response);
  return response.writeStatus(asJson ? json : text);
}

/** Confines the page or worker in the answer to files and sockets from this hub. Call this before `begin`. */
export function confine(response: HttpResponse): void {
  const opening = openingOf(response);
  keep(response, { ...opening, fixed: opening.confined });
}

/**
 * The Content-Security-Policy of the console, which runs only scripts from its own files and can send data only to the hub (CSP 3). All
 * answers have a second policy.
 */
const consolePolicy = [
  "default-src 'none'",
  ...['script', 'style', 'img', 'font', 'connect', 'worker'].map((kind) => `${kind}-src 'self'`),
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const firstHeader: Header = ['X-Content-Type-Options', 'nosniff'];
const firstName = encodeText(firstHeader[0]);

/**
 * Returns the headers of every answer except the first. `origin` is the origin of the requesting page if the page is from allowedOrigins.
 */
function fixedHeaders({ allowedOrigins, tls }: Pick<Settings, 'allowedOrigins' | 'tls'>, origin?: string): Header[] {
  const framers = ["'self'", ...allowedOrigins].join(' ');
  return [
    ['Content-Security-Policy', `frame-ancestors ${framers}`],
    ['Cross-Origin-Resource-Policy', origin === undefined ? 'same-origin' : 'cross-origin'],
    ['Referrer-Policy', 'same-origin'], // otherwise a site linked from our page could redirect back in the name of our page
    allowedOrigins.length === 0 ? ['X-Frame-Options', 'SAMEORIGIN'] : ['Vary', 'Origin'], // X-Frame-Options cannot name origins
    ...(origin === undefined ? [] : readableBy(origin)),
    ...(tls === undefined ? [] : [strictTransport(tls.hsts)]),
  ];
}

function readableBy(origin: string): Header[] {
  return [
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Allow-Credentials', 'true'],
    ['Access-Control-Expose-Headers', 'Allow, Content-Range, ETag, Retry-After, WWW-Authenticate'],
  ];
}

/**
 * Returns the header that makes browsers use only HTTPS for every port of this host (RFC 6797), for a number of seconds; 0 makes browsers
 * forget this rule.
 */
function strictTransport(seconds: number): Header {
  return ['Strict-Transport-Security', `max-age=${seconds}`];
}

/**
 * The beginnings of answers. Each is encoded as one value, which the library writes in one call, as if it were a single status or header.
 */
interface Opening {
  /** The value of the first header, followed by all other fixed headers. */
  readonly fixed: ArrayBuffer;
  readonly confined: ArrayBuffer;
  /** The status 200, followed by all headers of a value as plain text. */
  readonly text: ArrayBuffer;
  readonly json: ArrayBuffer;
}

function encodeOpening(fixed: readonly Header[]): Opening {
  const encode = (first: string, headers: readonly Header[]) =>
    encodeText([first, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n'));
  const encodeValue = (type: string) =>
    encode('200 OK', [firstHeader, ...fixed, ['Content-Type', type], ['Cache-Control', 'no-store']]);
  return {
    fixed: encode(firstHeader[1], fixed),
    confined: encode(firstHeader[1], [...fixed, ['Content-Security-Policy', consolePolicy]]),
    text: encodeValue(textType),
    json: encodeValue(jsonType),
  };
}

/** The opening of a hub without TLS and allowedOrigins. For speed, this opening is not stored with the responses. */
const usual = encodeOpening(fixedHeaders({ allowedOrigins: [], tls: undefined }));

/** Stores an opening in a property of a response; the library permits additional properties. */
function keep(response: HttpResponse, opening: Opening): void {
  response.opening = opening;
}

function openingOf(response: HttpResponse): Opening {
  return (response.opening as Opening | undefined) ?? usual;
}
