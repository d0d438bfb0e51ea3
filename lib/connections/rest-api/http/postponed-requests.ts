// Postpones requests that come when a round of the event loop has lasted long: they are answered when it is the turn of the network that
// they come from. The server cuts a connection that sends another request meanwhile, so whoever pipelines without end loses its
// connection. Who waits for answers does not: for some requests the round goes on.
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
 * When the round has lasted long, requests are still answered at once for so long: a client that pipelines no more is not cut. It comes back
 * slowly: else whoever pipelines without end, and comes again when it is cut, would make each round as long.
 */
const longerMs = 75;
const comesBackMsPerSecond = 8;
/** So much of it is for one round: else those who come at once to pipeline would take all of it in one. */
const longerMsOfRound = 25;
/** Whose longer time it is. */
const everybody = '';
/** In a round that lasts longer, many answers are for the same connection, rather than one for each of many. */
const longMs = 2;
/** A request costs about as much as so many bytes of messages. */
const requestWork = 1024;
const lengthHeader = encodeText('content-length');

export class PostponedRequests {
  readonly #round: Round;
  readonly #queue: FairQueue;
  readonly #hits: LimitHits;
  readonly #longer = new TokenBuckets(longerMs, comesBackMsPerSecond);
  /** How long the round may last that has a number, without any of the longer time beyond what has been taken. */
  #allowedMs = atOnceMs;
  #allowedRound = 0;

  constructor(round: Round, queue: FairQueue, hits: LimitHits) {
    this.#round = round;
    this.#queue = queue;
    this.#hits = hits;
  }

  /** Whether a request that has come may be answered at once. */
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

  /** Whether requests of this round are probably pipelined. */
  get isRoundLong(): boolean {
    return this.#round.spentMs > longMs;
  }

  /** Keeps a request, which is answered later; or `refuse`d, if there is no room for its body. */
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

// Keeps a request that is answered later than it came: its headers, and what comes of its body meanwhile.

/** How much of a body is kept. It is more than any request may have. */
const maxKeptBytes = 2 * limits.bodyBytes.default;

/** Keeps what the server lends for the call of a handler only. */
export function keepRequest(request: HttpRequest): HttpRequest {
  const all: [name: string, value: string][] = [];
  request.forEach((name, value) => void all.push([name, value]));
  const headers = new Map(all.toReversed()); // of several with the same name the server tells the first one as well
  const caseSensitiveMethod = request.getCaseSensitiveMethod();
  const method = request.getMethod(); // the server writes it in lower case in its place
  const url = request.getUrl();
  const query = request.getQuery();
  return {
    getHeader: (name: string | ArrayBuffer) => headers.get(typeof name === 'string' ? name : textOf(name)) ?? '',
    getMethod: () => method,
    getCaseSensitiveMethod: () => caseSensitiveMethod,
    getUrl: () => url,
    getQuery: () => query,
    forEach: (visit: (name: string, value: string) => void) => {
      for (const [name, value] of all) visit(name, value);
    },
  } as HttpRequest;
}

function textOf(name: ArrayBuffer): string {
  return Buffer.from(name).toString('latin1');
}

/** The chunks that the server does not take back, since they are copies. */
const copies = new WeakSet<ArrayBuffer>();

/** A copy of a chunk, which the server takes back, or the chunk if it is one. It is not filled with zeros first: that takes as long as the copy. */
export function copyOf(chunk: ArrayBuffer): ArrayBuffer {
  if (copies.has(chunk)) return chunk;
  const copy = Buffer.allocUnsafeSlow(chunk.byteLength);
  copy.set(new Uint8Array(chunk));
  return copy.buffer as ArrayBuffer;
}

type Reader = Parameters<HttpResponse['onData']>[0];

/**
 * Keeps what comes of a body; returns a function that ends this, to be called also when the client has gone. Whoever asks for the body before
 * that gets all of it.
 */
export function keepBody(response: HttpResponse): () => void {
  const kept: ArrayBuffer[] = [];
  let keptBytes = 0;
  let isWhole = false;
  let reader: Reader | undefined;
  let isKeeping = true;
  const share = networkOf(remoteAddressOf(response));
  const account = holdFor(response, 'requests', share);
  response.onData((chunk, isLast) => {
    isWhole = isLast;
    if (!isKeeping) {
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
    account.set(0); // whoever reads has an account of its own
    for (const [index, chunk] of kept.entries()) read(chunk, isWhole && index === kept.length - 1);
    return response;
  };
  return () => {
    isKeeping = false;
    kept.length = 0;
    account.set(0);
  };
}
