// The body of a POST request: its type, its bytes, and its JSON.
import { HubError } from '../../../model/error.ts';
import type { Account } from '../../../model/held-bytes.ts';
import { readJsonObject } from '../../../model/json-object.ts';
import type { HttpRequest } from '../../../net/uws.ts';
import { maxBodyBytes } from '../../../wire/limits.ts';
import { limits } from '../limits/client-limits.ts';
import { LimitError, type LimitHits } from '../limits/limit-hits.ts';
import type { FairQueue } from '../pacing/fair-queue.ts';
import { remoteAddressOf } from '../proxies/trusted-proxies.ts';
import { letSend } from './answer/expect.ts';
import { hasRoomForBody, holdFor, noRoomForBody, noRoomMs, servedHits, serveFor } from './answer/send.ts';
import type { Exchange } from './exchange.ts';
import { copyOf } from './postponed-requests.ts';

/** Returns the media type of a body in lower case, or an empty string if the charset is given and not UTF-8. */
export function bodyTypeOf(request: HttpRequest): string {
  const [type = '', ...parameters] = request
    .getHeader('content-type')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length) ?? 'utf-8';
  return /^"?utf-?8"?$/.test(charset) ? type : '';
}

/** Returns the error `body-type`, which quotes the actual `Content-Type`. */
export function wrongBodyType(request: HttpRequest, expected: string): HubError {
  const actual = request.getHeader('content-type');
  return new HubError('body-type', `Content-Type: expected ${expected} in UTF-8, got "${actual}"`);
}

/** The share to which work is charged, and the queue that assigns slices to the work. */
export interface Paced {
  readonly share: string;
  readonly queue: Pick<FairQueue, 'do' | 'add'>;
}

/**
 * Reads a whole body and calls `done` once, unless the client has disconnected, with the content as a string or with an error:
 * `body-too-large`, or `bad-request` for invalid UTF-8. For a complete body, `done` runs in a slice.
 */
export function readBody(
  exchange: Exchange,
  request: HttpRequest,
  paced: Paced,
  done: (body: string | HubError) => void,
): void {
  readBytes(exchange, request, paced, (body) => done(body instanceof HubError ? body : decodeText(body)));
}

/** Does the same as `readBody`, but passes the bytes of the body to `done`. */
export function readBytes(
  exchange: Exchange,
  request: HttpRequest,
  { share, queue }: Paced,
  done: (body: Buffer | HubError) => void,
): void {
  const { response } = exchange;
  const expected = `body: expected at most ${maxBodyBytes} bytes, got more`;
  const tooLarge = () => new LimitError('bodyBytes', 'body-too-large', expected);
  const length = request.getHeader('content-length');
  const isChunked = request.getHeader('transfer-encoding') !== '';
  if (Number(length) > maxBodyBytes) {
    done(tooLarge());
    return;
  }
  const chunks: Buffer[] = [];
  const hits = servedHits();
  let bodyBytes = 0;
  let isWhole = false;
  let isWatched = false;
  let isRefused = false;
  /** The account for the bytes of a body that does not arrive in one piece. */
  let account: Account | undefined;
  const watch = () => {
    isWatched = true;
    account = holdFor(response, 'requests', share);
    countLateBody(exchange, hits, () => {
      account?.set(0);
      return !isWhole && !isRefused && bodyBytes <= maxBodyBytes;
    });
  };
  const take = (advance: () => void) => ({
    ...{ share, line: undefined },
    advance() {
      if (!exchange.isAborted) advance();
      return false;
    },
  });
  const drop = () => {
    isRefused = true;
    chunks.length = 0;
    account?.set(0);
  };
  const refuse = () => {
    drop();
    const task = take(() => {
      serveFor(hits);
      done(noRoomForBody());
    });
    setTimeout(() => queue.add(task), noRoomMs).unref();
  };
  const finish = () =>
    queue.do(
      take(() => {
        account?.set(0);
        done(Buffer.concat(chunks));
      }),
    );
  letSend(response);
  if (response.hasNoRoom) {
    refuse();
    return;
  }
  if (length === '') watch(); // with a chunked body, nothing may follow the headers; otherwise a piece follows, possibly empty
  response.onData((chunk, isLast) => {
    if (isRefused) return;
    bodyBytes += chunk.byteLength;
    if (bodyBytes > maxBodyBytes) {
      drop();
      done(tooLarge());
      return;
    }
    if (!isLast && !hasRoomForBody(share, chunk.byteLength)) {
      refuse();
      return;
    }
    chunks.push(Buffer.from(copyOf(chunk)));
    isWhole = isLast;
    account?.add(chunk.byteLength);
    // The library mistakes a trailer for a malformed request and ends the connection. By then, nothing must have been executed.
    if (isLast && isChunked) setImmediate(finish);
    else if (isLast) finish();
    else if (!isWatched) {
      watch();
      account!.add(bodyBytes);
    }
  });
}

/** Parses the JSON object in a body; `keys` names the required keys in errors. Errors: `bad-request`. */
export function readObject(text: string, keys: string): object {
  return readJsonObject(text, { where: 'body', object: `an object with ${keys}` });
}

function decodeText(body: Buffer): string | HubError {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return new HubError('bad-request', 'body: expected UTF-8, got invalid bytes');
  }
}

// Counts bodies that are not complete in time. uWebSockets.js cuts the connection without giving a reason, so the hub infers the reason
// from the time.

/** The time after which a client that disconnects counts as late, in milliseconds. The library cuts connections after 8 to 12 s. */
const lateMs = limits.bodyMs.default - 3000;

/**
 * Counts a hit of `bodyMs` if the client's connection ends late, while the hub is waiting for the rest of the body. Call this as soon as
 * the headers have arrived.
 */
function countLateBody(exchange: Exchange, hits: LimitHits | undefined, isAwaited: () => boolean): void {
  const sinceMs = performance.now();
  const client = remoteAddressOf(exchange.response); // the library does not report the address of a client that has disconnected
  exchange.whenAborted(() => {
    if (isAwaited() && performance.now() - sinceMs >= lateMs) hits?.add('bodyMs', client);
  });
}
