// Answers about the past come from the store as they are sent. The hub's own thread neither makes nor reads them.

import { HubError } from '../../../../model/error.ts';
import type { HttpResponse } from '../../../../net/uws.ts';
import type { PastQuestion, ReadyAnswer } from '../../../archive.ts';
import type { Log } from '../../../connection.ts';
import type { HubPort } from '../../../hub-port.ts';
import type { Handler } from '../../http/admission.ts';
import { acceptOf, wantsJsonErrors } from '../../http/answer/accept.ts';
import { isNotModified, type Preconditions, preconditionsOf } from '../../http/answer/conditional.ts';
import { begin, jsonType } from '../../http/answer/headers.ts';
import { holdFor } from '../../http/answer/held-for.ts';
import type { Paced } from '../../http/body.ts';
import { cutWith, type Exchange, keepResponse } from '../../http/exchange.ts';
import { sendParts } from '../../http/send-parts.ts';
import { asHubError } from '../../input/fault-gate.ts';
import type { PastShares } from '../../limits/past-shares.ts';
import { shareOf } from '../../limits/rates.ts';
import type { FairQueue } from '../../pacing/fair-queue.ts';
import { remoteAddressOf } from '../../proxies/remote-address.ts';
import type { Visitor } from '../../users/visitor.ts';

/** What is needed to answer. */
export interface PastContext {
  readonly hub: HubPort;
  readonly queue: FairQueue;
  readonly shares: PastShares;
  readonly log: Log;
  /** How many steps the filters of a list may have. */
  readonly patternSteps: number;
}

/** What a client asks with. */
export interface PastRequest {
  /** The path as it came, percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  /** Whose share of what the hub does it takes. */
  readonly share: string;
  readonly visitor: Visitor;
}

/** What is asked; the question may take a while to be found. Errors: those of the request. */
export type ReadQuestion = (context: PastContext, request: PastRequest) => PastQuestion | Promise<PastQuestion>;

const csvType = 'text/csv; charset=utf-8; header=present';
const partBytes = 64 * 1024;
/** What a parameter takes of a list that waits. */
const bytesOfParameter = 8;

export function servePast(context: PastContext, read: ReadQuestion): Handler {
  return (response, request, visitor) => {
    const past = context.hub.keeping.archive?.past;
    if (past === undefined) throw new HubError('not-found', 'this hub has no store');
    const share = shareOf(visitor, remoteAddressOf(response));
    const accept = acceptOf(request);
    const asJson = wantsJsonErrors(request.getUrl(), accept);
    const preconditions = preconditionsOf(request);
    const query = new URLSearchParams(request.getQuery() ?? '');
    const asking: PastRequest = { path: request.getUrl(), query, accept, share, visitor };
    const leave = context.shares.enter(share);
    const exchange = keepResponse(response);
    const stay = cutWith(visitor, response);
    const answer = async () => {
      const asked = await read(context, asking); // awaited where it is made: nobody else handles what it rejects with
      const ready = await past
        .ask(asked, share, () => !exchange.isAborted)
        .finally(holdQuestion(exchange, asked, share));
      const free = context.shares.hold(share, ready.body.byteLength);
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
