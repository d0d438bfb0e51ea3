// Sends a long body in parts, as fast as the client can read, in slices. No part is copied into the server.

import type { Account } from '../../../model/held-bytes.ts';
import type { Task } from '../pacing/fair-queue.ts';
import { holdFor } from './answer/send.ts';
import type { Paced } from './body.ts';
import type { Exchange } from './exchange.ts';

/**
 * Returns the part of a body that begins after `sentBytes`, which must not be empty; undefined if the rest of the body is missing, in which
 * case the connection is cut.
 */
export type NextPart = (sentBytes: number) => Uint8Array | undefined | Promise<Uint8Array | undefined>;

export interface LongBody {
  readonly totalBytes: number;
  /** The number of bytes that are charged to the client until the body is sent. */
  readonly heldBytes: number;
  readonly next: NextPart;
}

/**
 * Sends a body whose headers have already been sent. Resolves when the body is complete or the client has disconnected. Errors: any error
 * from `next`.
 */
export function sendParts(exchange: Exchange, { queue, share }: Paced, body: LongBody): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const parts = new Parts(exchange, { queue, share }, body, { resolve, reject });
  queue.add(parts); // not done immediately, because the order of answers must not depend on how fast the client reads
  return promise;
}

interface Settle {
  resolve(): void;
  reject(error: unknown): void;
}

class Parts implements Task {
  readonly share: string;
  readonly line = undefined;
  readonly #exchange: Exchange;
  readonly #queue: Paced['queue'];
  readonly #body: LongBody;
  readonly #settle: Settle;
  /** The part of the current part that has not been sent yet. */
  #rest: Uint8Array = new Uint8Array(0);
  #sent = 0;
  readonly #account: Account | undefined;

  constructor(exchange: Exchange, { queue, share }: Paced, body: LongBody, settle: Settle) {
    this.share = share;
    this.#exchange = exchange;
    this.#queue = queue;
    this.#body = body;
    this.#settle = {
      resolve: () => {
        this.#account?.set(0);
        settle.resolve();
      },
      reject: (error) => {
        this.#account?.set(0);
        settle.reject(error);
      },
    };
    if (exchange.isAborted) return;
    this.#account = holdFor(exchange.response, 'answers', share);
    this.#account.set(body.heldBytes);
  }

  advance(endMs: number): boolean {
    try {
      do if (!this.#step()) return false;
      while (performance.now() < endMs);
      return true;
    } catch (error) {
      this.#settle.reject(error);
      return false;
    }
  }

  /** Fetches a part, or sends as much of it as the client accepts; returns whether more can be done immediately. */
  #step(): boolean {
    if (this.#exchange.isAborted || this.#sent >= this.#body.totalBytes) {
      this.#settle.resolve();
      return false;
    }
    if (this.#rest.length > 0) return this.#send();
    const part = this.#body.next(this.#sent);
    if (!(part instanceof Promise)) return this.#take(part);
    part.then((late) => {
      if (this.#take(late)) this.#queue.do(this);
    }, this.#settle.reject);
    return false;
  }

  #take(part: Uint8Array | undefined): boolean {
    if (part !== undefined) this.#rest = part;
    else {
      this.#exchange.reply((response) => response.close());
      this.#settle.resolve();
    }
    return part !== undefined;
  }

  #send(): boolean {
    const { response } = this.#exchange;
    const before = response.getWriteOffset();
    let isTaken = true;
    let isComplete = true;
    this.#exchange.reply(() => {
      [isTaken, isComplete] = response.tryEnd(this.#rest, this.#body.totalBytes);
    });
    const taken =
      isTaken || isComplete || this.#exchange.isAborted ? this.#rest.length : response.getWriteOffset() - before;
    this.#sent += taken;
    this.#rest = this.#rest.subarray(taken);
    if (isTaken || isComplete || this.#exchange.isAborted) return true;
    void this.#exchange.writable().then(() => this.#queue.do(this));
    return false;
  }
}
