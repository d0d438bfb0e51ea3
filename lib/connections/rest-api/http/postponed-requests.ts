// Postpones requests that come when a round of the event loop has lasted long: they are answered when it is the turn of the network that
// they come from. The server cuts a connection that sends another request meanwhile, so whoever pipelines without end loses its
// connection. Who waits for answers does not: for some requests the round goes on.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import { networkOf } from '../limits/network.ts';
import { TokenBuckets } from '../limits/rates.ts';
import { atOnceMs, type FairQueue } from '../pacing/fair-queue.ts';
import type { Round } from '../pacing/round.ts';
import { remoteAddressOf } from '../proxies/remote-address.ts';
import { keepBody, keepRequest } from './kept-request.ts';

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

  /** Keeps a request, which is answered later. */
  put(response: HttpResponse, request: HttpRequest, answer: (request: HttpRequest) => void): void {
    const kept = keepRequest(request);
    const client = remoteAddressOf(response);
    const endBody = keepBody(response);
    let isWaiting = true;
    const advance = () => {
      isWaiting = false;
      response.cork(() => answer(kept));
      endBody();
      return false;
    };
    const task = { share: networkOf(client), line: undefined, advance };
    response.onAborted(() => {
      endBody();
      if (!isWaiting) return;
      this.#queue.remove(task);
      this.#hits.add('pipelinedRequests', client);
    });
    this.#queue.add(task);
  }
}
