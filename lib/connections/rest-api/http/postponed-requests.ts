// Postpones requests that come when a round of the event loop has lasted long: they are answered between rounds. The server cuts a
// connection that sends another request meanwhile, so whoever pipelines without end loses its connection. Who waits for answers does not:
// for as many bytes as each connection may have under way the round goes on.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import type { Pace } from '../pacing/pace.ts';
import { remoteAddressOf } from '../proxies/remote-address.ts';
import { keepBody, keepRequest } from './kept-request.ts';

/** For so long, within one round, requests are answered as they come. */
const roundMs = 10;
/** After that, this many bytes of requests are still answered, unless they take long: a client that pipelines no more is not cut. */
const surplusBytes = 65_536;
/** Each open connection adds this many: clients that wait for answers have no more under way. */
const bytesEach = 16_384;
/** How long that may take: a hub that has just started needs several times as long for a request as later on. */
const longestMs = 80;
/** In a round that lasts longer, many answers are for the same connection, rather than one for each of many. */
const longMs = 4;
/** A request costs about as much as so many bytes of messages. */
const requestWork = 1024;
export class PostponedRequests {
  readonly #pace: Pace;
  readonly #hits: LimitHits;
  /** How many connections may send requests. */
  readonly #connections: () => number;
  /** How many bytes of requests were answered after the time of the round was over. */
  #surplus = 0;
  /** There are at most as many as there are connections. */
  readonly #waiting = new Set<() => void>();

  constructor(pace: Pace, hits: LimitHits, connections: () => number) {
    this.#pace = pace;
    this.#hits = hits;
    this.#connections = connections;
    pace.add((endMs) => this.#answer(endMs));
  }

  /** Whether a request that has come may be answered at once. */
  hasTime(request: HttpRequest): boolean {
    if (this.#pace.hasTime(requestWork, roundMs)) {
      this.#surplus = 0;
      return true;
    }
    this.#surplus += bytesOf(request);
    return this.#surplus <= surplusBytes + this.#connections() * bytesEach && this.#pace.workedMs < longestMs;
  }

  /** Whether requests of this round are probably pipelined. */
  get isRoundLong(): boolean {
    return this.#pace.spentMs > longMs;
  }

  /** Keeps a request, which is answered later. */
  put(response: HttpResponse, request: HttpRequest, answer: (request: HttpRequest) => void): void {
    const kept = keepRequest(request);
    const client = remoteAddressOf(response);
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

/** How long a request is without its body: `GET /path?query HTTP/1.1`, and a line for each header. */
function bytesOf(request: HttpRequest): number {
  const query = request.getQuery();
  let bytes = `${request.getMethod()} ${request.getUrl()} HTTP/1.1\r\n\r\n`.length + (query ? query.length + 1 : 0);
  request.forEach((name, value) => {
    bytes += `${name}: ${value}\r\n`.length;
  });
  return bytes;
}
