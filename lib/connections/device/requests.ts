// Requests to a device. They wait in a queue, several may be in flight, and each answer is matched to its own request. A late answer is
// matched to the request that timed out, and never to the next one.

import type { SchedulerLike, Subscription } from 'rxjs';
import { AnswerPattern, type HttpMessage, retryAfterMs } from '../../device/http-message.ts';
import { type Matcher, Message } from '../../device/message.ts';
import type { Values } from '../../device/pattern.ts';
import { Backoff } from '../../model/time/backoff.ts';
import type { Value } from '../../model/value.ts';
import type { Answers } from './compiled.ts';

/** The result of a request. */
export type Outcome =
  | { readonly message: Message; readonly found: ReadonlyMap<string, Value>; readonly matcher: Matcher | undefined }
  /** Over HTTP: the answer has not changed since the last one (status 304). */
  | { readonly isUnchanged: true }
  | { readonly refused: string };

/** A request. */
export interface RequestOptions extends Answers {
  /** The name in messages for the operator. */
  readonly name: string;
  /** Returns the messages when the request is sent. Errors: any error from `Matcher.format`. */
  readonly write: () => readonly string[];
  /** Values that the answer must contain, such as the number of an output. */
  readonly known: Values;
  readonly until?: Matcher | undefined;
  /** Whether several frames together may be the answer, for a request without `replies`. */
  readonly isAnswer?: ((message: Message) => boolean) | undefined;
  /** The beginning of the answer, if the description has no replies. */
  readonly head?: string | undefined;
  /** Whether any message is the answer, because the description has none. */
  readonly takesAny: boolean;
  /** Called with the result. `isLate`: the answer came after the timeout had been reported. */
  done(outcome: Outcome, isLate: boolean): void;
}

/** A request over HTTP that is being sent. */
export interface SentRequest {
  readonly isWrite: boolean;
  /** The text of the request, without the ETag of the last answer. */
  text: string;
  /** Whether it was sent with an ETag, so the answer may have the status 304. */
  isConditional: boolean;
}

interface Request extends RequestOptions, SentRequest {
  tries: number;
  /** The time when it was first sent, in milliseconds. */
  firstMs: number;
  /** How often it was queued again, for new credentials or after a pause. */
  renewals: number;
  delays: number;
  /** The timer of a pause before the request is sent again. */
  timer: Subscription | undefined;
  /** The time by which its answer has to come, in milliseconds. */
  limitMs: number;
  sentMs: number;
  /** Whether an answer of several frames has come that was not for this request. */
  hasOther: boolean;
  /** For a late answer: the copy of this request that was sent again. */
  again?: Request;
}

/** The longest answer of several frames, in characters. */
export const maxAnswerLength = 1_048_576;
/** The maximum number of requests in the queue; beyond that, the oldest is dropped. */
export const maxQueued = 32_768;
/** The maximum number of unrelated frames before an answer of several frames. */
const maxOtherFrames = 64;
/** How often a request is sent again after the status 429 or 503, and the longest pause before that, for all requests and for writes. */
const maxDelays = 5;
export const longestDelayMs = 600_000;
const longestWriteDelayMs = 5000;
/** The time for which the hub still expects a late answer, in timeouts. */
const lateTimeouts = 5;

export interface RequestsOptions {
  readonly window: number;
  readonly spacingMs: number;
  /** Whether messages are shown as bytes. */
  readonly isOfBytes?: boolean;
  readonly scheduler: SchedulerLike;
  send(texts: readonly string[], request: SentRequest): void;
  /** undefined: the device is not reached over HTTP. */
  readonly http?: HttpOptions | undefined;
  /** Whether the device sends the message without being asked, so it does not belong to an answer. */
  isUnasked(message: Message): boolean;
  /** Called when answers can no longer be matched to requests. */
  fail(reason: string): void;
  /** Called when no request waits. */
  idle(): void;
  /** Runs work after the current turn. Default: in a microtask. */
  soon?(work: () => void): void;
}

/** The events over HTTP. The transport matches answers to requests, so no answer is late. */
export interface HttpOptions {
  /** Cancels a request. Its answer is ignored. */
  cancel(request: object): void;
  /** The device has answered. `isExpected`: the answer is as the description says; otherwise `reason` says what is wrong. */
  heard(isExpected: boolean, reason: string): void;
  /** An answer was accepted. */
  accepted(request: SentRequest, message: HttpMessage): void;
  /** The device has not answered a request, even after repeating it. `isRefusal`: the device refuses the credentials. */
  unanswered(reason: string, sinceMs: number, isRefusal: boolean): void;
  /** The device refuses the credentials of a request that was sent at `sentMs`. Returns whether the request should wait for new ones. */
  renew(sentMs: number): boolean;
}

/** Statuses that do not show that the device works: it refuses the credentials, is busy, or a proxy has answered instead. */
const unheardStatuses: ReadonlySet<number> = new Set([401, 429, 502, 503, 504]);

export class Requests {
  readonly #options: RequestsOptions;
  /** Writes are sent first. */
  #writes: Request[] = [];
  #asks: Request[] = [];
  #inFlight: Request[] = [];
  /** Requests whose answers are late. */
  #late: Request[] = [];
  /** The frames of an incomplete answer. A request with `until` waits for the rest. */
  #frames: string[] = [];
  #framesLength = 0;
  #spacing: Subscription | undefined;
  /** One timer for the time limits of all requests: most are answered long before, and a timer for each would cost more than its answer. */
  #limit: Subscription | undefined;
  #limitMs = Number.POSITIVE_INFINITY;
  #isPumping = false;
  #isHeld = true;
  /** The time until which the device accepts no requests, in milliseconds. */
  #pausedMs = 0;
  readonly #pauses = new Backoff({ firstMs: 1000, longestMs: 30_000 });
  /** When the last late answer came, and the name of its request. */
  #taken = { ms: Number.NEGATIVE_INFINITY, name: '' };

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#writes.length + this.#asks.length + this.#inFlight.length === 0;
  }

  /** The length of the queue. */
  get queued(): number {
    return this.#writes.length + this.#asks.length;
  }

  /** Adds a request. If too many wait, the oldest is refused. */
  add(options: RequestOptions, isWrite: boolean): void {
    const request = requestOf(options, isWrite);
    const queue = isWrite ? this.#writes : this.#asks;
    if (queue.length >= maxQueued) queue.shift()!.done({ refused: 'too many requests are waiting' }, false);
    queue.push(request);
    this.#pumpSoon();
  }

  /** Holds requests while the link is not ready, or releases them. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) this.#pumpSoon();
  }

  /** Refuses all requests, because the link has ended. */
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

  // HTTP.

  /** The time for which the device accepts no requests, in milliseconds. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedMs - this.#options.scheduler.now());
  }

  /** The request that has waited longest for its answer. */
  get oldest(): object | undefined {
    return this.#inFlight[0];
  }

  /** Handles the answer to a request over HTTP. */
  answer(key: object, message: HttpMessage): void {
    const request = this.#inFlight[this.#inFlight.indexOf(key as Request)];
    if (request === undefined) return; // it was canceled
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

  /** A request over HTTP has no complete answer. */
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

  /** Sends nothing for as long as the device asks in the header Retry-After. Returns the pause in milliseconds. */
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

  /** Sends a request again after the pause that the device asks for. */
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

  // Answers that are matched to requests.

  /**
   * Passes a message to the request that it answers. Returns `part` if it may be a part of an answer, and undefined if it belongs to no
   * request.
   */
  take(message: Message): 'answer' | 'part' | undefined {
    if (this.#inFlight.length + this.#late.length === 0) return undefined;
    const waiting = this.#late.length === 0 ? this.#inFlight : [...this.#late, ...this.#inFlight];
    const firstUntil = waiting.findIndex(({ until }) => until !== undefined);
    if (firstUntil < 0)
      return waiting.some((request, place) => this.#answers(request, message, place === 0)) ? 'answer' : undefined;
    return this.#takeFrame(waiting, firstUntil, message);
  }

  /** Works as `take`, while a request waits for an answer of several frames. */
  #takeFrame(waiting: readonly Request[], firstUntil: number, message: Message): 'answer' | 'part' | undefined {
    const first = waiting[firstUntil]!;
    const isUnasked = this.#options.isUnasked(message);
    const isEnd = !isUnasked && first.until!.match(message, first.known) !== undefined;
    if (isEnd && this.#frames.length > 0 && this.#endFrames(waiting, message)) return 'answer';
    const others = firstUntil === 0 && !isEnd ? [] : waiting;
    for (const [place, request] of others.entries())
      if (request.until === undefined && this.#answers(request, message, place === 0)) {
        this.#dropFrames(); // these frames belonged to that answer
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
   * Passes the frames up to `end` to the first request that they answer. Skips unrelated frames before the answer. Returns whether a
   * request took them.
   */
  #endFrames(waiting: readonly Request[], end: Message): boolean {
    const untils = waiting.filter(({ until, known }) => until?.match(end, known) !== undefined);
    const most = Math.min(this.#frames.length, maxOtherFrames);
    for (let from = 0; from <= most; from++) {
      if (from > 0 && from === this.#frames.length) return false; // no frame remains
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
   * Accepts an answer without frames, or one that no pattern identifies, for the oldest request. Returns false if that request has
   * patterns.
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

  /** Passes a message to a request if the message answers it. `isFirst`: the request is the oldest. Returns whether it does. */
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
      this.#finish(request.again, outcome); // the repeated request gets this answer, and this one waits for the second answer
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

  /** Removes a request. Returns whether its answer was late. */
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

  /** Sends a request again after a pause, or refuses it. */
  #again(request: Request, reason: string): void {
    if (request.tries > request.retryBusy || this.#late.includes(request)) {
      this.#refuse(request, reason);
      return;
    }
    this.#remove(request);
    request.limitMs = Number.POSITIVE_INFINITY;
    this.#inFlight.push(request); // it keeps its place in the window
    request.timer = this.#options.scheduler.schedule(() => this.#send(request), Math.min(request.timeoutMs, 500));
  }

  /** Sends in a microtask, so one frame can contain all writes of a turn. */
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
      this.#finish(request, { message: new Message(''), found: new Map(), matcher: undefined }); // an earlier frame included its message
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

  /** Looks at the time limits at this time. */
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
      if (request.limitMs > nowMs || !this.#inFlight.includes(request)) continue; // the one before may have ended it
      request.limitMs = Number.POSITIVE_INFINITY; // its time is up only once
      this.#timeOut(request);
    }
    const nextMs = this.#inFlight.reduce((least, { limitMs }) => Math.min(least, limitMs), Number.POSITIVE_INFINITY);
    if (nextMs < this.#limitMs) this.#lookAt(nextMs);
  }

  /** Repeats or refuses a request after its timeout. Its late answer stays expected, so that no other request takes it. */
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
      this.#refuse(request, reason); // the late request has taken the answer of this one
      return;
    }
    if (request.hasOther) {
      this.#refuse(request, `expected a matching answer to ${request.name}`);
      return;
    }
    const { until, replies, isAnswer } = request;
    const isMidway = until !== undefined && this.#frames.length > 0 && replies.length === 0 && isAnswer === undefined;
    if (this.#taken.ms >= request.sentMs || isMidway || this.#late.length >= this.#options.window) {
      fail(reason); // the order of answers is no longer known
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

/** Copies each option by name: spreading them takes several times as long. */
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

/** Returns the values of the first matcher that matches a message, and that matcher. */
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

/** Returns a message as text for people: bytes as hexadecimal digits. */
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
