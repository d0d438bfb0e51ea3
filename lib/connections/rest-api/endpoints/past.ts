// Endpoints for past values and events. The endpoints parse the selection and the time range; the store thread produces the answers.

import type { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';
import type { HttpResponse } from '../../../net/uws.ts';
import { text } from '../../../wire/http/shape.ts';
import { maxEntries, usualEntries } from '../../../wire/limits.ts';
import type { AskedParameter, PastQuestion, ReadyAnswer, Sight } from '../../persistence.ts';
import type { Handler } from '../http/admission.ts';
import { acceptOf, wantsJsonErrors } from '../http/answer/accept.ts';
import { isNotModified, type Preconditions, preconditionsOf } from '../http/answer/conditional.ts';
import { begin, jsonType } from '../http/answer/headers.ts';
import { holdFor } from '../http/answer/send.ts';
import type { Paced } from '../http/body.ts';
import { cutWith, type Exchange, keepResponse } from '../http/exchange.ts';
import { countUpTo, readMoment } from '../http/request-url.ts';
import { sendParts } from '../http/send-parts.ts';
import { asHubError } from '../input/parse-input.ts';
import { shareOf } from '../limits/rates.ts';
import { remoteAddressOf } from '../proxies/trusted-proxies.ts';
import type { Principal } from '../users/principal.ts';
import { type About, type Context, type Endpoint, fresh, startOf } from './endpoint.ts';

export type PastContext = Pick<Context, 'hub' | 'queue' | 'log' | 'pastShares' | 'settings'>;

/** A client's request for past values or events. */
export interface PastRequest {
  /** The part of the path in place of the braces, percent-encoded. */
  readonly rest: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  /** The share to which the hub's work for the request is charged. */
  readonly share: string;
  readonly principal: Principal;
}

/**
 * Converts a request to a question for the store; returns a promise if finding the parameters takes a while. Errors: any error in the
 * request.
 */
export type ReadQuestion = (context: PastContext, request: PastRequest) => PastQuestion | Promise<PastQuestion>;

const csvType = 'text/csv; charset=utf-8; header=present';
const partBytes = 64 * 1024;
/** The approximate memory that one parameter takes while a query is waiting, in bytes. */
const bytesOfParameter = 8;

interface PastPage extends About {
  readonly answer: z.ZodType;
  /** If true, the answer is also available as CSV. */
  readonly isTable?: true;
  readonly read: ReadQuestion;
}

/** Defines a `GET` endpoint that the store answers. */
export function pastPage({ answer, isTable, read, ...about }: PastPage): Endpoint {
  const json = { 'application/json': answer };
  return {
    ...about,
    method: 'GET',
    answers: isTable ? fresh({ ...json, 'text/csv': text }, 'The recorded data') : fresh(json),
    errors: {
      400: 'The query is not valid',
      404: 'The parameter does not exist and never did, or the hub has no store',
      503: 'Too many requests are waiting, the answer takes too long, or the records cannot be read; see Retry-After',
    },
    serve: (context) => servePast(context, read, startOf(about.path)),
  };
}

/** Returns the shape of the query parameters `from` and `to`. */
export const rangeShape = (defaultFrom: string) => ({
  from: text.default(defaultFrom).describe('ISO 8601, milliseconds since 1970, or a time before now: -1h, -7d, -1y'),
  to: text.default('now').describe('In the same formats as from'),
});

export const entryLimit = countUpTo(maxEntries).default(usualEntries).describe('Maximum number of entries');

export function servePast(context: PastContext, read: ReadQuestion, start: string): Handler {
  return (response, request, principal) => {
    const past = context.hub.persistence.archive?.past;
    if (past === undefined) throw new HubError('not-found', 'this hub has no store');
    const share = shareOf(principal, remoteAddressOf(response));
    const accept = acceptOf(request);
    const asJson = wantsJsonErrors(request.getUrl(), accept);
    const preconditions = preconditionsOf(request);
    const query = new URLSearchParams(request.getQuery() ?? '');
    const asking: PastRequest = { rest: request.getUrl().slice(start.length), query, accept, share, principal };
    const leave = context.pastShares.enter(share);
    const exchange = keepResponse(response);
    const stay = cutWith(principal, response);
    const answer = async () => {
      const asked = await read(context, asking); // awaited immediately, so that a rejection is handled
      const ready = await past
        .ask(asked, share, () => !exchange.isAborted)
        .finally(holdQuestion(exchange, asked, share));
      const free = context.pastShares.hold(share, ready.body.byteLength);
      const type = 'format' in asked && asked.format === 'csv' ? csvType : jsonType;
      await reply(exchange, ready, type, preconditions, { queue: context.queue, share }).finally(free);
    };
    void answer()
      .catch((error) => exchange.fail(asHubError(error, context.log), asJson))
      .finally(() => {
        stay();
        leave();
      });
  };
}

/** Charges the memory of a waiting query to its share; returns a function that releases the memory. */
function holdQuestion({ isAborted, response }: Exchange, asked: PastQuestion, share: string): () => void {
  if (isAborted || asked.ask !== 'history' || asked.list === undefined) return () => {};
  const account = holdFor(response, 'requests', share);
  account.set(asked.parameters.length * bytesOfParameter);
  return () => account.set(0);
}

/** Answers with the records, or with 304 if the client already has them. Errors: `precondition-failed`. */
async function reply(
  exchange: Exchange,
  { body, tag }: ReadyAnswer,
  type: string,
  preconditions: Preconditions,
  paced: Paced,
): Promise<void> {
  const etag = `"${tag}"`;
  const isKnown = isNotModified(preconditions, { etag });
  exchange.reply((response) => {
    begin(response, isKnown ? '304 Not Modified' : undefined);
    response.writeHeader('ETag', etag).writeHeader('Cache-Control', 'no-cache');
    if (isKnown) response.endWithoutBody();
    else sendFirst(response.writeHeader('Content-Type', type), body);
  });
  if (isKnown || exchange.response.isHead || body.byteLength <= partBytes) return;
  const next = (sent: number) => body.subarray(sent, sent + partBytes);
  await sendParts(exchange, paced, { totalBytes: body.byteLength, heldBytes: body.byteLength, next });
}

/** Sends a short body together with the headers. A long body is sent in parts later. */
function sendFirst(response: HttpResponse, body: Uint8Array): void {
  if (response.isHead || body.byteLength <= partBytes) response.end(body);
}

/** The end of an unlimited time range: the maximum time, because the clock may have been fast while the store was recording. */
export const endOfTime = 8.64e15;

/**
 * Parses the query parameters defined by `rangeShape`; `latest` replaces `now` in `to`. Returns milliseconds since 1970. Errors:
 * `bad-request`.
 */
export function readRange(
  { from: fromText, to: toText }: { readonly from: string; readonly to: string },
  latest = Date.now(),
): { from: number; to: number } {
  const now = Date.now();
  const to = toText === 'now' ? latest : Math.floor(readMoment('to', withPlus(toText), now));
  const from = Math.floor(readMoment('from', withPlus(fromText), now));
  if (from > to)
    throw new HubError('bad-request', `from: expected a time before \`to\`, got ${describe(fromText)}, which is later`);
  return { from, to };
}

/** Restores the plus sign of the time zone in `2026-11-22T03:00+01:00`, because an unencoded plus sign in a query means a space. */
function withPlus(text: string): string {
  return text.replace(/ (?=\d\d:\d\d$)(?<=T.*)/, '+');
}

/** Describes a parameter for the store. A removed parameter has no type; a parameter that the principal may not see is marked as hidden. */
export function askedOf(address: string, { view }: Principal): AskedParameter {
  return { address, type: view.find(address)?.type, ...(!view.mayAskFor(address) && { isHidden: true }) };
}

/** Returns the patterns for the parameters that the principal may see in an answer; undefined stands for all parameters. */
export function sightOf({ rights }: Principal): Sight | undefined {
  if (rights === undefined || rights.readsAll) return undefined;
  const { read, deny } = rights.settings;
  return { read, deny };
}
