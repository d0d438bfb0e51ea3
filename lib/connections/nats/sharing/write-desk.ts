// Writes what other hubs ask for. Each request has an ID: the same one again within a minute is answered as the first was, and
// written once.

import type { SchedulerLike } from 'rxjs';
import { HubError, messageOf } from '../../../model/error.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Message } from '../link/transport.ts';
import { readLinks, readOrigin } from '../wire/causes.ts';
import { read, type WriteAnswer, type WriteRequest, writeRequest } from '../wire/messages.ts';

/** How long a request is known, and how many are: beyond, the oldest are forgotten. */
export const knownMs = 60_000;
export const maxKnown = 100_000;

interface Known {
  readonly atMs: number;
  readonly answer: string;
}

export interface WriteDeskContext {
  readonly hub: Pick<HubPort, 'find' | 'turn' | 'mirroring'>;
  readonly scheduler: SchedulerLike;
  /** Tells mirrors what has been written, before its answer: what was acknowledged is on its way to all who may take over. */
  readonly tell: () => void;
}

export class WriteDesk {
  readonly #context: WriteDeskContext;
  /** By ID, oldest first. */
  readonly #known = new Map<string, Known>();

  constructor(context: WriteDeskContext) {
    this.#context = context;
  }

  take(message: Message): void {
    let request: WriteRequest;
    try {
      request = read(writeRequest, message.data);
    } catch {
      return; // who has sent it hears nothing, and tells that
    }
    const nowMs = this.#context.scheduler.now();
    this.#forget(nowMs);
    const key = `${request.hub} ${request.id}`;
    const known = this.#known.get(key);
    const answer = known?.answer ?? JSON.stringify(this.#write(request));
    if (known === undefined) {
      this.#known.set(key, { atMs: nowMs, answer });
      this.#context.tell();
    }
    message.reply(answer);
  }

  #write({ hub: teller, by, why, hop, items }: WriteRequest): WriteAnswer {
    const { hub } = this.#context;
    const origin = readOrigin(by as [(typeof by)[0], string], teller);
    const cause = readLinks(why as never, teller, (address) => hub.find(address));
    const results: WriteAnswer['results'] = [];
    hub.turn(() => {
      for (const [address, input] of items) {
        try {
          const parameter = hub.find(address);
          if (parameter === undefined)
            throw new HubError('unknown-parameter', `${address}: there is no parameter of this address on its hub`);
          if (parameter.remote !== undefined)
            throw new HubError('unavailable', `${address}: the hub that was asked does not own it any more`);
          results.push({ v: hub.mirroring.writeFor(parameter, input, origin, cause, hop) });
        } catch (error) {
          results.push({ code: error instanceof HubError ? error.code : 'internal', message: messageOf(error) });
        }
      }
    });
    return { results };
  }

  #forget(nowMs: number): void {
    for (const [id, { atMs }] of this.#known) {
      if (nowMs - atMs < knownMs && this.#known.size < maxKnown) break;
      this.#known.delete(id);
    }
  }
}
