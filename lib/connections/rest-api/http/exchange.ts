// One HTTP request and its answer, alive over awaits: what uWebSockets.js lends for the call only is read up front, and
// nothing is sent once the client has gone.

import { HubError, messageOf } from '../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { servedHits, serveFor } from '../limits/limit-hits.ts';
import { LimitError, limits } from '../limits/limits.ts';
import { replyError } from './reply.ts';

const maxBodyBytes = limits.bodyBytes.default;

export interface Exchange {
  readonly response: HttpResponse;
  readonly isAborted: boolean;
  /** Sends in one piece, unless the client has gone. */
  reply(send: (response: HttpResponse) => void): void;
  /** Answers with an error; cuts the connection when an answer has begun, so that nobody takes a part for the whole. */
  fail(error: HubError, asJson: boolean): void;
  /** Resolves when the client can take more, or has gone. */
  writable(): Promise<void>;
}

/** Keeps a response for later; call it before the handler returns. */
export function keepResponse(response: HttpResponse): Exchange {
  const hits = servedHits();
  let isAborted = false;
  let hasBegun = false;
  let wake: (() => void) | undefined;
  response.onAborted(() => {
    isAborted = true;
    wake?.();
  });
  // Once for all: the library would put this handler back in place of one that is set while it runs.
  const listen = () =>
    response.onWritable(() => {
      wake?.();
      return true;
    });
  return {
    response,
    get isAborted() {
      return isAborted;
    },
    reply(send) {
      if (isAborted) return;
      hasBegun = true;
      serveFor(hits);
      response.cork(() => send(response));
    },
    fail(error, asJson) {
      if (isAborted) return;
      if (hasBegun) response.close();
      else this.reply(() => replyError(response, error, asJson));
    },
    writable: () =>
      new Promise((resolve) => {
        if (isAborted) return resolve();
        if (wake === undefined) listen();
        wake = resolve;
      }),
  };
}

/** Reads a body whole and calls back once. Errors, as the argument: `body-too-large`, `bad-request` for bad UTF-8. */
export function readBody(exchange: Exchange, request: HttpRequest, done: (body: string | HubError) => void): void {
  const expected = `body: expected at most ${maxBodyBytes} bytes, got more`;
  const tooLarge = () => new LimitError('bodyBytes', 'body-too-large', expected);
  if (Number(request.getHeader('content-length')) > maxBodyBytes) {
    done(tooLarge());
    return;
  }
  const chunks: Buffer[] = [];
  let bodyBytes = 0;
  exchange.response.onData((chunk, isLast) => {
    if (bodyBytes > maxBodyBytes) return;
    bodyBytes += chunk.byteLength;
    if (bodyBytes > maxBodyBytes) {
      chunks.length = 0;
      done(tooLarge());
      return;
    }
    chunks.push(Buffer.from(Buffer.from(chunk))); // copied: the library takes the chunk back
    if (isLast) done(decodeText(chunks));
  });
}

/** Any error as one of the catalogue. One that is not is a fault of ours: the log gets it, the client is told so. */
export function asHubError(error: unknown, log: Log): HubError {
  if (error instanceof HubError) return error;
  log.error({ err: error }, `a request failed: ${messageOf(error)}`, 'request');
  return new HubError('internal', 'the hub could not do that, its log says why', { cause: error });
}

function decodeText(chunks: readonly Buffer[]): string | HubError {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    return new HubError('bad-request', 'body: expected UTF-8, got other bytes');
  }
}
