// What every answer begins with for the sake of browsers: nobody guesses its type; no page but those of this hub and of
// allowedOrigins embeds or frames it, and those of allowedOrigins may read it (Fetch, "CORS protocol"; CSP 3, "frame-ancestors").

import { encodeText, type HttpRequest, type HttpResponse } from '../../../net/uws.ts';
import type { Settings } from '../settings.ts';
import { originOf, refererOriginOf } from './guard/page-origin.ts';

export const textType = 'text/plain; charset=utf-8';
export const jsonType = 'application/json';

export type Header = readonly [name: string, value: string];

/** Settles what the answer to a request begins with; before anything is answered. */
export type OpenAnswer = (response: HttpResponse, request: HttpRequest) => void;

export function createOpenAnswer(settings: Settings): OpenAnswer {
  if (settings.allowedOrigins.length === 0 && settings.tls === undefined) return () => {};
  const own = encodeOpening(fixedHeaders(settings));
  if (settings.allowedOrigins.length === 0) return (response) => keep(response, own);
  const foreign = new Map(
    settings.allowedOrigins
      .map((origin) => origin.toLowerCase())
      .map((origin) => [origin, encodeOpening(fixedHeaders(settings, origin))]),
  );
  return (response, request) => {
    const origin = originOf(request) || refererOriginOf(request); // images and scripts have no Origin
    keep(response, foreign.get(origin.toLowerCase()) ?? own);
  };
}

/** Begins an answer, 200 unless a status is given: `begin(response, '302 Found').writeHeader('Location', '/hub/').end()`. */
export function begin(response: HttpResponse, status?: string): HttpResponse {
  if (status !== undefined) response.writeStatus(status);
  return response.writeHeader(firstName, openingOf(response).fixed);
}

/** Begins an answer, 200, of JSON or plain text that nobody keeps. */
export function beginValue(response: HttpResponse, asJson: boolean): HttpResponse {
  const { json, text } = openingOf(response);
  return response.writeHeader(firstName, asJson ? json : text);
}

/** Has the answer confine what it is shown in, the page of the console or a worker, to files and sockets of this hub. */
export function confine(response: HttpResponse): void {
  const opening = openingOf(response);
  keep(response, { ...opening, fixed: opening.confined });
}

/** No script but those of its files, nor any other place to send something to (CSP 3); beside the policy that all answers have. */
const consolePolicy = [
  "default-src 'none'",
  ...['script', 'style', 'img', 'font', 'connect', 'worker'].map((kind) => `${kind}-src 'self'`),
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const firstHeader: Header = ['X-Content-Type-Options', 'nosniff'];
const firstName = encodeText(firstHeader[0]);

/** What follows the first header; `origin` is that of a page of another site that is allowed. */
function fixedHeaders({ allowedOrigins, tls }: Pick<Settings, 'allowedOrigins' | 'tls'>, origin?: string): Header[] {
  const framers = ["'self'", ...allowedOrigins].join(' ');
  return [
    ['Content-Security-Policy', `frame-ancestors ${framers}`],
    ['Cross-Origin-Resource-Policy', origin === undefined ? 'same-origin' : 'cross-origin'],
    ['Referrer-Policy', 'same-origin'], // else a site that is linked to could redirect back, in the name of our page
    allowedOrigins.length === 0 ? ['X-Frame-Options', 'SAMEORIGIN'] : ['Vary', 'Origin'], // the former cannot name origins
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

/** Has browsers come by HTTPS only, whatever port of this host they are sent to (RFC 6797); 0 has them forget it. */
function strictTransport(seconds: number): Header {
  return ['Strict-Transport-Security', `max-age=${seconds}`];
}

/** The value of the first header, and all further ones as if they belonged to it: one call into the library writes them all. */
interface Opening {
  readonly fixed: ArrayBuffer;
  readonly confined: ArrayBuffer;
  readonly text: ArrayBuffer;
  readonly json: ArrayBuffer;
}

function encodeOpening(fixed: readonly Header[]): Opening {
  const encode = (...others: readonly Header[]) =>
    encodeText([firstHeader[1], ...[...fixed, ...others].map(([name, value]) => `${name}: ${value}`)].join('\r\n'));
  return {
    fixed: encode(),
    confined: encode(['Content-Security-Policy', consolePolicy]),
    text: encode(['Content-Type', textType], ['Cache-Control', 'no-store']),
    json: encode(['Content-Type', jsonType], ['Cache-Control', 'no-store']),
  };
}

/** That of a hub without TLS and allowedOrigins: to keep nothing with a response is quicker. */
const usual = encodeOpening(fixedHeaders({ allowedOrigins: [], tls: undefined }));

/** The library lets us keep data of our own with a response. */
function keep(response: HttpResponse, opening: Opening): void {
  response.opening = opening;
}

function openingOf(response: HttpResponse): Opening {
  return (response.opening as Opening | undefined) ?? usual;
}
