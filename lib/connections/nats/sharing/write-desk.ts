// Writes what other hubs ask for. Each hub numbers its requests: the same one again within a minute is answered as the first was, and
// written once. One that comes late, behind a later one of its hub, does not write over what that one has written.

import type { SchedulerLike } from 'rxjs';
import { HubError, messageOf } from '../../../model/error.ts';
import type { Parameter } from '../../../model/parameter.ts';
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
  readonly isShared: (parameter: Parameter) => boolean;
  /** Whether an epoch is of this desk, which knows what was asked for in it. */
  readonly isOwn: (epoch: string) => boolean;
  readonly scheduler: SchedulerLike;
  /** Tells mirrors what has been written, before its answer: what was acknowledged is on its way to all who may take over. */
  readonly tell: () => void;
}

/** Which request of which run of a hub has written a parameter last. */
interface Writer {
  readonly run: string;
  readonly number: number;
}

export class WriteDesk {
  readonly #context: WriteDeskContext;
  /** By run and number, oldest first. */
  readonly #known = new Map<string, Known>();
  readonly #writers = new WeakMap<Parameter, Writer>();

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
    if (!this.#context.isOwn(request.epoch)) {
      message.reply(JSON.stringify(refuseOther(request)));
      return;
    }
    const nowMs = this.#context.scheduler.now();
    this.#forget(nowMs);
    const key = `${request.hub} ${request.run} ${request.number}`;
    const known = this.#known.get(key);
    const answer = known?.answer ?? JSON.stringify(this.#write(request));
    if (known === undefined) {
      this.#known.set(key, { atMs: nowMs, answer });
      this.#context.tell();
    }
    message.reply(answer);
  }

  #write({ hub: teller, run, number, by, why, hop, items }: WriteRequest): WriteAnswer {
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
          if (!this.#context.isShared(parameter))
            throw new HubError('unknown-parameter', `${address}: its hub does not share it`);
          this.#expectInOrder(parameter, { run, number }, teller);
          const v = hub.mirroring.writeFor(parameter, input, origin, cause, hop);
          this.#writers.set(parameter, { run, number });
          results.push({ v });
        } catch (error) {
          results.push({ code: error instanceof HubError ? error.code : 'internal', message: messageOf(error) });
        }
      }
    });
    return { results };
  }

  /** A fire is a fire also when it is late. Errors: a later request of the hub has written the parameter already. */
  #expectInOrder(parameter: Parameter, { run, number }: Writer, hub: string): void {
    if (parameter.type === 'T') return;
    const last = this.#writers.get(parameter);
    if (last?.run === run && last.number > number)
      throw new HubError(
        'unavailable',
        `${parameter.address}: not written, a later write of hub "${hub}" has come first`,
      );
  }

  #forget(nowMs: number): void {
    for (const [id, { atMs }] of this.#known) {
      if (nowMs - atMs < knownMs && this.#known.size < maxKnown) break;
      this.#known.delete(id);
    }
  }
}

/** An earlier run of this hub may have written what it was asked for, and nobody knows that here. */
function refuseOther({ items }: WriteRequest): WriteAnswer {
  const refuse = ([address]: WriteRequest['items'][number]) => ({
    code: 'unavailable' as const,
    message: `${address}: not confirmed, its hub has joined anew; it may have taken effect`,
  });
  return { results: items.map(refuse) };
}
