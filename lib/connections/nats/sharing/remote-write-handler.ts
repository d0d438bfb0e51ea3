// Writes what other hubs ask for. Each hub numbers its requests. A request that comes again within a minute gets the same answer, and
// is written once. A request that a later one of its hub has overtaken does not write over what the later one has written. A request
// that comes after its hub has stopped waiting for the answer writes nothing.

import type { SchedulerLike } from 'rxjs';
import { HubError, messageOf } from '../../../model/error.ts';
import type { Parameter } from '../../../model/parameter.ts';
import { cutText } from '../../../model/printable.ts';
import type { HubPort } from '../../hub-port.ts';
import { askerOf } from '../link/subjects.ts';
import type { Message } from '../link/transport.ts';
import { isHubName, readLinks, readOrigin } from '../wire/causes.ts';
import {
  read,
  readInput,
  type WireResult,
  type WriteAnswer,
  type WriteRequest,
  writeRequest,
  writeTimeoutMs,
} from '../wire/domain-messages.ts';

/** How long a request is known, and how many are: beyond, the oldest are forgotten. */
const knownMs = 60_000;
const maxKnown = 100_000;
/** No clock runs so far ahead of that of the owner which it was told. */
const strangeMs = 1000;
/** How long their answers are together; beyond, the oldest are forgotten, and who asks again is told that it may have taken effect. */
export const maxAnswerLength = 32 * 1024 * 1024;

/** Of a longer sentence the beginning is told. */
const maxSentence = 999;

interface Known {
  readonly atMs: number;
  /** undefined: it was too much together with others. */
  answer: string | undefined;
  /** Whether it may be told; undefined: it may. */
  readonly confirmed: Promise<boolean> | undefined;
}

export interface RemoteWriteContext {
  readonly hub: Pick<HubPort, 'find' | 'turn' | 'mirroring'>;
  readonly isShared: (parameter: Parameter) => boolean;
  /** Whether an epoch is of this desk, which knows what was asked for in it. */
  readonly isOwn: (epoch: string) => boolean;
  readonly scheduler: SchedulerLike;
  /** Tells mirrors what has been written, before its answer: what was acknowledged is on its way to all who may take over. */
  readonly notify: () => void;
  /** As `Ownership.confirm`. */
  readonly confirm: (() => Promise<boolean>) | undefined;
}

/** Which request of which run of a hub has written a parameter last. */
interface Writer {
  readonly hub: string;
  readonly run: string;
  readonly number: number;
}

export class RemoteWriteHandler {
  readonly #context: RemoteWriteContext;
  /** By run and number, oldest first. */
  readonly #known = new Map<string, Known>();
  /** Those whose answers are known, oldest first, and how long these are together. */
  readonly #answered = new Set<Known>();
  #answerLength = 0;
  readonly #writers = new WeakMap<Parameter, Writer>();

  constructor(context: RemoteWriteContext) {
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
      message.reply(JSON.stringify(lose(request, 'its hub has joined anew')));
      return;
    }
    const nowMs = this.#context.scheduler.now();
    this.#forget(nowMs);
    const hub = askerOf(message.subject) ?? request.hub;
    if (!isHubName(hub)) return;
    const key = `${hub} ${request.run} ${request.number}`;
    let known = this.#known.get(key);
    const waitedMs = nowMs - request.asked;
    if (known === undefined && (waitedMs > writeTimeoutMs || waitedMs < -strangeMs)) {
      message.reply(JSON.stringify(refuse(request, 'not written, it came too late')));
      return;
    }
    known ??= this.#answer(key, nowMs, request, hub);
    const reply = () =>
      message.reply(known.answer ?? JSON.stringify(lose(request, 'its hub knows the answer no longer')));
    if (known.confirmed === undefined) reply();
    else
      void known.confirmed.then((isConfirmed) => {
        if (isConfirmed) reply();
        else message.reply(JSON.stringify(lose(request, 'its hub may run it no longer')));
      });
  }

  #answer(key: string, atMs: number, request: WriteRequest, sender: string): Known {
    const answer = JSON.stringify(this.#write(request, sender));
    const known = { atMs, answer, confirmed: this.#context.confirm?.() };
    this.#known.set(key, known);
    this.#answered.add(known);
    this.#answerLength += answer.length;
    this.#context.notify();
    return known;
  }

  /** Whoever the request says has asked for it, `teller` is the hub that has sent it. */
  #write({ run, number, by, why, hop, items }: WriteRequest, sender: string): WriteAnswer {
    const { hub } = this.#context;
    const origin = readOrigin(by, sender);
    const cause = readLinks(why, sender, (address) => hub.find(address));
    const results: WireResult[] = [];
    hub.turn(() => {
      for (const item of items) {
        const [address] = item;
        try {
          const parameter = hub.find(address);
          if (parameter === undefined)
            throw new HubError('unknown-parameter', `${address}: there is no parameter of this address on its hub`);
          if (parameter.remote !== undefined)
            throw new HubError('unavailable', `${address}: the hub that was asked does not own it any more`);
          if (!this.#context.isShared(parameter))
            throw new HubError('unknown-parameter', `${address}: its hub does not share it`);
          this.#expectInOrder(parameter, { hub: sender, run, number });
          const v = hub.mirroring.writeFor(parameter, readInput(item), origin, cause, hop);
          this.#writers.set(parameter, { hub: sender, run, number });
          results.push({ v });
        } catch (error) {
          const message = cutText(messageOf(error), maxSentence);
          results.push({ code: error instanceof HubError ? error.code : 'internal', message });
        }
      }
    });
    return { results };
  }

  /** A fire is a fire also when it is late. Errors: a later request of the hub has written the parameter already. */
  #expectInOrder(parameter: Parameter, { hub, run, number }: Writer): void {
    if (parameter.type === 'T') return;
    const last = this.#writers.get(parameter);
    if (last?.hub === hub && last.run === run && last.number > number)
      throw new HubError(
        'unavailable',
        `${parameter.address}: not written, a later write of hub "${hub}" has come first`,
      );
  }

  #forget(nowMs: number): void {
    for (const [id, known] of this.#known) {
      if (nowMs - known.atMs < knownMs && this.#known.size < maxKnown) break;
      this.#known.delete(id);
      this.#forgetAnswer(known);
    }
    for (const known of this.#answered) {
      if (this.#answerLength <= maxAnswerLength) break;
      this.#forgetAnswer(known);
    }
  }

  #forgetAnswer(known: Known): void {
    if (!this.#answered.delete(known)) return;
    this.#answerLength -= known.answer!.length;
    known.answer = undefined;
  }
}

/** What was asked for may have been written, and nobody knows that any more. */
function lose(request: WriteRequest, why: string): WriteAnswer {
  return refuse(request, `not confirmed, ${why}; it may have taken effect`);
}

function refuse({ items }: WriteRequest, why: string): WriteAnswer {
  return { results: items.map(([address]) => ({ code: 'unavailable', message: `${address}: ${why}` })) };
}
