// Requests that come when a round of the event loop has gone on for long: they are answered between rounds. The server cuts
// a connection that sends another request before; so who pipelines more than a round has time for loses its connection.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import { limits } from '../limits/limits.ts';
import { remoteAddress } from '../limits/remote-address.ts';
import type { Pace } from '../pacing/pace.ts';

/** How long requests are answered as they come, within one round. */
const roundMs = 20;
/**
 * So many more are answered after that, which is what fits into 64 KiB, unless they take long: who pipelines no more and reads
 * is not cut for what others do.
 */
const surplusRequests = 2048;
const longestMs = 80;
/** From here on a round has many answers for the same connection, rather than one for each of many. */
const longMs = 4;
/** A request costs about as much as so many bytes of messages. */
const requestWork = 1024;
/** How much of a body is kept until its request is answered: more than any request may have. */
const maxKeptBytes = 2 * limits.bodyBytes.default;

export class PostponedRequests {
  readonly #pace: Pace;
  readonly #hits: LimitHits;
  /** How many requests were answered although the time of the round was over. */
  #surplus = 0;
  /** Bounded by the number of connections. */
  readonly #waiting = new Set<() => void>();

  constructor(pace: Pace, hits: LimitHits) {
    this.#pace = pace;
    this.#hits = hits;
    pace.add((endMs) => this.#answer(endMs));
  }

  /** Whether a request that has come may be answered at once. */
  hasTime(): boolean {
    if (this.#pace.hasTime(requestWork, roundMs)) {
      this.#surplus = 0;
      return true;
    }
    return this.#surplus++ < surplusRequests && this.#pace.hasTime(0, longestMs);
  }

  /** Whether requests of this round are probably pipelined. */
  get isRoundLong(): boolean {
    return this.#pace.spentMs > longMs;
  }

  /** Has a request answered later. */
  put(response: HttpResponse, request: HttpRequest, answer: (request: HttpRequest) => void): void {
    const kept = keepRequest(request);
    const client = remoteAddress(response);
    const endBody = keepBody(response);
    const act = () => {
      this.#waiting.delete(act);
      response.cork(() => answer(kept));
      endBody();
    };
    response.onAborted(() => {
      if (this.#waiting.delete(act)) this.#hits.add('pipelinedRequests', client);
    });
    this.#waiting.add(act);
    this.#pace.request();
  }

  #answer(endMs: number): boolean {
    for (const act of this.#waiting) {
      act();
      if (performance.now() >= endMs) break;
    }
    return this.#waiting.size > 0;
  }
}

/** What of a request is lent for the call of its handler only, kept. */
function keepRequest(request: HttpRequest): HttpRequest {
  const headers = new Map<string, string>();
  request.forEach((name, value) => void headers.set(name, value));
  const method = request.getMethod();
  const url = request.getUrl();
  const query = request.getQuery();
  return {
    getHeader: (name: string | ArrayBuffer) => headers.get(typeof name === 'string' ? name : textOf(name)) ?? '',
    getMethod: () => method,
    getUrl: () => url,
    getQuery: () => query,
  } as HttpRequest;
}

function textOf(name: ArrayBuffer): string {
  return Buffer.from(name).toString('latin1');
}

type Listener = Parameters<HttpResponse['onData']>[0];

/** Keeps what comes of a body; returns what ends that: whoever listens until then is handed all of it. */
function keepBody(response: HttpResponse): () => void {
  const kept: ArrayBuffer[] = [];
  let keptBytes = 0;
  let isWhole = false;
  let listener: Listener | undefined;
  let isKeeping = true;
  response.onData((chunk, isLast) => {
    isWhole = isLast;
    if (!isKeeping) {
      listener?.(chunk, isLast);
      return;
    }
    keptBytes += chunk.byteLength;
    if (keptBytes > maxKeptBytes) response.close();
    else kept.push(chunk.slice(0));
  });
  response.onData = (listen) => {
    listener = listen;
    for (const [index, chunk] of kept.entries()) listen(chunk, isWhole && index === kept.length - 1);
    return response;
  };
  return () => {
    isKeeping = false;
    kept.length = 0;
  };
}
