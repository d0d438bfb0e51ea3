// A session with a device: the link, its frames, and the greeting after a connect. It gives each message to the request that it answers
// (`requests.ts`) or to `readings.ts`; `questions.ts` asks, `pending-writes.ts` writes.

import { type SchedulerLike, Subscription } from 'rxjs';
import { createFramer, type Framer, TelnetFilter } from '../../device/frames.ts';
import { DeviceLink } from '../../device/link.ts';
import { type Matcher, Message } from '../../device/message.ts';
import type { Transport } from '../../device/transport.ts';
import { HubError, messageOf } from '../../model/error.ts';
import type { Change } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import type { Compiled, Greeting, Instance } from './compiled.ts';
import { PendingWrites } from './pending-writes.ts';
import { createSwP08, type LinkCodec } from './protocols/sw-p-08.ts';
import { Questions } from './questions.ts';
import { Readings } from './readings.ts';
import { firstMatch, type RequestOptions, Requests, shown } from './requests.ts';

/** The reports of a session to the hub. */
export interface SessionEvents {
  /** `value` undefined: the device does not know the value. */
  set(id: string, value: Value | undefined, because: Change | undefined): void;
  /** A write has ended without confirmation: the device refused it, or did not answer. */
  settle(id: string, error: HubError): void;
  declare(instances: readonly Instance[]): void;
  withdraw(ids: readonly string[]): void;
  /** The device is online, and its values are up to date. */
  running(): void;
  /** The device is offline. */
  away(reason: string): void;
  /** A frame was sent or received. */
  wire(direction: 'in' | 'out', bytes: Uint8Array): void;
  /** Combines all events during the work, which handles messages, into one turn. */
  turn(work: () => void): void;
  /** The next message follows. */
  endMessage(): void;
}

export interface SessionOptions {
  readonly compiled: Compiled;
  readonly transports: readonly Transport[];
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number | undefined;
  random?(): number;
  /** Runs work after the current turn. Default: in a microtask. */
  soon?(work: () => void): void;
}

type Phase = 'away' | 'greeting' | 'loading' | 'ready' | 'resting';

/** The pause before the next attempt with a device that refuses to work. */
const refusedPauseMs = 30_000;
/** The maximum number of messages of one read in a turn. */
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
  #timers = new Subscription();
  #flushing: Subscription | undefined;
  #step = 0;
  #first: Matcher | undefined;
  /** Whether the device has sent an expected message. */
  #hasHeard = false;
  readonly #hasQuestions: boolean;
  /** Whether the device has sent a message that is not expected. */
  #hasOthers = false;
  #isTaking = false;
  #requestNumber = 0;
  readonly #saved = new Map<string, Value>();
  /** Why the device refuses to work. */
  #fault: Compiled['faults'][number] | undefined;

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
        hearsOnlyReported: compiled.keepAlive?.replies.length !== 0, // else any message may be its answer
        scheduler,
        ...(options.random === undefined ? {} : { random: options.random }),
      },
      {
        opened: (transport) => this.#opened(transport),
        received: (bytes) => this.#received(bytes),
        ended: (reason, code) => this.#ended(reason, code),
      },
    );
    this.#requests = new Requests({
      window: compiled.window,
      spacingMs: compiled.spacingMs,
      isOfBytes: compiled.format === 'hex',
      scheduler,
      send: (texts) => {
        for (const text of texts) this.#send(text);
      },
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
        this.#writes.giveUp(instance, new HubError('unavailable', `${instance.id}: the device no longer has it`));
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
      scope: (more) => this.#scope(more),
      nextId: () => ++this.#requestNumber,
      request: (request) => this.#add(request, false),
      save: (found) => this.#save(found),
    });
    this.#writes = new PendingWrites({
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
    this.#timers.unsubscribe();
    this.#questions.clear();
    this.#flushing?.unsubscribe();
    this.#requests.clear('the connection was stopped');
    this.#writes.stop();
    this.#codec?.reset();
    return this.#link.stop();
  }

  /** Checks a value before it is written. Errors: `unavailable`, `out-of-range`, `not-convertible`. */
  accept(instance: Instance, input: unknown): Value {
    return this.#writes.accept(instance, input);
  }

  /** Checks a value, whether the device is online or not. Errors: `out-of-range`, `not-convertible`. */
  check(instance: Instance, input: unknown): Value {
    return this.#writes.check(instance, input);
  }

  /** Sends a value. It replaces an earlier value of the parameter that is not sent yet. */
  write(instance: Instance, value: Value, change: Change | undefined): void {
    this.#writes.write(instance, value, change);
  }

  // The link.

  #opened(transport: Transport): void {
    const { framing, maxFrameBytes, isTelnet, timeoutMs, greet } = this.#compiled;
    this.#keepsFrames = transport.keepsFrames;
    this.#framer = createFramer(framing ?? { kind: 'whole' }, maxFrameBytes);
    this.#telnet = isTelnet ? new TelnetFilter() : undefined;
    this.#timers = new Subscription();
    this.#first = undefined;
    this.#step = 0;
    this.#hasHeard = this.#hasOthers = false;
    this.#phase = 'greeting';
    this.#codec?.reset();
    const limitMs = timeoutMs * 5;
    this.#timers.add(
      this.#options.scheduler.schedule(() => {
        const isUnheard = this.#phase === 'loading' && !this.#hasHeard;
        const reason = `the device sent no expected message within ${limitMs / 1000} s`;
        if (this.#phase === 'greeting' || (isUnheard && this.#hasQuestions)) this.#link.fail(reason);
        else if (isUnheard && this.#hasOthers) this.#events.away(reason); // the first expected one may still come
      }, limitMs),
    );
    if (greet.length > 0) this.#greet(greet[0]!);
    else this.#greeted();
  }

  #greet(step: Greeting): void {
    const values = this.#scope([['id', ++this.#requestNumber]]);
    try {
      for (const matcher of step.send) this.#send(matcher.format(values));
    } catch (error) {
      this.#link.fail(messageOf(error));
      return;
    }
    if (step.reply === undefined && step.or.length === 0) this.#stepDone(step, undefined);
  }

  #stepDone(step: Greeting, found: ReadonlyMap<string, Value> | undefined): void {
    if (step.saves && found !== undefined) this.#save(found);
    if (found !== undefined && step.first !== undefined) this.#first = step.first;
    const next = this.#compiled.greet[++this.#step];
    if (next === undefined) this.#greeted();
    else this.#greet(next);
  }

  /** Handles a message during the greeting; false: it is not part of the greeting. */
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

  /** Continues after the greeting: loads, or waits for the message that the device is ready. */
  #greeted(): void {
    if (this.#compiled.ready.length === 0) this.#load();
    else this.#step = this.#compiled.greet.length;
  }

  /** Requests all values once. */
  #load(): void {
    if (this.#isFresh) {
      this.#phase = 'ready'; // the link was only closed between requests
      this.#requests.hold(false);
      return;
    }
    const { greet, ready, families, keepAlive } = this.#compiled;
    this.#phase = 'loading';
    this.#requests.hold(false);
    this.#questions.load(() => {
      if (!this.#isTaking) this.#ready(); // else the message that answers the last question is yet to be counted
    });
    if (!this.#questions.isLoaded) return;
    const hears = families.some(({ isRead }) => isRead) || (keepAlive !== undefined && keepAlive.replies.length > 0);
    this.#questions.keepAlive();
    if (this.#hasHeard || !hears || greet.some(({ reply }) => reply !== undefined) || ready.length > 0) this.#ready();
  }

  /** Ends the loading: all questions are answered, or there are none and a message has arrived. */
  #ready(): void {
    if (this.#phase !== 'loading') return;
    if (this.#hasQuestions && !this.#hasHeard) {
      this.#link.fail('the device does not answer');
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

  /** Closes a link that is opened per request, when no request waits. */
  #rest(): void {
    if (!this.#compiled.isPerRequest || this.#phase !== 'ready' || !this.#requests.isIdle) return;
    this.#phase = 'resting';
    this.#timers.unsubscribe();
    this.#requests.hold(true);
    this.#link.rest();
  }

  /** Returns the minimum pause before the next attempt, in milliseconds. */
  #ended(reason: string, code: number | undefined): number {
    const fault = this.#fault ?? this.#compiled.faults.find(({ close }) => close !== undefined && close === code);
    this.#fault = undefined;
    this.#phase = 'away';
    this.#isFresh = false;
    this.#isTaking = false;
    this.#framer = undefined;
    this.#timers.unsubscribe();
    this.#flushing?.unsubscribe();
    this.#flushing = undefined;
    this.#questions.clear();
    this.#writes.clearQueue();
    this.#codec?.reset();
    this.#requests.clear(`the device is offline: ${reason}`);
    this.#writes.giveUpAll(reason);
    this.#events.away(fault?.reason ?? reason);
    return fault === undefined ? 0 : refusedPauseMs;
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
    if (this.#keepsFrames && framing?.kind === 'end') frames.push(...framer.push(framing.ends[0]!)); // the end of a datagram ends its last frame
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

  /** Handles frames, several in one turn. */
  #takeAll(frames: readonly Buffer[], framer: Framer): void {
    for (let from = 0; from < frames.length; from += framesPerTurn)
      this.#events.turn(() => {
        const end = Math.min(frames.length, from + framesPerTurn);
        for (let place = from; place < end && this.#framer === framer; place++) {
          this.#frame(frames[place]!);
          this.#events.endMessage();
        }
      });
  }

  #frame(frame: Buffer): void {
    this.#events.wire('in', frame);
    const payload = this.#codec === undefined ? frame : this.#codec.received(frame);
    if (payload === undefined) return;
    const { encoding, format } = this.#compiled;
    this.#message(new Message(payload.toString(encoding), format === 'xml' ? 'xml' : 'json'));
  }

  #message(message: Message): void {
    const { faults } = this.#compiled;
    const fault = faults.length === 0 ? undefined : faults.find(({ matcher }) => matcher?.match(message) !== undefined);
    if (fault !== undefined) {
      this.#fault = fault;
      this.#link.fail(fault.reason);
      return;
    }
    this.#readings.begin();
    if (this.#phase === 'greeting' && this.#greetedBy(message)) {
      this.#hasHeard = true;
      this.#link.hear();
      this.#readings.readUnasked(message);
      return;
    }
    this.#isTaking = true;
    const isAnswer = this.#phase !== 'greeting' && this.#requests.take(message);
    this.#isTaking = false;
    const isUnasked = this.#readings.readUnasked(message);
    if (isAnswer || isUnasked) {
      this.#hasHeard = true;
      this.#link.hear();
    }
    const isLoaded = this.#questions.isLoaded && (this.#hasHeard || this.#hasQuestions);
    if (this.#phase === 'loading' && isLoaded) this.#ready();
    if (isAnswer || isUnasked) return;
    this.#hasOthers = true;
    this.#options.log.debug({}, `not understood: ${shown(message, this.#compiled.format === 'hex')}`, 'not understood');
  }

  #add(request: RequestOptions, isWrite: boolean): void {
    this.#requests.add(request, isWrite);
    if (this.#phase === 'resting') this.#link.start();
  }

  #save(found: Iterable<readonly [string, Value]>): void {
    for (const [name, value] of found) this.#saved.set(name, value);
  }

  /** Returns the values that a message may use. */
  #scope(more: Iterable<readonly [string, Value]>): Map<string, Value> {
    return new Map([...this.#compiled.constants, ...this.#saved, ...more]);
  }

  // Sending.

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
