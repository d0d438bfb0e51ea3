// One HTTP request and its answer, alive over awaits: what uWebSockets.js lends for the call only is read up front, and
// nothing is sent once the client has gone.

import { HubError, messageOf } from '../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../net/uws.ts';
import { replyError } from './reply.ts';

/** Bodies of requests are at most this long. */
export const maxBodyBytes = 64 * 1024;

export interface Exchange {
  readonly response: HttpResponse;
  readonly isAborted: boolean;
  /** Sends in one piece, unless the client has gone. */
  reply(send: (response: HttpResponse) => void): void;
  /** Resolves when the client can take more, or has gone. */
  writable(): Promise<void>;
}

/** Keeps a response for later; call it before the handler returns. */
export function keepResponse(response: HttpResponse): Exchange {
  let isAborted = false;
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
      if (!isAborted) response.cork(() => send(response));
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
  const tooLarge = () => new HubError('body-too-large', `body: expected at most ${maxBodyBytes} bytes, got more`);
  const chunks: Buffer[] = [];
  let bodyBytes = 0;
  let isDone = false;
  const finish = (body: string | HubError) => {
    isDone = true;
    chunks.length = 0;
    done(body);
  };
  if (Number(request.getHeader('content-length')) > maxBodyBytes) {
    finish(tooLarge());
    return;
  }
  exchange.response.onData((chunk, isLast) => {
    if (isDone) return;
    bodyBytes += chunk.byteLength;
    if (bodyBytes > maxBodyBytes) return finish(tooLarge());
    chunks.push(Buffer.from(Buffer.from(chunk))); // copied: the library takes the chunk back
    if (!isLast) return;
    try {
      finish(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
    } catch {
      finish(new HubError('bad-request', 'body: expected UTF-8, got other bytes'));
    }
  });
}

/** Any error as one of the catalogue. */
export function asHubError(error: unknown): HubError {
  return error instanceof HubError ? error : new HubError('bad-request', messageOf(error), { cause: error });
}

/** Answers an exchange with an error. */
export function replyWithError(exchange: Exchange, error: HubError, asJson: boolean): void {
  exchange.reply((response) => replyError(response, error, asJson));
}
