// Endpoints of the past: what a client asks for, and from when to when. Answers come from the store as they are sent. The hub's own thread
// neither makes nor reads them.

import type { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';
import type { HttpResponse } from '../../../net/uws.ts';
import { maxEntries, usualEntries } from '../../../wire/http/http-limits.ts';
import { text } from '../../../wire/http/shape.ts';
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

/** What a client asks with. */
export interface PastRequest {
  /** What stands in the braces of the path, percent-encoded. */
  readonly rest: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  /** Whose share of what the hub does it takes. */
  readonly share: string;
  readonly principal: Principal;
}

/** What is asked; the question may take a while to be found. Errors: those of the request. */
export type ReadQuestion = (context: PastContext, request: PastRequest) => PastQuestion | Promise<PastQuestion>;

const csvType = 'text/csv; charset=utf-8; header=present';
const partBytes = 64 * 1024;
/** What a parameter takes of a list that waits. */
const bytesOfParameter = 8;

interface PastPage extends About {
  readonly answer: z.ZodType;
  /** true: it may be asked for as CSV. */
  readonly isTable?: true;
  readonly read: ReadQuestion;
}

/** `GET` of what the store answers. */
export function pastPage({ answer, isTable, read, ...about }: PastPage): Endpoint {
  const json = { 'application/json': answer };
  return {
    ...about,
    method: 'GET',
    answers: isTable ? fresh({ ...json, 'text/csv': text }, 'As the records have it') : fresh(json),
    errors: {
      400: 'A query that makes no sense',
      404: 'There is no such parameter, and there was none; or the hub has no store',
      503: 'Too many ask, it takes too long, or the records cannot be read; see Retry-After',
    },
    serve: (context) => servePast(context, read, startOf(about.path)),
  };
}

/** What a range of time is asked by. */
export const rangeShape = (defaultFrom: string) => ({
  from: text.default(defaultFrom).describe('ISO 8601, milliseconds since 1970, or -1h, -7d, -1y: so long before now'),
  to: text.default('now').describe('The same'),
});

export const entryLimit = countUpTo(maxEntries).default(usualEntries).describe('How many at most');

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
      const asked = await read(context, asking); // awaited where it is made: nobody else handles what it rejects with
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

/** Counts what is asked while it waits; returns what ends that. */
function holdQuestion({ isAborted, response }: Exchange, asked: PastQuestion, share: string): () => void {
  if (isAborted || asked.ask !== 'history' || asked.list === undefined) return () => {};
  const account = holdFor(response, 'requests', share);
  account.set(asked.parameters.length * bytesOfParameter);
  return () => account.set(0);
}

/** Errors: `precondition-failed`. */
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

/** A short body goes with the head. */
function sendFirst(response: HttpResponse, body: Uint8Array): void {
  if (response.isHead || body.byteLength <= partBytes) response.end(body);
}

/** The end of all time: what was recorded while the clock was ahead is part of all. */
export const endOfTime = 8.64e15;

/** Reads what `rangeShape` has; `latest` is what `to` is when it is left out. Errors: `bad-request`. */
export function readRange(
  { from: fromText, to: toText }: { readonly from: string; readonly to: string },
  latest = Date.now(),
): { from: number; to: number } {
  const now = Date.now();
  const to = toText === 'now' ? latest : Math.floor(readMoment('to', withPlus(toText), now));
  const from = Math.floor(readMoment('from', withPlus(fromText), now));
  if (from > to)
    throw new HubError('bad-request', `from: expected a time before to, got ${describe(fromText)}, which is later`);
  return { from, to };
}

/** In a query, a plus that is not encoded is a space. Of a time it is the plus of its zone: `2026-11-22T03:00+01:00`. */
function withPlus(text: string): string {
  return text.replace(/ (?=\d\d:\d\d$)(?<=T.*)/, '+');
}

/** A parameter, or what was one. */
export function askedOf(address: string, { view }: Principal): AskedParameter {
  return { address, type: view.find(address)?.type, ...(!view.mayAskFor(address) && { isHidden: true }) };
}

/** What a visitor may see of all that is told along with it; undefined: all. */
export function sightOf({ rights }: Principal): Sight | undefined {
  if (rights === undefined || rights.readsAll) return undefined;
  const { read, deny } = rights.settings;
  return { read, deny };
}
