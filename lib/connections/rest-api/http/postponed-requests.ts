// Postpones requests that arrive late in a long round of the event loop: the requests are answered when it is their network's turn. If
// another request arrives on a connection in the meantime, the server cuts the connection, so a client that pipelines endlessly loses its
// connection. A client that waits for answers does not lose its connection, because some requests extend the round.
import { encodeText, type HttpRequest, type HttpResponse } from '../../../net/uws.ts';
import { limits } from '../limits/client-limits.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import { networkOf } from '../limits/network.ts';
import { TokenBuckets } from '../limits/rates.ts';
import { atOnceMs, type FairQueue } from '../pacing/fair-queue.ts';
import type { Round } from '../pacing/round.ts';
import { remoteAddressOf } from '../proxies/trusted-proxies.ts';
import { hasRoomForBody, holdFor, noRoomMs } from './answer/send.ts';

/**
 * The additional time for immediate answers after a round has become long, in milliseconds, so that a client that pipelines only a few
 * requests is not cut off. Spent time is restored slowly; otherwise a client that pipelines endlessly, and reconnects after being cut off,
 * would prolong every round by this time.
 */
const longerMs = 75;
const regainedMsPerSecond = 8;
/**
 * The maximum additional time in one round, in milliseconds: clients that start to pipeline at the same time would otherwise use all of the
 * time in a single round.
 */
const longerMsOfRound = 25;
/** The key of the only bucket in `#longer`. */
const everybody = '';
/**
 * The duration above which a round is long, in milliseconds. In a longer round, many answers probably go to the same connection, rather
 * than one answer to each of many connections.
 */
const longMs = 2;
/** The cost of a request, in the unit in which a round counts messages: bytes. */
const requestWork = 1024;
const lengthHeader = encodeText('content-length');

export class PostponedRequests {
  readonly #round: Round;
  readonly #queue: FairQueue;
  readonly #hits: LimitHits;
  readonly #longer = new TokenBuckets(longerMs, regainedMsPerSecond);
  /**
   * How long the round with the number `#allowedRound` may last, in milliseconds. This includes only the additional time that has already
   * been used.
   */
  #allowedMs = atOnceMs;
  #allowedRound = 0;

  constructor(round: Round, queue: FairQueue, hits: LimitHits) {
    this.#round = round;
    this.#queue = queue;
    this.#hits = hits;
  }

  /** Returns whether there is time to answer a request immediately in this round. */
  hasTime(): boolean {
    if (this.#round.hasTime(requestWork, atOnceMs)) return true;
    const { number, workedMs, publishingMs } = this.#round;
    if (this.#allowedRound !== number) this.#allowedMs = atOnceMs;
    this.#allowedRound = number;
    const moreMs = workedMs + publishingMs - this.#allowedMs;
    if (moreMs > 0) {
      this.#longer.take(everybody, moreMs);
      this.#allowedMs += moreMs;
    }
    return this.#allowedMs < atOnceMs + longerMsOfRound && this.#longer.left(everybody) > 0;
  }

  /** Whether requests in this round are probably pipelined. */
  get isRoundLong(): boolean {
    return this.#round.spentMs > longMs;
  }

  /** Keeps a request and answers it later, with `answer`; calls `refuse` instead if there is no memory for the body. */
  put(
    response: HttpResponse,
    request: HttpRequest,
    answer: (request: HttpRequest) => void,
    refuse: (request: HttpRequest) => void,
  ): void {
    const client = remoteAddressOf(response);
    const share = networkOf(client);
    const length = Math.min(Number(request.getHeader(lengthHeader)), limits.bodyBytes.default);
    const isKept = hasRoomForBody(share, length);
    const kept = keepRequest(request);
    const endBody = isKept ? keepBody(response) : () => {};
    let isWaiting = true;
    const advance = () => {
      isWaiting = false;
      response.cork(() => (isKept ? answer : refuse)(kept));
      endBody();
      return false;
    };
    const task = { share, line: undefined, advance };
    const wait = () => this.#queue.add(task);
    const timer = isKept ? wait() : setTimeout(wait, noRoomMs).unref();
    response.onAborted(() => {
      endBody();
      if (!isWaiting) return;
      isWaiting = false;
      if (timer !== undefined) clearTimeout(timer);
      this.#queue.remove(task);
      this.#hits.add('pipelinedRequests', client);
    });
  }
}

// Keeps a request that is answered later: the headers, and the parts of the body that arrive in the meantime.

/** The maximum number of bytes kept of one body, more than any request may have. */
const maxKeptBytes = 2 * limits.bodyBytes.default;

/** Returns a copy of a request that remains valid after the handler of the request returns. */
export function keepRequest(request: HttpRequest): HttpRequest {
  const all: [name: string, value: string][] = [];
  request.forEach((name, value) => void all.push([name, value]));
  const headers = new Map(all.toReversed()); // the server, too, returns the first of several headers with the same name
  const caseSensitiveMethod = request.getCaseSensitiveMethod();
  const method = request.getMethod(); // the server converts the method to lower case in place
  const url = request.getUrl();
  const query = request.getQuery();
  return {
    getHeader: (name: string | ArrayBuffer) => headers.get(typeof name === 'string' ? name : textOf(name)) ?? '',
    getMethod: () => method,
    getCaseSensitiveMethod: () => caseSensitiveMethod,
    getUrl: () => url,
    getQuery: (key?: string) => (key === undefined ? query : (new URLSearchParams(query).get(key) ?? undefined)),
    forEach: (visit: (name: string, value: string) => void) => {
      for (const [name, value] of all) visit(name, value);
    },
  } as HttpRequest;
}

function textOf(name: ArrayBuffer): string {
  return Buffer.from(name).toString('latin1');
}

/** The chunks of bodies that remain valid because they are copies. */
const copies = new WeakSet<ArrayBuffer>();

/**
 * Copies a chunk of a body that is valid only during the call; a chunk that is already a copy is returned unchanged. The new buffer is not
 * zeroed first, because zeroing takes as long as copying.
 */
export function copyOf(chunk: ArrayBuffer): ArrayBuffer {
  if (copies.has(chunk)) return chunk;
  const copy = Buffer.allocUnsafeSlow(chunk.byteLength);
  copy.set(new Uint8Array(chunk));
  return copy.buffer as ArrayBuffer;
}

type Reader = Parameters<HttpResponse['onData']>[0];

/**
 * Keeps the arriving chunks of a body for a reader that registers later. Returns a function that drops the chunks and stops keeping them.
 * This function must also be called if the client disconnects.
 */
export function keepBody(response: HttpResponse): () => void {
  const kept: ArrayBuffer[] = [];
  let keptBytes = 0;
  let isWhole = false;
  let reader: Reader | undefined;
  let isBuffering = true;
  const share = networkOf(remoteAddressOf(response));
  const account = holdFor(response, 'requests', share);
  response.onData((chunk, isLast) => {
    isWhole = isLast;
    if (!isBuffering) {
      reader?.(chunk, isLast);
      return;
    }
    if (response.hasNoRoom) return;
    keptBytes += chunk.byteLength;
    if (keptBytes > maxKeptBytes) response.close();
    else if (!hasRoomForBody(share, chunk.byteLength)) {
      response.hasNoRoom = true;
      kept.length = 0;
      account.set(0);
    } else {
      const copy = copyOf(chunk);
      copies.add(copy);
      kept.push(copy);
      account.set(keptBytes);
    }
  });
  response.onData = (read) => {
    reader = read;
    account.set(0); // the reader of the body has its own account
    for (const [index, chunk] of kept.entries()) read(chunk, isWhole && index === kept.length - 1);
    return response;
  };
  return () => {
    isBuffering = false;
    kept.length = 0;
    account.set(0);
  };
}
