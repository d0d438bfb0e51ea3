// Performs writes that other hubs request. Each hub numbers its requests. A request that is repeated within a minute gets the same answer
// and is executed only once. If a request was overtaken by a later request from the same hub, it does not overwrite the result of the later
// request. A request that arrives after its hub has stopped waiting has no effect.

import type { SchedulerLike } from 'rxjs';
import { HubError, messageOf } from '../../../model/error.ts';
import type { Parameter } from '../../../model/parameter.ts';
import { cutText } from '../../../model/printable.ts';
import type { HubPort } from '../../hub-port.ts';
import { requesterOf } from '../link/subjects.ts';
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

/**
 * How long a request is remembered, in milliseconds, and the maximum number of remembered requests. Beyond this number, the oldest requests
 * are forgotten.
 */
const knownMs = 60_000;
const maxKnown = 100_000;
/** The maximum time by which the sender's estimate of the owner's clock may be ahead, in milliseconds. */
const implausibleMs = 1000;
/**
 * The maximum total length of the stored answers, in characters. Beyond this length, the oldest answers are dropped. If such a request is
 * repeated, the answer states that the request may have taken effect.
 */
export const maxAnswerLength = 32 * 1024 * 1024;

/** The length to which error messages are truncated, in characters. */
const maxSentence = 999;

interface Known {
  readonly atMs: number;
  /** The answer; undefined if it was dropped because the total length of all answers was too large. */
  answer: string | undefined;
  /** Resolves to whether the answer may be sent. Undefined if it may be sent immediately. */
  readonly confirmed: Promise<boolean> | undefined;
}

export interface RemoteWriteContext {
  readonly hub: Pick<HubPort, 'find' | 'turn' | 'mirroring'>;
  readonly isShared: (parameter: Parameter) => boolean;
  /** Returns whether this handler remembers the requests of an epoch. */
  readonly isOwn: (epoch: string) => boolean;
  readonly scheduler: SchedulerLike;
  /**
   * Sends the written values to mirrors before the answer. Therefore, a write that is acknowledged has already been sent to the standby.
   */
  readonly notify: () => void;
  /** See `Ownership.confirm`. */
  readonly confirm: (() => Promise<boolean>) | undefined;
}

/** The last request that has written a parameter. */
interface Writer {
  readonly hub: string;
  readonly run: string;
  readonly number: number;
}

export class RemoteWriteHandler {
  readonly #context: RemoteWriteContext;
  /** The answered requests, keyed by run and request number, oldest first. */
  readonly #known = new Map<string, Known>();
  /** The requests whose answers are stored, oldest first, and the total length of these answers in characters. */
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
      return; // the sender gets no answer and reports this
    }
    if (!this.#context.isOwn(request.epoch)) {
      message.reply(JSON.stringify(answerUnknown(request, 'its hub has rejoined the domain')));
      return;
    }
    const nowMs = this.#context.scheduler.now();
    this.#forget(nowMs);
    const hub = requesterOf(message.subject) ?? request.hub;
    if (!isHubName(hub)) return;
    const key = `${hub} ${request.run} ${request.number}`;
    let known = this.#known.get(key);
    const waitedMs = nowMs - request.asked;
    if (known === undefined && (waitedMs > writeTimeoutMs || waitedMs < -implausibleMs)) {
      message.reply(JSON.stringify(refuse(request, 'not written: the request arrived too late')));
      return;
    }
    known ??= this.#answer(key, nowMs, request, hub);
    const reply = () =>
      message.reply(known.answer ?? JSON.stringify(answerUnknown(request, 'its hub no longer knows the answer')));
    if (known.confirmed === undefined) reply();
    else
      void known.confirmed.then((isConfirmed) => {
        if (isConfirmed) reply();
        else message.reply(JSON.stringify(answerUnknown(request, 'its hub may no longer run the connection')));
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

  /** Performs the writes with the origin that the request contains. `sender` is the hub that has sent the request. */
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
            throw new HubError('unknown-parameter', `${address}: its hub has no parameter with this address`);
          if (parameter.remote !== undefined)
            throw new HubError('unavailable', `${address}: its hub no longer owns this parameter`);
          if (!this.#context.isShared(parameter))
            throw new HubError('unknown-parameter', `${address}: its hub does not share this parameter`);
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

  /**
   * Checks the order of requests. A late firing of a trigger still counts. Errors: an error if a later request from the same hub has
   * already written the parameter.
   */
  #expectInOrder(parameter: Parameter, { hub, run, number }: Writer): void {
    if (parameter.type === 'T') return;
    const last = this.#writers.get(parameter);
    if (last?.hub === hub && last.run === run && last.number > number)
      throw new HubError(
        'unavailable',
        `${parameter.address}: not written: a later write from hub "${hub}" arrived first`,
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

/** Returns the answer to a request that may or may not have been executed. */
function answerUnknown(request: WriteRequest, why: string): WriteAnswer {
  return refuse(request, `not confirmed, ${why}; the write may have taken effect`);
}

function refuse({ items }: WriteRequest, why: string): WriteAnswer {
  return { results: items.map(([address]) => ({ code: 'unavailable', message: `${address}: ${why}` })) };
}
