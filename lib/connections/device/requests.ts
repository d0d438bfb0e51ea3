// Requests to a device. Requests wait in a queue, several requests may be in flight, and each answer is matched to its own request. A late
// answer is matched to the request that timed out, never to the next request.

import type { SchedulerLike, Subscription } from 'rxjs';
import { AnswerPattern, type HttpMessage, retryAfterMs } from '../../device/http-message.ts';
import { type Matcher, Message } from '../../device/message.ts';
import type { Values } from '../../device/pattern.ts';
import { Backoff } from '../../model/time/backoff.ts';
import type { Value } from '../../model/value.ts';
import type { Answers } from './compiled.ts';

/** The outcome of a request: the answer, or the reason why there is no answer. */
export type Outcome =
  | { readonly message: Message; readonly found: ReadonlyMap<string, Value>; readonly matcher: Matcher | undefined }
  /** The answer has not changed since the last answer (HTTP status 304). */
  | { readonly isUnchanged: true }
  | { readonly refused: string };

/** A request to a device, with its expected answers and its handlers. */
export interface RequestOptions extends Answers {
  /** The name of the request in messages to operators. */
  readonly name: string;
  /** Formats the messages. Called when the request is sent. Errors: any error from `Matcher.format`. */
  readonly write: () => readonly string[];
  /** The values that the answer must contain, such as the number of an output. */
  readonly known: Values;
  readonly until?: Matcher | undefined;
  /** Returns whether several frames together may be the answer. Used for requests without `replies`. */
  readonly isAnswer?: ((message: Message) => boolean) | undefined;
  /** The beginning of the answer. Used if the description defines no replies. */
  readonly head?: string | undefined;
  /** Whether any message is accepted as the answer, because the description defines no answer. */
  readonly takesAny: boolean;
  /** Called with the outcome. `isLate` means that the answer has arrived after a timeout had been reported. */
  done(outcome: Outcome, isLate: boolean): void;
}

/** An HTTP request that is being sent. */
export interface SentRequest {
  readonly isWrite: boolean;
  /** The text of the request without the ETag of the last answer. */
  text: string;
  /** Whether the request contains an ETag, so that the device may answer with status 304. */
  isConditional: boolean;
}

interface Request extends RequestOptions, SentRequest {
  tries: number;
  /** The time at which the request was first sent, in milliseconds. */
  firstMs: number;
  /** The number of times that the request was queued again because of new credentials or a pause. */
  renewals: number;
  delays: number;
  /** The timer for the pause before the request is sent again. */
  timer: Subscription | undefined;
  /** The time by which the answer must arrive, in milliseconds. */
  limitMs: number;
  sentMs: number;
  /** Whether an answer of several frames has arrived that belonged to another request. */
  hasOther: boolean;
  /** If the answer is late: the second copy of the request, which was sent after the timeout. */
  again?: Request;
}

/** The maximum length of an answer that consists of several frames, in characters. */
export const maxAnswerLength = 1_048_576;
/** The maximum number of requests in the queue. When the queue is full, the oldest request is dropped. */
export const maxQueued = 32_768;
/** The maximum number of unrelated frames that may precede an answer of several frames. */
const maxOtherFrames = 64;
/**
 * The number of times that a request is repeated after the status 429 or 503, and the maximum pause before a repetition, in milliseconds:
 * for all requests, and for writes.
 */
const maxDelays = 5;
export const longestDelayMs = 600_000;
const longestWriteDelayMs = 5000;
/** How long a late answer is still expected, as a multiple of the timeout. */
const lateTimeouts = 5;

export interface RequestsOptions {
  readonly window: number;
  readonly spacingMs: number;
  /** Whether messages are shown as hexadecimal bytes instead of text. */
  readonly isOfBytes?: boolean;
  readonly scheduler: SchedulerLike;
  send(texts: readonly string[], request: SentRequest): void;
  /** The callbacks for HTTP; undefined if the device is not reached over HTTP. */
  readonly http?: HttpOptions | undefined;
  /** Returns whether the device sends the message on its own. Such a message does not belong to an answer. */
  isUnasked(message: Message): boolean;
  /** Called when answers can no longer be matched to requests. */
  fail(reason: string): void;
  /** Called when no request is waiting or in flight. */
  idle(): void;
  /** Calls `work` after the current turn. By default, `work` is called in a microtask. */
  soon?(work: () => void): void;
}

/**
 * The callbacks for a device that is reached over HTTP. The transport matches answers to requests, so an answer is never mistaken for the
 * answer to a later request.
 */
export interface HttpOptions {
  /** Cancels a request. A later answer is ignored. */
  cancel(request: object): void;
  /**
   * Called when the device has answered. `isExpected` states whether the answer matches the description. If it does not match, `reason`
   * states the problem.
   */
  heard(isExpected: boolean, reason: string): void;
  /** Called when an answer has been accepted. */
  accepted(request: SentRequest, message: HttpMessage): void;
  /**
   * Called when the device has not answered a request, even after repetitions. `sinceMs` is the time at which the request was sent, in
   * milliseconds. `isRefusal` means that the device has refused the credentials.
   */
  unanswered(reason: string, sinceMs: number, isRefusal: boolean): void;
  /**
   * Called when the device has refused the credentials in a request that was sent at `sentMs`. Returns whether the request should wait for
   * new credentials.
   */
  renew(sentMs: number): boolean;
}

/**
 * The HTTP statuses that do not prove that the device is working: the device has refused the credentials or is busy, or a proxy has
 * answered in its place.
 */
const unheardStatuses: ReadonlySet<number> = new Set([401, 429, 502, 503, 504]);

export class Requests {
  readonly #options: RequestsOptions;
  /** The writes that are waiting to be sent. Writes are sent before the questions. */
  #writes: Request[] = [];
  #asks: Request[] = [];
  #inFlight: Request[] = [];
  /** The requests that have timed out but whose answers may still arrive. */
  #late: Request[] = [];
  /** The frames of an incomplete answer. The request with `until` waits for the rest. */
  #frames: string[] = [];
  #framesLength = 0;
  #spacing: Subscription | undefined;
  /**
   * The timer for the time limits of all requests. There is only one timer, because most requests are answered long before their limits,
   * and a timer for each request would cost more than handling its answer.
   */
  #limit: Subscription | undefined;
  #limitMs = Number.POSITIVE_INFINITY;
  #isPumping = false;
  #isHeld = true;
  /** The time at which the device will accept requests again, in milliseconds. */
  #pausedMs = 0;
  readonly #pauses = new Backoff({ firstMs: 1000, longestMs: 30_000 });
  /** The time at which the latest late answer arrived, and the name of its request. */
  #taken = { ms: Number.NEGATIVE_INFINITY, name: '' };

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#writes.length + this.#asks.length + this.#inFlight.length === 0;
  }

  /** The number of requests that are waiting to be sent. */
  get queued(): number {
    return this.#writes.length + this.#asks.length;
  }

  /** Adds a request to the queue. If the queue is full, its oldest request is refused. */
  add(options: RequestOptions, isWrite: boolean): void {
    const request = requestOf(options, isWrite);
    const queue = isWrite ? this.#writes : this.#asks;
    if (queue.length >= maxQueued) queue.shift()!.done({ refused: 'too many requests are waiting' }, false);
    queue.push(request);
    this.#pumpSoon();
  }

  /** Stops or continues sending. Requests are held while the link is not ready. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) this.#pumpSoon();
  }

  /** Refuses all requests after the link has ended. */
  clear(reason: string): void {
    const all = [...this.#inFlight, ...this.#writes, ...this.#asks];
    for (const { timer } of [...all, ...this.#late]) timer?.unsubscribe();
    this.#limit?.unsubscribe();
    this.#limit = undefined;
    this.#limitMs = Number.POSITIVE_INFINITY;
    this.#inFlight = [];
    this.#writes = [];
    this.#asks = [];
    this.#late = [];
    this.#dropFrames();
    this.#spacing?.unsubscribe();
    this.#spacing = undefined;
    this.#isHeld = true;
    for (const { done } of all) done({ refused: reason }, false);
  }

  // HTTP

  /** How long the device will accept no requests, in milliseconds from now. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedMs - this.#options.scheduler.now());
  }

  /** The request that has been waiting for its answer for the longest time. */
  get oldest(): object | undefined {
    return this.#inFlight[0];
  }

  /** Handles the answer to an HTTP request. */
  answer(key: object, message: HttpMessage): void {
    const request = this.#inFlight[this.#inFlight.indexOf(key as Request)];
    if (request === undefined) return; // the request was cancelled
    const { replies, known } = request;
    if (message.head!.status === 304 && request.isConditional) {
      this.#accept(request, message, { isUnchanged: true });
      return;
    }
    const possible = message.isOk ? replies : replies.filter(hasStatus);
    const [found, matcher] = firstMatch(possible, message, known);
    if (found !== undefined || (replies.length === 0 && message.isOk))
      this.#accept(request, message, { message, found: found ?? new Map(), matcher });
    else this.#answeredOtherwise(request, message);
  }

  #accept(request: Request, message: HttpMessage, outcome: Outcome): void {
    const { http } = this.#options;
    this.#pauses.reset();
    http!.heard(true, '');
    http!.accepted(request, message);
    this.#finish(request, outcome);
  }

  #answeredOtherwise(request: Request, message: HttpMessage): void {
    const { retryIf, fail, known } = request;
    const { status, statusText, headers } = message.head!;
    const { http } = this.#options;
    const answers = `the device answered ${status} ${statusText}`.trimEnd();
    const says = message.text === '' ? answers : `${answers}: ${shown(message, false)}`;
    const isRetried = firstMatch(retryIf, message, known)[0] !== undefined;
    if (isRetried || firstMatch(fail, message, known)[0] !== undefined) {
      http!.heard(true, '');
      if (isRetried) this.#again(request, says);
      else this.#refuse(request, says);
    } else if (status === 401 && request.renewals === 0 && http!.renew(request.sentMs)) {
      request.renewals++;
      this.#putBack(request);
    } else if ((status === 429 || status === 503) && request.delays < maxDelays)
      this.#delay(request, answers, headers['retry-after']);
    else if (unheardStatuses.has(status)) this.#unanswered(request, answers, status === 401);
    else {
      const reason = message.isOk
        ? `expected a matching answer to ${request.name}, got ${shown(message, false)}`
        : says;
      http!.heard(false, message.isOk ? reason : answers);
      this.#refuse(request, reason);
    }
  }

  /** Handles an HTTP request that will not receive a complete answer. */
  failed(key: object, reason: string): void {
    const request = this.#inFlight.find((one) => one === key);
    if (request !== undefined) this.#unanswered(request, reason, false);
  }

  #unanswered(request: Request, reason: string, isRefusal: boolean): void {
    if (request.tries <= request.retry && !isRefusal) {
      this.#again(request, reason);
      return;
    }
    this.#options.http!.unanswered(reason, request.firstMs, isRefusal);
    if (this.#inFlight.includes(request)) this.#refuse(request, reason);
  }

  /** Pauses sending for the time in a `Retry-After` header. Returns the pause in milliseconds. */
  pause(retryAfter: string | undefined): number {
    const { scheduler } = this.#options;
    const pauseMs = Math.min(retryAfterMs(retryAfter, Date.now()) ?? this.#pauses.next(), longestDelayMs);
    this.#pausedMs = Math.max(this.#pausedMs, scheduler.now() + pauseMs);
    this.#spacing?.unsubscribe();
    this.#spacing = scheduler.schedule(() => {
      this.#spacing = undefined;
      this.#pump();
    }, this.pauseMs);
    return pauseMs;
  }

  /** Repeats a request after the pause that the device has requested. */
  #delay(request: Request, answers: string, retryAfter: string | undefined): void {
    const pauseMs = this.pause(retryAfter);
    this.#options.http!.heard(false, answers);
    request.delays++;
    if (request.isWrite && pauseMs > longestWriteDelayMs)
      this.#refuse(request, `${answers}, and accepts no requests for ${Math.round(pauseMs / 100) / 10} s`);
    else this.#putBack(request);
  }

  #putBack(request: Request): void {
    this.#remove(request);
    request.tries--;
    (request.isWrite ? this.#writes : this.#asks).unshift(request);
    this.#pumpSoon();
  }

  // Matching answers to requests

  /**
   * Passes a message to the request that it answers. Returns `part` if the message may be a part of an answer, and undefined if it belongs
   * to no request.
   */
  take(message: Message): 'answer' | 'part' | undefined {
    if (this.#inFlight.length + this.#late.length === 0) return undefined;
    const waiting = this.#late.length === 0 ? this.#inFlight : [...this.#late, ...this.#inFlight];
    const firstUntil = waiting.findIndex(({ until }) => until !== undefined);
    if (firstUntil < 0)
      return waiting.some((request, place) => this.#answers(request, message, place === 0)) ? 'answer' : undefined;
    return this.#takeFrame(waiting, firstUntil, message);
  }

  /** Like `take`, but for a request that is waiting for an answer of several frames. */
  #takeFrame(waiting: readonly Request[], firstUntil: number, message: Message): 'answer' | 'part' | undefined {
    const first = waiting[firstUntil]!;
    const isUnasked = this.#options.isUnasked(message);
    const isEnd = !isUnasked && first.until!.match(message, first.known) !== undefined;
    if (isEnd && this.#frames.length > 0 && this.#endFrames(waiting, message)) return 'answer';
    const others = firstUntil === 0 && !isEnd ? [] : waiting;
    for (const [place, request] of others.entries())
      if (request.until === undefined && this.#answers(request, message, place === 0)) {
        this.#dropFrames(); // the frames belonged to this answer
        return 'answer';
      }
    if (isUnasked) return undefined;
    if (isEnd) {
      const isTaken = this.#endFrames(waiting, message) || this.#endEmpty(first, firstUntil === 0);
      first.hasOther ||= !isTaken;
      this.#dropFrames();
      return isTaken ? 'answer' : undefined;
    }
    if (firstUntil === 0 && firstMatch(first.fail, message, first.known)[0] !== undefined) {
      this.#dropFrames();
      this.#refuse(first, `the device reported: ${shown(message, this.#options.isOfBytes === true)}`);
      return 'answer';
    }
    this.#collect(first, message);
    return 'part';
  }

  /**
   * Passes the frames up to `end` to the first request that they answer, skipping unrelated frames at the beginning. Returns whether they
   * answer a request.
   */
  #endFrames(waiting: readonly Request[], end: Message): boolean {
    const untils = waiting.filter(({ until, known }) => until?.match(end, known) !== undefined);
    const most = Math.min(this.#frames.length, maxOtherFrames);
    for (let from = 0; from <= most; from++) {
      if (from > 0 && from === this.#frames.length) return false; // no frame is left
      const whole = new Message((from === 0 ? this.#frames : this.#frames.slice(from)).join('\n'));
      for (const request of untils) {
        const { replies, known, isAnswer } = request;
        const [found, matcher] = firstMatch(replies, whole, known);
        if (found === undefined && (replies.length > 0 || isAnswer?.(whole) !== true)) continue;
        this.#dropFrames();
        this.#finish(request, { message: whole, found: found ?? new Map(), matcher });
        return true;
      }
    }
    return false;
  }

  /**
   * Accepts an answer without frames, or an answer that no pattern identifies, as the answer to the oldest request. Returns false if this
   * request has patterns.
   */
  #endEmpty(request: Request, isFirst: boolean): boolean {
    if (!isFirst || request.replies.length > 0 || (request.isAnswer !== undefined && this.#frames.length > 0))
      return false;
    this.#finish(request, { message: new Message(this.#frames.join('\n')), found: new Map(), matcher: undefined });
    return true;
  }

  #collect({ name }: Request, { text }: Message): void {
    this.#framesLength += text.length + 1;
    if (this.#framesLength > maxAnswerLength)
      this.#options.fail(`the answer to ${name} is longer than ${maxAnswerLength} bytes`);
    else this.#frames.push(text);
  }

  #dropFrames(): void {
    this.#frames = [];
    this.#framesLength = 0;
  }

  /**
   * Passes a message to a request if the message is its answer. `isFirst` means that the request is the oldest. Returns whether the message
   * is the answer.
   */
  #answers(request: Request, message: Message, isFirst: boolean): boolean {
    const { known, replies, retryIf, fail, head } = request;
    const [found, matcher] = firstMatch(replies, message, known);
    if (found !== undefined) this.#finish(request, { message, found, matcher });
    else if (replies.length === 0 && head !== undefined && message.text.startsWith(head))
      this.#finish(request, { message, found: new Map(), matcher: undefined });
    else if (firstMatch(retryIf, message, known)[0] !== undefined)
      this.#again(request, `the device reported: ${shown(message, this.#options.isOfBytes === true)}`);
    else if (firstMatch(fail, message, known)[0] !== undefined)
      this.#refuse(request, `the device reported: ${shown(message, this.#options.isOfBytes === true)}`);
    else if (request.takesAny && isFirst && !this.#options.isUnasked(message))
      this.#finish(request, { message, found: new Map(), matcher: undefined });
    else return false;
    return true;
  }

  #finish(request: Request, outcome: Outcome): void {
    if (request.again !== undefined && this.#inFlight.includes(request.again)) {
      this.#finish(request.again, outcome); // this answer goes to the repeated request, and the late request waits for the second answer
      return;
    }
    const isLate = this.#remove(request);
    if (isLate) this.#taken = { ms: this.#options.scheduler.now(), name: request.name };
    request.done(outcome, isLate);
    this.#pumpSoon();
  }

  #refuse(request: Request, reason: string): void {
    this.#finish(request, { refused: reason });
  }

  /** Removes a request that has been answered. Returns whether the answer was late. */
  #remove(request: Request): boolean {
    request.timer?.unsubscribe();
    if (this.#late.length === 0) {
      this.#inFlight.splice(this.#inFlight.indexOf(request), 1);
      return false;
    }
    const late = this.#late.indexOf(request);
    if (late >= 0) this.#late.splice(late, 1);
    else this.#inFlight.splice(this.#inFlight.indexOf(request), 1);
    return late >= 0;
  }

  /** Repeats a request after a pause. If it has been repeated too often, refuses it. */
  #again(request: Request, reason: string): void {
    if (request.tries > request.retryBusy || this.#late.includes(request)) {
      this.#refuse(request, reason);
      return;
    }
    this.#remove(request);
    request.limitMs = Number.POSITIVE_INFINITY;
    this.#inFlight.push(request); // the request keeps its place in the window
    request.timer = this.#options.scheduler.schedule(() => this.#send(request), Math.min(request.timeoutMs, 500));
  }

  /** Sends waiting requests in a microtask, so that all writes in a turn can share a frame. */
  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    const { soon = queueMicrotask } = this.#options;
    soon(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    const { window, spacingMs, scheduler } = this.#options;
    while (!this.#isHeld && this.#inFlight.length < window && this.#spacing === undefined) {
      const next = this.#writes.shift() ?? this.#asks.shift();
      if (next === undefined) break;
      this.#inFlight.push(next);
      this.#send(next);
      if (spacingMs === 0) continue;
      this.#spacing = scheduler.schedule(() => {
        this.#spacing = undefined;
        this.#pump();
      }, spacingMs);
    }
    if (!this.#isHeld && this.isIdle) this.#options.idle();
  }

  #send(request: Request): void {
    const { scheduler } = this.#options;
    request.tries++;
    if (request.until !== undefined && ![...this.#late, ...this.#inFlight].some((one) => one !== request && one.until))
      this.#dropFrames();
    request.sentMs = scheduler.now();
    if (request.firstMs === 0) request.firstMs = request.sentMs;
    request.limitMs = Number.POSITIVE_INFINITY;
    let texts: readonly string[];
    try {
      texts = request.write();
    } catch (error) {
      this.#refuse(request, (error as Error).message);
      return;
    }
    this.#options.send(texts, request);
    if (texts.length === 0) {
      this.#finish(request, { message: new Message(''), found: new Map(), matcher: undefined }); // an earlier frame contained the message
      return;
    }
    const { replies, until, head, takesAny } = request;
    const isAnswered =
      replies.length > 0 || until !== undefined || head !== undefined || takesAny || this.#options.http !== undefined;
    if (!isAnswered) this.#finish(request, { message: new Message(''), found: new Map(), matcher: undefined });
    else this.#limitFor(request);
  }

  #limitFor(request: Request): void {
    request.limitMs = this.#options.scheduler.now() + request.timeoutMs;
    if (request.limitMs < this.#limitMs) this.#lookAt(request.limitMs);
  }

  /** Ensures that the time limits are checked at `limitMs`. */
  #lookAt(limitMs: number): void {
    const { scheduler } = this.#options;
    this.#limit?.unsubscribe();
    this.#limitMs = limitMs;
    this.#limit = scheduler.schedule(() => this.#endOverdue(), Math.max(0, limitMs - scheduler.now()));
  }

  #endOverdue(): void {
    const nowMs = this.#options.scheduler.now();
    this.#limit = undefined;
    this.#limitMs = Number.POSITIVE_INFINITY;
    const overdue = this.#inFlight.filter(({ limitMs }) => limitMs <= nowMs);
    for (const request of overdue.sort((one, other) => one.limitMs - other.limitMs)) {
      if (request.limitMs > nowMs || !this.#inFlight.includes(request)) continue; // the previous request may have ended this request
      request.limitMs = Number.POSITIVE_INFINITY; // a time limit takes effect only once
      this.#timeOut(request);
    }
    const nextMs = this.#inFlight.reduce((least, { limitMs }) => Math.min(least, limitMs), Number.POSITIVE_INFINITY);
    if (nextMs < this.#limitMs) this.#lookAt(nextMs);
  }

  /** Repeats or refuses a request after its timeout. Its late answer is still expected, so that no other request receives it. */
  #timeOut(request: Request): void {
    const { scheduler, fail } = this.#options;
    const reason = `no answer to ${request.name} within ${request.timeoutMs / 1000} s`;
    const { http } = this.#options;
    if (http !== undefined) {
      http.cancel(request);
      this.#unanswered(request, reason, false);
      return;
    }
    if (this.#taken.ms >= request.sentMs && this.#taken.name === request.name) {
      this.#refuse(request, reason); // the late request has received the answer to this request
      return;
    }
    if (request.hasOther) {
      this.#refuse(request, `expected a matching answer to ${request.name}`);
      return;
    }
    const { until, replies, isAnswer } = request;
    const isMidway = until !== undefined && this.#frames.length > 0 && replies.length === 0 && isAnswer === undefined;
    if (this.#taken.ms >= request.sentMs || isMidway || this.#late.length >= this.#options.window) {
      fail(reason); // the order of the answers is no longer known
      return;
    }
    this.#inFlight.splice(this.#inFlight.indexOf(request), 1);
    const late: Request = {
      ...request,
      again: request,
      done: (outcome) => request.done(outcome, true),
    };
    this.#late.push(late);
    late.timer = scheduler.schedule(
      () => this.#late.splice(this.#late.indexOf(late), 1),
      request.timeoutMs * lateTimeouts,
    );
    if (request.tries > request.retry) {
      request.done({ refused: reason }, false);
      this.#pumpSoon();
      return;
    }
    this.#inFlight.push(request);
    this.#send(request);
  }
}

/** Creates a request. The options are copied by name, because the spread syntax takes several times as long. */
function requestOf(options: RequestOptions, isWrite: boolean): Request {
  return {
    name: options.name,
    write: options.write,
    known: options.known,
    until: options.until,
    isAnswer: options.isAnswer,
    head: options.head,
    takesAny: options.takesAny,
    done: options.done,
    replies: options.replies,
    fail: options.fail,
    retryIf: options.retryIf,
    timeoutMs: options.timeoutMs,
    retry: options.retry,
    retryBusy: options.retryBusy,
    isWrite,
    text: '',
    isConditional: false,
    tries: 0,
    firstMs: 0,
    renewals: 0,
    delays: 0,
    timer: undefined,
    limitMs: Number.POSITIVE_INFINITY,
    sentMs: 0,
    hasOther: false,
  };
}

function hasStatus(matcher: Matcher): boolean {
  return matcher instanceof AnswerPattern && matcher.status !== undefined;
}

/** Returns the first matcher that matches a message, together with the values in the message. */
export function firstMatch(
  matchers: readonly Matcher[],
  message: Message,
  known?: Values,
): readonly [found: Map<string, Value> | undefined, matcher: Matcher | undefined] {
  for (const matcher of matchers) {
    const found = matcher.match(message, known);
    if (found !== undefined) return [found, matcher];
  }
  return noMatch;
}

const noMatch = [undefined, undefined] as const;

const shownLength = 80;

/** Returns a message in readable form: as text, or as hexadecimal digits. */
export function shown({ text }: Message, isOfBytes: boolean): string {
  if (isOfBytes) {
    const digits = Buffer.from(text.slice(0, shownLength / 2), 'latin1')
      .toString('hex')
      .replaceAll(/..(?=.)/g, '$& ');
    return digits + (text.length > shownLength / 2 ? '…' : '');
  }
  const printable = [...text.slice(0, shownLength)].map((character) =>
    character < ' ' || character === '\x7f' ? '·' : character,
  );
  return printable.join('') + (text.length > shownLength ? '…' : '');
}
