// A session with a device: manages the link, its frames, and the greeting after a connect. The session passes each message to the request
// that the message answers (`requests.ts`), or to `readings.ts`. `questions.ts` asks for values, and `pending-writes.ts` writes values.

import { type SchedulerLike, Subscription } from 'rxjs';
import { createFramer, type Frame, type Framer, TelnetFilter, textsOf } from '../../device/frames.ts';
import { AnswerPattern, HttpMessage, readPlayed, writeAnswer } from '../../device/http-message.ts';
import { DeviceLink } from '../../device/link.ts';
import { type Matcher, Message, type TreeFormat } from '../../device/message.ts';
import type { HttpHead, Received, Transport } from '../../device/transport.ts';
import { HubError, messageOf } from '../../model/error.ts';
import { KeptResults } from '../../model/kept-results.ts';
import type { Change } from '../../model/parameter.ts';
import { withoutSecrets } from '../../model/secret.ts';
import type { Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import { type Compiled, type Greeting, type Instance, ownValue } from './compiled.ts';
import { EventStream } from './event-stream.ts';
import { LastAnswers } from './last-answers.ts';
import { PendingWrites } from './pending-writes.ts';
import { createSwP08, type LinkCodec } from './protocols/sw-p-08.ts';
import { Questions } from './questions.ts';
import { Readings } from './readings.ts';
import { firstMatch, type HttpOptions, type RequestOptions, Requests, type SentRequest, shown } from './requests.ts';

/** The callbacks through which a session reports events to the hub. */
export interface SessionEvents {
  /** Reports a value, or undefined if the device does not know the value. `because` is the change that the value confirms. */
  set(id: string, value: Value | undefined, because: Change | undefined): void;
  /** Called when a write has ended without confirmation because the device has refused it or has not answered. */
  settle(id: string, error: HubError): void;
  declare(instances: readonly Instance[]): void;
  withdraw(ids: readonly string[]): void;
  /** Called when the device is online and all values are up to date. */
  running(): void;
  /** Called when the device has gone offline or cannot be reached. */
  away(reason: string): void;
  /** Records a sent or received frame in the wire trace. */
  wire(direction: 'in' | 'out', bytes: Uint8Array): void;
  /** Records received frames in the wire trace: the frames in the list from the index `from` up to the index `end`. */
  wireReceived(frames: readonly Frame[], from: number, end: number): void;
  /** Combines all events that occur during `work` into one turn. */
  turn(work: () => void): void;
  /** Marks the end of a message within a turn. */
  endMessage(): void;
}

export interface SessionOptions {
  readonly connectionId: string;
  readonly compiled: Compiled;
  readonly transports: readonly Transport[];
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number | undefined;
  random?(): number;
  /** Calls `work` after the current turn. By default, `work` is called in a microtask. */
  soon?(work: () => void): void;
}

type Phase = 'away' | 'greeting' | 'loading' | 'ready' | 'resting';

/** The pause before the next attempt after a device has reported a fault or refused the connection, in milliseconds. */
const refusedPauseMs = 30_000;
/** The maximum number of ETags that are kept, and the maximum length of an ETag in characters. */
const maxEtags = 1024;
const maxEtagLength = 256;
/**
 * The maximum number of encoded requests in the cache, and their maximum length. The cache is useful because polls repeat the same requests
 * while the device is online.
 */
const maxKeptRequests = 256;
const maxKeptLength = 1024;
/** The maximum total length of unexpected messages that a device may send before the first expected message, in characters. */
const maxUnexpectedLength = 16_384;
/** The maximum number of frames that are handled in one turn if more frames arrive at once. */
const framesPerTurn = 64;

export class Session {
  readonly #options: SessionOptions;
  readonly #events: SessionEvents;
  readonly #compiled: Compiled;
  readonly #link: DeviceLink;
  readonly #requests: Requests;
  readonly #readings: Readings;
  readonly #questions: Questions;
  readonly #writes: PendingWrites;
  readonly #codec: LinkCodec | undefined;
  #phase: Phase = 'away';
  /** Whether the values are up to date. */
  #isFresh = false;
  #framer: Framer | undefined;
  #telnet: TelnetFilter | undefined;
  #keepsFrames = false;
  /** The timer for the time limit of the latest greeting. Over HTTP, the hub may greet repeatedly. */
  #greetLimit = Subscription.EMPTY;
  #flushing: Subscription | undefined;
  #step = 0;
  #first: Matcher | undefined;
  /** Whether the device has sent an expected message since the link was opened. */
  #hasHeard = false;
  readonly #hasQuestions: boolean;
  /** Whether the device has sent an unexpected message since the link was opened. */
  #hasOthers = false;
  /** The total length of the unexpected messages before the first expected message, in characters. */
  #unexpectedLength = 0;
  #isTaking = false;
  #requestNumber = 0;
  readonly #saved = new Map<string, Value>();
  /** The fault that keeps the device from working; undefined if there is no fault. */
  #fault: Pick<Compiled['faults'][number], 'reason'> | undefined;
  // HTTP
  readonly #stream: EventStream | undefined;
  /** The ETag of the last answer to each question, keyed by the question's text. */
  readonly #etags = new Map<string, string>();
  /** The encoded requests, keyed by the text of the request. */
  readonly #requestBytes = new KeptResults<Buffer>(maxKeptRequests);
  readonly #lastAnswers = new LastAnswers();
  /** The tokens that the greeting has received, which must be masked in wire traces. */
  #tokens: readonly string[] = [];
  /** The request for the current step of the greeting. */
  #greetRequest: object | undefined;
  /** The phase in which the session last fetched new credentials, and the time at which it did so, in milliseconds. */
  #renewedIn: Phase | undefined;
  #renewedMs = Number.NEGATIVE_INFINITY;
  #heardMs = Number.NEGATIVE_INFINITY;
  /** The last unexpected answer, which the connection's state mentions as the reason. */
  #refusal: string | undefined;

  constructor(options: SessionOptions, events: SessionEvents) {
    const { compiled, scheduler } = options;
    this.#options = options;
    this.#events = events;
    this.#compiled = compiled;
    const { families, groups } = compiled;
    this.#hasQuestions = [...families, ...groups.values()].some(({ ask }) => ask !== undefined);
    this.#link = new DeviceLink(
      {
        transports: options.transports,
        connectTimeoutMs: options.connectTimeoutMs,
        idleTimeoutMs: options.idleTimeoutMs,
        hearsOnlyReported: compiled.keepAlive?.replies.length !== 0, // otherwise, any message may be the reply to the keep-alive
        scheduler,
        ...(options.random === undefined ? {} : { random: options.random }),
      },
      {
        opened: (transport) => this.#opened(transport),
        received: (bytes, about) => (compiled.isHttp ? this.#receivedHttp(bytes, about) : this.#received(bytes)),
        failed: (request, reason, isHeard) => this.#failed(request, reason, isHeard),
        exchanged: (direction, bytes) => this.#wireHttp(direction, bytes.toString()),
        ended: (reason, code) => this.#ended(reason, code),
      },
    );
    this.#stream = compiled.events === undefined ? undefined : this.#createStream(compiled.events);
    this.#requests = new Requests({
      window: compiled.window,
      spacingMs: compiled.spacingMs,
      isOfBytes: compiled.format === 'hex',
      scheduler,
      send: (texts, request) => {
        for (const text of texts)
          if (compiled.isHttp) this.#sendQuestion(text, request);
          else this.#send(text);
      },
      http: compiled.isHttp ? this.#httpOptions() : undefined,
      isUnasked: (message) =>
        compiled.unasked.candidates(message).some(({ matcher }) => matcher.match(message) !== undefined),
      fail: (reason) => this.#link.fail(reason),
      idle: () => this.#rest(),
      ...(options.soon === undefined ? {} : { soon: options.soon }),
    });
    this.#readings = new Readings(compiled, options.log, {
      set: (instance, value) =>
        events.set(instance.id, value, value === undefined ? undefined : this.#writes.confirm(instance, value)),
      discovered: (instance) => events.declare([instance]),
      withdrawn: (instance) => {
        this.#writes.giveUp(
          instance,
          new HubError(
            'unavailable',
            `${options.connectionId}/${instance.id}: the device no longer has this parameter`,
          ),
        );
        events.withdraw([instance.id]);
      },
      announced: (instance, ask) => this.#questions.askInstance(instance, ask),
      changed: (groupName) => this.#questions.askAgain(groupName, undefined),
    });
    this.#questions = new Questions({
      compiled,
      scheduler,
      log: options.log,
      readings: this.#readings,
      scope: (known) => (compiled.constants.size + this.#saved.size === 0 ? known : this.#scope(known)),
      nextId: () => ++this.#requestNumber,
      request: (request) => this.#add(request, false),
      save: (found) => this.#save(found),
    });
    this.#writes = new PendingWrites({
      connectionId: options.connectionId,
      compiled,
      scheduler,
      log: options.log,
      isOnline: () => this.#isFresh || (this.#phase === 'loading' && this.#hasHeard),
      scope: (more) => this.#scope(more),
      nextId: () => ++this.#requestNumber,
      request: (request) => this.#add(request, true),
      set: (instance, value) => this.#readings.set(instance, value),
      take: (instance, reported) => this.#readings.take(instance, reported),
      settle: (id, error) => events.settle(id, error),
      askAgain: (name, instance) => this.#questions.askAgain(name, instance),
    });
    this.#codec =
      compiled.codec === undefined
        ? undefined
        : createSwP08({
            send: (bytes) => this.#sendFrame(bytes),
            sendRaw: (bytes) => this.#sendRaw(bytes),
            fail: (reason) => this.#link.fail(reason),
            scheduler,
          });
  }

  start(): void {
    this.#link.start();
  }

  stop(): Promise<void> {
    this.#greetLimit.unsubscribe();
    this.#flushing?.unsubscribe();
    this.#stream?.clear();
    this.#requests.clear('the connection was stopped');
    this.#questions.clear(); // after the requests, because the end of a request may start polls
    this.#writes.stop();
    this.#codec?.reset();
    return this.#link.stop();
  }

  /**
   * Converts the input of a write to a value, provided that the device is online. Errors: `unavailable`, `out-of-range`, `not-convertible`.
   */
  accept(instance: Instance, input: unknown): Value {
    return this.#writes.accept(instance, input);
  }

  /** Converts the input of a write to a value, regardless of whether the device is online. Errors: `out-of-range`, `not-convertible`. */
  check(instance: Instance, input: unknown): Value {
    return this.#writes.check(instance, input);
  }

  /** Queues a value. It replaces a value for the same parameter that has not been sent yet. */
  write(instance: Instance, value: Value, change: Change | undefined): void {
    this.#writes.write(instance, value, change);
  }

  // The link

  #opened(transport: Transport): void {
    const { framing, maxFrameBytes, isTelnet, greet } = this.#compiled;
    this.#keepsFrames = transport.keepsFrames;
    this.#framer = createFramer(framing ?? { kind: 'whole' }, maxFrameBytes);
    this.#telnet = isTelnet ? new TelnetFilter() : undefined;
    this.#first = undefined;
    this.#step = 0;
    this.#hasHeard = this.#hasOthers = false;
    this.#unexpectedLength = 0;
    this.#phase = 'greeting';
    this.#codec?.reset();
    this.#refusal = undefined;
    this.#limitGreeting();
    if (greet.length > 0) this.#greet(greet[0]!);
    else this.#greeted();
  }

  #limitGreeting(): void {
    const limitMs = this.#compiled.timeoutMs * 5;
    this.#greetLimit.unsubscribe();
    this.#greetLimit = this.#options.scheduler.schedule(() => {
      const isUnheard = this.#phase === 'loading' && !this.#hasHeard;
      const reason = this.#refusal ?? `the device sent none of the expected messages within ${limitMs / 1000} s`;
      if (this.#phase === 'greeting' || (isUnheard && this.#hasQuestions)) this.#link.fail(reason);
      else if (isUnheard && this.#hasOthers) this.#events.away(reason); // an expected message may still arrive
    }, limitMs);
  }

  #greet(step: Greeting): void {
    const values = this.#scope([['id', ++this.#requestNumber]]);
    try {
      for (const matcher of step.send)
        if (this.#compiled.isHttp) this.#sendGreeting(matcher.format(values));
        else this.#send(matcher.format(values));
    } catch (error) {
      this.#link.fail(messageOf(error));
      return;
    }
    if (step.reply === undefined && step.or.length === 0 && !this.#compiled.isHttp) this.#stepDone(step, undefined);
  }

  #stepDone(step: Greeting, found: ReadonlyMap<string, Value> | undefined): void {
    if (step.saves && found !== undefined) this.#save(found);
    if (found !== undefined && step.first !== undefined) this.#first = step.first;
    const next = this.#compiled.greet[++this.#step];
    if (next === undefined) this.#greeted();
    else this.#greet(next);
  }

  /** Handles a message during the greeting. Returns false if the message does not belong to the greeting. */
  #greetedBy(message: Message): boolean {
    const step = this.#compiled.greet[this.#step];
    if (step === undefined) return this.#readyBy(message);
    const found = step.reply?.match(message);
    if (found !== undefined) this.#stepDone(step, found);
    else if (firstMatch(step.or, message)[0] !== undefined)
      this.#stepDone({ ...step, saves: false, first: undefined }, undefined);
    else return false;
    return true;
  }

  #readyBy(message: Message): boolean {
    if (firstMatch(this.#compiled.ready, message)[0] === undefined) return false;
    this.#load();
    return true;
  }

  /** Continues after the greeting: asks all questions, or first waits until the device reports that it is ready. */
  #greeted(): void {
    const before = this.#renewedIn;
    this.#renewedMs = this.#options.scheduler.now();
    if (before !== undefined) {
      this.#renewedIn = undefined;
      this.#phase = before;
      this.#requests.hold(false);
      if (this.#stream?.isRefused === true) this.#stream.start();
    } else if (this.#compiled.ready.length === 0) this.#load();
    else this.#step = this.#compiled.greet.length;
  }

  /** Asks all questions once, after the greeting. */
  #load(): void {
    if (this.#isFresh) {
      this.#phase = 'ready'; // the hub has only closed the link between two requests
      this.#requests.hold(false);
      return;
    }
    const { greet, ready, families, keepAlive } = this.#compiled;
    this.#phase = 'loading';
    this.#requests.hold(false);
    this.#stream?.start(); // before the questions are sent, so that no change is missed
    this.#questions.load(() => {
      if (!this.#isTaking) this.#ready(); // otherwise, `#takeAll` first handles the message that answers the last question
    });
    if (!this.#questions.isLoaded) return;
    const hears = families.some(({ isRead }) => isRead) || (keepAlive !== undefined && keepAlive.replies.length > 0);
    this.#questions.keepAlive();
    if (this.#stream !== undefined && !this.#hasHeard) return;
    if (this.#hasHeard || !hears || greet.some(({ reply }) => reply !== undefined) || ready.length > 0) this.#ready();
  }

  /** Ends the loading phase after all questions have been answered or, if there are no questions, after a message has arrived. */
  #ready(): void {
    if (this.#phase !== 'loading') return;
    if (this.#hasQuestions && !this.#hasHeard) {
      this.#link.fail(this.#refusal ?? 'the device does not answer');
      return;
    }
    this.#phase = 'ready';
    this.#link.prove();
    this.#isFresh = true;
    this.#questions.poll();
    this.#writes.replay();
    this.#events.running();
    this.#rest();
  }

  /** Closes the link if it is opened separately for each request and no request is waiting. */
  #rest(): void {
    if (!this.#compiled.isPerRequest || this.#phase !== 'ready' || !this.#requests.isIdle) return;
    this.#phase = 'resting';
    this.#greetLimit.unsubscribe();
    this.#requests.hold(true);
    this.#link.rest();
  }

  /** Handles the end of the link. Returns the minimum pause before the next attempt, in milliseconds. */
  #ended(reason: string, code: number | undefined): number {
    const pauseMs = this.#requests.pauseMs;
    const fault = this.#fault ?? this.#compiled.faults.find(({ close }) => close !== undefined && close === code);
    this.#fault = undefined;
    this.#phase = 'away';
    this.#isFresh = false;
    this.#isTaking = false;
    this.#framer = undefined;
    this.#greetLimit.unsubscribe();
    this.#flushing?.unsubscribe();
    this.#flushing = undefined;
    this.#questions.clear();
    this.#writes.clearQueue();
    this.#codec?.reset();
    this.#stream?.clear();
    this.#etags.clear();
    this.#lastAnswers.clear();
    this.#greetRequest = this.#renewedIn = undefined;
    this.#requests.clear(`the device is offline: ${reason}`);
    this.#writes.giveUpAll(reason);
    this.#events.away(fault?.reason ?? reason);
    return Math.max(pauseMs, fault === undefined ? 0 : refusedPauseMs);
  }

  #received(chunk: Uint8Array): void {
    const { framing } = this.#compiled;
    let bytes = chunk;
    if (this.#telnet !== undefined) {
      const { data, answer } = this.#telnet.push(chunk);
      if (answer.length > 0) this.#link.send(answer);
      bytes = data;
    }
    const framer = this.#framer!;
    const frames = framer.push(bytes);
    if (this.#keepsFrames && framing?.kind === 'end') frames.push(...framer.push(framing.ends[0]!)); // a datagram ends its last frame
    this.#takeAll(frames, framer);
    if (framing?.kind === 'idle') {
      this.#flushing?.unsubscribe();
      this.#flushing = this.#options.scheduler.schedule(() => {
        try {
          this.#takeAll(framer.flush(), framer);
        } catch (error) {
          this.#link.fail(`internal error: ${messageOf(error)}`);
        }
      }, framing.idleMs);
    }
  }

  /** Handles received frames, several in one turn. */
  #takeAll(frames: readonly Frame[], framer: Framer): void {
    for (let from = 0; from < frames.length && this.#framer === framer; from += framesPerTurn)
      this.#events.turn(() => {
        const end = Math.min(frames.length, from + framesPerTurn);
        this.#events.wireReceived(frames, from, end);
        const texts = this.#codec === undefined ? textsOf(frames, from, end, this.#compiled.encoding) : undefined;
        for (let place = from; place < end && this.#framer === framer; place++) {
          const text = texts === undefined ? this.#decode(frames[place]!) : texts[place - from];
          if (text !== undefined) this.#message(new Message(text, this.#treeFormat));
          this.#events.endMessage();
        }
      });
  }

  /** Returns the message in a frame of the link codec, or undefined if the frame contains no message. */
  #decode(frame: Frame): string | undefined {
    return this.#codec!.received(frame.toBuffer())?.toString(this.#compiled.encoding);
  }

  /** Closes the link if the message matches one of the description's faults. Returns whether it does. */
  #refuses(message: Message): boolean {
    const { faults } = this.#compiled;
    const fault = faults.length === 0 ? undefined : faults.find(({ matcher }) => matcher?.match(message) !== undefined);
    if (fault !== undefined) this.#failFor(fault);
    return fault !== undefined;
  }

  #failFor(fault: Pick<Compiled['faults'][number], 'reason'>): void {
    this.#fault = fault;
    this.#link.fail(fault.reason);
  }

  #message(message: Message): void {
    if (this.#refuses(message)) return;
    this.#readings.begin();
    if (this.#phase === 'greeting' && this.#greetedBy(message)) {
      this.#hasHeard = true;
      this.#link.hear();
      this.#readings.readUnasked(message);
      return;
    }
    this.#isTaking = true;
    const taken = this.#phase === 'greeting' ? undefined : this.#requests.take(message);
    this.#isTaking = false;
    const isAnswer = taken === 'answer'; // a part alone proves nothing, because it may be garbage
    const isUnasked = this.#readings.readUnasked(message);
    if (isAnswer || isUnasked) {
      this.#hasHeard = true;
      this.#link.hear();
    }
    const isLoaded = this.#questions.isLoaded && (this.#hasHeard || this.#hasQuestions);
    if (this.#phase === 'loading' && isLoaded) this.#ready();
    if (taken !== undefined || isUnasked) return;
    this.#hasOthers = true;
    this.#notUnderstood(message);
    if (!this.#hasHeard) this.#countUnexpected(message);
  }

  /** Counts an unexpected message, and closes the link if the device has sent too many. */
  #countUnexpected({ text }: Message): void {
    this.#unexpectedLength += text.length;
    const isAwaited = this.#phase === 'greeting' || (this.#phase === 'loading' && this.#hasQuestions);
    if (isAwaited && this.#unexpectedLength > maxUnexpectedLength)
      this.#link.fail(
        `the device has sent only unexpected messages, more than ${maxUnexpectedLength / 1024} KiB of them`,
      );
  }

  #notUnderstood(message: Message): void {
    const { log } = this.#options;
    if (log.isDebugging === false) return; // a device may send unexpected data all day
    log.debug({}, `unexpected message: ${shown(message, this.#compiled.format === 'hex')}`, 'not understood');
  }

  // HTTP

  #httpOptions(): HttpOptions {
    return {
      cancel: (request) => this.#link.cancel(request),
      heard: (isExpected, reason) => this.#heard(isExpected, reason),
      accepted: (request, { head }) => {
        const etag = head!.headers.etag;
        if (request.isWrite || etag === undefined || etag.length > maxEtagLength || head!.status !== 200) return;
        if (this.#etags.get(request.text) === etag) return;
        this.#etags.delete(request.text);
        this.#etags.set(request.text, etag);
        if (this.#etags.size > maxEtags) this.#etags.delete(this.#etags.keys().next().value!);
      },
      unanswered: (reason, sinceMs, isRefusal) => this.#unanswered(reason, sinceMs, isRefusal),
      renew: (sentMs) => this.#renew(sentMs),
    };
  }

  #createStream(events: Matcher): EventStream {
    const { scheduler, log } = this.#options;
    return new EventStream({
      scheduler,
      send: (lastId, key) => {
        try {
          const text = events.format(this.#scope([]));
          const sentId = Buffer.from(lastId).toString('latin1'); // the ID is UTF-8 (WHATWG HTML, section 9.2.4), but undici writes Latin-1
          this.#sendHttp(lastId === '' ? text : `${text}\nlast-event-id: ${sentId}`, key);
        } catch (error) {
          this.#link.fail(messageOf(error));
        }
      },
      opened: (isAgain) => {
        this.#heard(true, '');
        if (isAgain) this.#questions.askAll();
        else if (this.#phase === 'loading' && this.#questions.isLoaded) this.#ready();
      },
      unanswered: (reason, sinceMs) => this.#unanswered(reason, sinceMs, false),
      pauseOf: ({ status, headers }) => (isBusy(status) ? this.#requests.pause(headers['retry-after']) : 0),
      refused: ({ status, statusText }, sentMs, isFirst) => {
        if (status === 401 && isFirst && this.#renew(sentMs)) return;
        const reason = `the device answered ${status} ${statusText}`.trimEnd();
        if (status === 429 || status >= 500) this.#unanswered(reason, sentMs, false);
        else this.#failFor({ reason: `${events.text}: ${reason}` });
      },
      ended: () => log.warn({}, 'the device has no event stream (status 204)'),
    });
  }

  /** Called when the device has sent an answer or an event. */
  #heard(isExpected: boolean, reason: string): void {
    this.#heardMs = this.#options.scheduler.now();
    if (isExpected) {
      this.#hasHeard = true;
      this.#link.hear();
    } else this.#refusal = reason;
  }

  /** Called when a request has not been answered. The device is then offline, unless it has answered another request since `sinceMs`. */
  #unanswered(reason: string, sinceMs: number, isRefusal: boolean): void {
    if (this.#heardMs >= sinceMs) return; // the device has answered another request
    if (isRefusal)
      this.#failFor({
        reason: this.#compiled.greet.length > 0 || reason.endsWith(')') ? reason : `${reason}: set auth`,
      });
    else this.#link.fail(reason);
  }

  /**
   * Repeats the greeting, because the device has refused the credentials in a request that was sent at `sentMs`. Returns false if the
   * description has no greeting.
   */
  #renew(sentMs: number): boolean {
    const [first] = this.#compiled.greet;
    if (first === undefined) return false;
    if (this.#phase === 'greeting' || sentMs < this.#renewedMs) return true;
    this.#renewedIn = this.#phase;
    this.#phase = 'greeting';
    this.#step = 0;
    this.#requests.hold(true);
    this.#limitGreeting();
    this.#greet(first);
    return true;
  }

  #sendHttp(text: string, request: object): void {
    const bytes = this.#requestBytes.get(text) ?? this.#bytesOf(text);
    if (this.#tokens.length === 0) this.#events.wire('out', bytes);
    else this.#wireHttp('out', text);
    this.#link.send(bytes, request);
  }

  #bytesOf(text: string): Buffer {
    const bytes = Buffer.from(text);
    return text.length > maxKeptLength ? bytes : this.#requestBytes.keep(text, bytes);
  }

  #sendGreeting(text: string): void {
    this.#greetRequest = {};
    this.#sendHttp(text, this.#greetRequest);
  }

  #sendQuestion(text: string, request: SentRequest): void {
    // not for writes: without the ETag, the device sends the value that confirms the write
    const etag = request.isWrite || this.#writes.isPending ? undefined : this.#etags.get(text);
    request.text = text;
    request.isConditional = etag !== undefined;
    this.#sendHttp(etag === undefined ? text : withHeader(text, 'if-none-match', etag), request);
  }

  #receivedHttp(bytes: Uint8Array, about: Received | undefined): void {
    this.#events.turn(() => {
      if (about?.head !== undefined) this.#takeHttp(this.#answerOf(bytes, about.request, about.head), about.request);
      else if (about?.event !== undefined)
        this.#takeHttp(new HttpMessage(this.#textOf(bytes), this.#treeFormat, undefined, about.event), about.request);
      else if (about === undefined)
        for (const message of readPlayed(this.#textOf(bytes), this.#treeFormat)) this.#takeHttp(message, undefined);
      else this.#link.hear(); // data without an event, such as a comment
      this.#events.endMessage();
    });
  }

  /** Returns an answer as a message. If the body equals the body of the last answer to this request, it is not decoded again. */
  #answerOf(bytes: Uint8Array, request: object, head: HttpHead): HttpMessage {
    const { text: question, isWrite } = request as Partial<SentRequest>;
    const read = () => new HttpMessage(this.#textOf(bytes), this.#treeFormat, head, undefined);
    return question === undefined || isWrite !== false ? read() : this.#lastAnswers.read(question, bytes, head, read);
  }

  #textOf(bytes: Uint8Array): string {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(this.#compiled.encoding);
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  get #treeFormat(): TreeFormat {
    return this.#compiled.format === 'xml' ? 'xml' : 'json';
  }

  #takeHttp(message: HttpMessage, request: object | undefined): void {
    const { head, event } = message;
    const isGreeting = this.#greetRequest !== undefined && (request ?? this.#greetRequest) === this.#greetRequest;
    if (!isGreeting || head === undefined) this.#wireOf(message);
    if (this.#refuses(message)) return;
    if (event !== undefined) {
      this.#readings.begin();
      this.#stream?.took(event);
      this.#heard(true, '');
      if (!this.#readings.readUnasked(message)) this.#notUnderstood(message);
    } else if (request !== undefined && this.#stream?.owns(request) === true) this.#stream.answered(head!);
    else if (isGreeting) this.#takeGreeting(message);
    else {
      const key = request ?? this.#requests.oldest;
      this.#readings.begin();
      this.#isTaking = true;
      if (key !== undefined) this.#requests.answer(key, message);
      this.#isTaking = false;
      if (this.#phase === 'loading' && this.#questions.isLoaded) this.#ready();
    }
  }

  #takeGreeting(message: HttpMessage): void {
    const step = this.#compiled.greet[this.#step]!;
    this.#greetRequest = undefined;
    const isPossible = (matcher: Matcher) =>
      message.isOk || (matcher instanceof AnswerPattern && matcher.status !== undefined);
    const found =
      step.reply === undefined
        ? message.isOk
          ? new Map<string, Value>()
          : undefined
        : isPossible(step.reply)
          ? step.reply.match(message)
          : undefined;
    if (found !== undefined && step.saves)
      this.#tokens = [...new Set([...this.#tokens, ...tokensOf(found)])].slice(-maxTokens);
    this.#wireOf(message);
    if (found !== undefined) {
      this.#heard(true, '');
      this.#stepDone(step, found);
    } else if (firstMatch(step.or.filter(isPossible), message)[0] !== undefined) {
      this.#heard(true, '');
      this.#stepDone({ ...step, saves: false, first: undefined }, undefined);
    } else this.#refuseGreeting(step, message.head!);
  }

  #refuseGreeting(step: Greeting, { status, statusText, headers }: HttpHead): void {
    if (isBusy(status)) this.#requests.pause(headers['retry-after']); // the link remains closed for at least this long
    const isOk = status >= 200 && status < 300;
    const answers = isOk ? 'an unexpected answer' : `${status} ${statusText}`.trimEnd();
    const reason = `the device answered ${step.send[0]?.text ?? 'the greeting'} with ${answers}`;
    if (status === 401 || status === 403) this.#failFor({ reason });
    else this.#link.fail(reason);
  }

  #failed(request: object, reason: string, isHeard: boolean): void {
    if (isHeard) this.#heard(false, reason);
    if (request === this.#greetRequest) this.#link.fail(reason);
    else if (this.#stream?.owns(request) === true) this.#stream.failed(reason);
    else this.#requests.failed(request, reason);
  }

  #wireOf({ text, head, event }: HttpMessage): void {
    if (head !== undefined) this.#wireHttp('in', writeAnswer(head, text));
    else this.#wireHttp('in', `event: ${event!.name}${event!.id === '' ? '' : `\nid: ${event!.id}`}\ndata: ${text}`);
  }

  #wireHttp(direction: 'in' | 'out', text: string): void {
    this.#events.wire(direction, Buffer.from(this.#tokens.length === 0 ? text : withoutSecrets(text, this.#tokens)));
  }

  #add(request: RequestOptions, isWrite: boolean): void {
    this.#requests.add(request, isWrite);
    if (this.#phase === 'resting') this.#link.start();
  }

  #save(found: Iterable<readonly [string, Value]>): void {
    for (const [name, value] of found) this.#saved.set(name, ownValue(value));
  }

  /** Returns the values that messages may use: the constants, the saved values, and the values in `more`. */
  #scope(more: Iterable<readonly [string, Value]>): Map<string, Value> {
    return new Map([...this.#compiled.constants, ...this.#saved, ...more]);
  }

  // Sending

  #send(text: string): void {
    let whole = text;
    if (this.#first !== undefined) {
      try {
        whole = this.#first.format(this.#scope([])) + text;
      } catch (error) {
        this.#link.fail(`first: ${messageOf(error)}`);
        return;
      }
      this.#first = undefined;
    }
    const payload = Buffer.from(whole, this.#compiled.encoding);
    if (this.#codec !== undefined) this.#codec.send(payload);
    else this.#sendFrame(payload);
  }

  #sendFrame(payload: Buffer): void {
    this.#events.wire('out', payload);
    this.#sendRaw(this.#framer === undefined ? payload : this.#framer.wrap(payload));
  }

  #sendRaw(bytes: Uint8Array): void {
    this.#link.send(bytes);
  }
}

/** Returns whether a status means that the device currently accepts no requests. */
function isBusy(status: number): boolean {
  return status === 429 || status === 503;
}

/** The maximum number of tokens that are masked in wire traces. */
const maxTokens = 64;

/** Returns the tokens among the values that the greeting has received, in every form in which messages may contain them. */
function tokensOf(found: ReadonlyMap<string, Value>): readonly string[] {
  const texts = [...found.values()].filter((value) => typeof value === 'string');
  return texts.flatMap((text) => [text, encodeURIComponent(text)]);
}

function withHeader(text: string, name: string, value: string): string {
  const end = text.indexOf('\n\n');
  return end < 0 ? `${text}\n${name}: ${value}` : `${text.slice(0, end)}\n${name}: ${value}${text.slice(end)}`;
}
