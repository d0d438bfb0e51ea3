// A session with a device: the link, the greeting after a connect, questions, writes, and messages that come unasked. The state is what the
// device reports (D-46): a write is pending until the device confirms it, and is never repeated after the link has broken.

import { type SchedulerLike, Subscription } from 'rxjs';
import { createFramer, type Framer, TelnetFilter } from '../../device/frames.ts';
import { DeviceLink } from '../../device/link.ts';
import { type Matcher, Message, partAt } from '../../device/message.ts';
import type { Transport } from '../../device/transport.ts';
import { HubError, messageOf } from '../../model/error.ts';
import type { Change, ParameterDeclaration } from '../../model/parameter.ts';
import { convert, toText, type Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import {
  type Ask,
  acceptedValue,
  type Compiled,
  type Family,
  type Greeting,
  type Group,
  type Instance,
  maxParameters,
  type Read,
} from './compiled.ts';
import type { Each } from './description.ts';
import { createSwP08, type LinkCodec } from './protocols/sw-p-08.ts';
import { firstMatch, type Outcome, Requests, shown } from './requests.ts';

/** What a session reports to the hub. */
export interface SessionEvents {
  /** `value` undefined: the device does not know it. */
  set(id: string, value: Value | undefined, because: Change | undefined): void;
  /** A write has ended without confirmation: the device refused it, or did not answer. */
  settle(id: string, error: HubError): void;
  declare(instances: readonly Instance[]): void;
  withdraw(ids: readonly string[]): void;
  /** The device is there, and its values are up to date. */
  running(): void;
  /** The device is away. */
  away(reason: string): void;
  /** A frame was sent or received. */
  wire(direction: 'in' | 'out', bytes: Uint8Array): void;
  /** Makes one turn of all events during the work. */
  turn(work: () => void): void;
}

export interface SessionOptions {
  readonly compiled: Compiled;
  readonly transports: readonly Transport[];
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number | undefined;
  random?(): number;
}

/** A write that the device has not confirmed yet. */
interface Wanted {
  readonly value: Value;
  readonly change: Change | undefined;
  timer: Subscription;
}

/** A write that waits to be sent; a newer one replaces it. */
interface QueuedWrite {
  readonly instance: Instance;
  value: Value;
  change: Change | undefined;
}

type Phase = 'away' | 'greeting' | 'loading' | 'ready' | 'resting';

/** How long the hub waits before it tries a device again that refuses to work. */
const refusedPauseMs = 30_000;
/** How long a write stays pending after the device has taken it. */
const confirmMs = 5000;
/** How many messages of one read form a turn. */
const framesPerTurn = 64;
/** How many writes of triggers may wait to be sent. */
const maxTriggers = 1024;

export class Session {
  readonly #options: SessionOptions;
  readonly #events: SessionEvents;
  readonly #compiled: Compiled;
  readonly #link: DeviceLink;
  readonly #requests: Requests;
  readonly #codec: LinkCodec | undefined;
  #phase: Phase = 'away';
  /** Whether the values are up to date. */
  #isFresh = false;
  #framer: Framer | undefined;
  #telnet: TelnetFilter | undefined;
  #keepsFrames = false;
  #timers = new Subscription();
  #polls = new Subscription();
  #flushing: Subscription | undefined;
  #step = 0;
  #first: Matcher | undefined;
  /** How many of the first questions are not answered yet. */
  #loading = 0;
  #hasHeard = false;
  #requestNumber = 0;
  readonly #saved = new Map<string, Value>();
  readonly #wanted = new Map<Instance, Wanted>();
  readonly #queuedWrites = new Map<Instance, QueuedWrite>();
  readonly #queuedAsks = new Set<string>();
  readonly #known = new Set<Instance>();
  /** The discovered parameters of each family, by `keyOf` their variables. */
  readonly #discoveredOf = new Map<Family, Map<string, Instance>>();
  #discovered = 0;
  #triggers = 0;
  /** Why the device refuses to work. */
  #fault: Compiled['faults'][number] | undefined;

  constructor(options: SessionOptions, events: SessionEvents) {
    const { compiled, scheduler } = options;
    this.#options = options;
    this.#events = events;
    this.#compiled = compiled;
    this.#link = new DeviceLink(
      {
        transports: options.transports,
        connectTimeoutMs: options.connectTimeoutMs,
        idleTimeoutMs: options.idleTimeoutMs,
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
      scheduler,
      send: (texts) => {
        for (const text of texts) this.#send(text);
      },
      isUnasked: (message) =>
        compiled.unasked.candidates(message).some(({ matcher }) => matcher.match(message) !== undefined),
      fail: (reason) => this.#link.fail(reason),
      idle: () => this.#rest(),
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
    this.#polls.unsubscribe();
    this.#flushing?.unsubscribe();
    this.#requests.clear('the connection was stopped');
    for (const { timer } of this.#wanted.values()) timer.unsubscribe();
    return this.#link.stop();
  }

  /** Checks a value that is to be written now. Errors: `unavailable`, `out-of-range`, `not-convertible`. */
  accept(instance: Instance, input: unknown): Value {
    if (!this.#isFresh) throw new HubError('unavailable', `${instance.id}: the device is away`);
    return this.check(instance, input);
  }

  /** Checks a value, whether the device is there or not. Errors: `out-of-range`, `not-convertible`. */
  check(instance: Instance, input: unknown): Value {
    const value = acceptedValue(instance.family, input);
    const { write } = instance.family;
    if (typeof value === 'string') this.#expectNoEnd(value);
    if (write !== undefined) for (const text of this.#textsOf(instance, value, 0)) this.#checkText(text);
    return value;
  }

  /** Sends a value. It replaces an earlier value of the parameter that is not sent yet. */
  write(instance: Instance, value: Value, change: Change | undefined): void {
    const { write, type, isRead, described } = instance.family;
    if (write === undefined) return;
    if (!this.#isFresh) {
      if (type === 'T') this.#options.log.warn({}, `${instance.id} was not sent: the device is away`, 'not sent');
      this.#events.settle(instance.id, new HubError('unavailable', `${instance.id}: the device is away`));
      return;
    }
    if (type !== 'T') this.#want(instance, value, change);
    const queued = type === 'T' ? undefined : this.#queuedWrites.get(instance);
    if (queued !== undefined) {
      queued.value = value;
      queued.change = change;
      return;
    }
    if (type === 'T' && this.#triggers >= maxTriggers) {
      this.#options.log.warn({}, `more than ${maxTriggers} triggers wait to be sent, one was dropped`);
      return;
    }
    const one: QueuedWrite = { instance, value, change };
    if (type === 'T') this.#triggers++;
    else this.#queuedWrites.set(instance, one);
    const sent: QueuedWrite[] = [];
    const known = new Map(write.batch === undefined ? instance.values : []);
    this.#requests.add(
      {
        ...write,
        name: `write of ${instance.id}`,
        known,
        takesAny: false,
        write: () => {
          if (sent.length === 0) this.#takeQueued(one, sent);
          return this.#written(sent, known);
        },
        done: (outcome, isLate) => {
          if (isLate) return;
          if (sent.length === 0) this.#takeQueued(one, sent);
          for (const each of sent) this.#answered(each, outcome, isRead && described.optimistic !== true);
        },
      },
      true,
    );
    if (this.#phase === 'resting') this.#link.start();
  }

  /** Takes the write from the queue, and in a batch the writes behind it as well. */
  #takeQueued(one: QueuedWrite, sent: QueuedWrite[]): void {
    const { family } = one.instance;
    if (family.type === 'T') this.#triggers--;
    if (!this.#queuedWrites.has(one.instance) && family.type !== 'T') return; // another frame has sent it
    sent.push(one);
    this.#queuedWrites.delete(one.instance);
    const most = family.write?.batch?.most ?? 1;
    for (const [instance, queued] of this.#queuedWrites) {
      if (sent.length >= most) return;
      if (instance.family !== family) continue;
      sent.push(queued);
      this.#queuedWrites.delete(instance);
    }
  }

  /** Returns the messages of writes. Errors: as `Matcher.format`. */
  #written(sent: readonly QueuedWrite[], known: Map<string, Value>): readonly string[] {
    const [first] = sent;
    if (first === undefined) return [];
    const id = ++this.#requestNumber;
    known.set('id', id);
    const texts = sent.map(({ instance, value }) => this.#textsOf(instance, value, id));
    const batch = first.instance.family.write?.batch;
    if (batch === undefined) return texts[0]!;
    return [batch.start + texts.map(([text]) => text).join(batch.join) + batch.end];
  }

  /** Returns the messages that set a parameter. Errors: `out-of-range`, `not-convertible`, those of expressions. */
  #textsOf({ family, values }: Instance, value: Value, id: number): readonly string[] {
    const { send, value: compute } = family.write!;
    const all = new Map<string, Value>([
      ...this.#compiled.constants,
      ...this.#saved,
      ...values,
      ['value', value],
      ['id', id],
    ]);
    if (compute !== undefined) all.set('value', compute(all));
    return send.map((matcher) => matcher.format(all));
  }

  /** Refuses a value with the end of a message in it: it would be a second command. Errors: `out-of-range`. */
  #expectNoEnd(value: string): void {
    const { framing, format, encoding } = this.#compiled;
    if (format === 'json' || framing === undefined) return;
    const marks =
      framing.kind === 'end'
        ? [...framing.ends, ...(framing.isBlock ? [Buffer.from('\n'), Buffer.from('\r')] : [])]
        : framing.kind === 'enclosed' && framing.escapeByte === undefined
          ? [framing.start, framing.end]
          : [];
    const bytes = Buffer.from(value, encoding);
    // a single control character of the end counts: a device may take it for the whole end
    if (marks.some((mark) => [...mark].some((byte) => byte < 32 && bytes.includes(byte)) || bytes.includes(mark)))
      throw new HubError('out-of-range', 'expected a value without the end of a message in it, got one that has it');
  }

  /** Errors: `out-of-range` for a message that does not fit into a frame. */
  #checkText(text: string): void {
    const { encoding, maxFrameBytes } = this.#compiled;
    const bytes = Buffer.from(text, encoding);
    if (bytes.length > maxFrameBytes)
      throw new HubError('out-of-range', `expected a message of at most ${maxFrameBytes} bytes, got ${bytes.length}`);
    if (encoding === 'latin1' && /[^\0-\xff]/.test(text))
      throw new HubError('out-of-range', 'expected characters of Latin-1 only');
  }

  #want(instance: Instance, value: Value, change: Change | undefined): void {
    this.#wanted.get(instance)?.timer.unsubscribe();
    this.#wanted.set(instance, { value, change, timer: new Subscription() });
  }

  /** Handles the result of a write. */
  #answered({ instance, value, change }: QueuedWrite, outcome: Outcome, isReported: boolean): void {
    const { id, family } = instance;
    const wanted = this.#wanted.get(instance);
    const isNewest = wanted !== undefined && wanted.change === change && wanted.value === value;
    if ('refused' in outcome) {
      this.#options.log.warn({ parameter: id }, `${id} was not set: ${outcome.refused}`, `not set ${family.name}`);
      if (isNewest)
        this.#giveUp(
          instance,
          new HubError(this.#isFresh ? 'not-confirmed' : 'unavailable', `${id}: ${outcome.refused}`),
        );
      return;
    }
    if (family.type === 'T') return;
    const reported = outcome.found.get('value');
    if (!isReported) {
      if (isNewest) this.#set(instance, value);
    } else if (reported !== undefined) this.#take(instance, reported);
    for (const name of family.write!.asksThen) this.#askAgain(name, instance);
    const still = this.#wanted.get(instance);
    if (still === undefined || still !== wanted) return;
    still.timer.unsubscribe();
    still.timer = this.#options.scheduler.schedule(() => {
      if (this.#wanted.get(instance) === still)
        this.#giveUp(
          instance,
          new HubError('not-confirmed', `${id}: the device has not reported the value within ${confirmMs / 1000} s`),
        );
    }, confirmMs);
  }

  #giveUp(instance: Instance, error: HubError): void {
    this.#wanted.get(instance)?.timer.unsubscribe();
    if (this.#wanted.delete(instance)) this.#events.settle(instance.id, error);
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
    this.#hasHeard = false;
    this.#phase = 'greeting';
    this.#codec?.reset();
    const limitMs = timeoutMs * 5;
    this.#timers.add(
      this.#options.scheduler.schedule(() => {
        if (this.#phase === 'greeting' || (this.#phase === 'loading' && !this.#hasHeard && this.#asksAnything))
          this.#link.fail(`the device sent nothing that was expected within ${limitMs / 1000} s`);
      }, limitMs),
    );
    if (greet.length > 0) this.#greet(greet[0]!);
    else this.#greeted();
  }

  get #asksAnything(): boolean {
    const { families, groups } = this.#compiled;
    return families.some(({ ask }) => ask !== undefined) || [...groups.values()].some(({ ask }) => ask !== undefined);
  }

  #greet(step: Greeting): void {
    const values = new Map<string, Value>([...this.#compiled.constants, ...this.#saved, ['id', ++this.#requestNumber]]);
    try {
      for (const matcher of step.send) this.#send(matcher.format(values));
    } catch (error) {
      this.#link.fail(messageOf(error));
      return;
    }
    if (step.reply === undefined && step.or.length === 0) this.#stepDone(step, undefined);
  }

  #stepDone(step: Greeting, found: ReadonlyMap<string, Value> | undefined): void {
    if (step.saves) for (const [name, value] of found ?? []) this.#saved.set(name, value);
    if (found !== undefined && step.first !== undefined) this.#first = step.first;
    const next = this.#compiled.greet[++this.#step];
    if (next === undefined) this.#greeted();
    else this.#greet(next);
  }

  /** Takes a message during the greeting; false: it is not part of it. */
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

  /** Goes on after the greeting: loads, or waits for the message that says the device is ready. */
  #greeted(): void {
    if (this.#compiled.ready.length === 0) this.#load();
    else this.#step = this.#compiled.greet.length;
  }

  /** Asks for everything once. */
  #load(): void {
    if (this.#isFresh) {
      this.#phase = 'ready'; // the link had only rested
      this.#requests.hold(false);
      return;
    }
    const { greet, ready, families, groups, keepAlive } = this.#compiled;
    this.#phase = 'loading';
    this.#requests.hold(false);
    this.#loading = 0;
    const loaded = () => {
      if (--this.#loading === 0) this.#ready();
    };
    for (const group of groups.values()) if (group.ask !== undefined && this.#askGroup(group, loaded)) this.#loading++;
    for (const family of families)
      if (family.ask !== undefined && !family.isDiscovered)
        for (const instance of family.instances) if (this.#askInstance(instance, family.ask, loaded)) this.#loading++;
    if (this.#loading > 0) return;
    const hears = families.some(({ isRead }) => isRead) || (keepAlive !== undefined && keepAlive.replies.length > 0);
    if (keepAlive !== undefined) this.#askKeepAlive(keepAlive);
    if (this.#hasHeard || !hears || greet.some(({ reply }) => reply !== undefined) || ready.length > 0) this.#ready();
  }

  /** Ends the loading: all questions are answered, or there are none and a message has come. */
  #ready(): void {
    if (this.#phase !== 'loading') return;
    if (this.#asksAnything && !this.#hasHeard) {
      this.#link.fail('the device does not answer');
      return;
    }
    this.#phase = 'ready';
    this.#link.prove();
    this.#isFresh = true;
    this.#poll();
    this.#events.running();
    this.#rest();
  }

  /** Ends a link that is opened per request, when no request waits. */
  #rest(): void {
    if (!this.#compiled.isPerRequest || this.#phase !== 'ready' || !this.#requests.isIdle) return;
    this.#phase = 'resting';
    this.#timers.unsubscribe();
    this.#requests.hold(true);
    this.#link.rest();
  }

  /** Returns the least pause before the next try, in milliseconds. */
  #ended(reason: string, code: number | undefined): number {
    const fault = this.#fault ?? this.#compiled.faults.find(({ close }) => close !== undefined && close === code);
    this.#fault = undefined;
    this.#phase = 'away';
    this.#isFresh = false;
    this.#framer = undefined;
    this.#timers.unsubscribe();
    this.#polls.unsubscribe();
    this.#flushing?.unsubscribe();
    this.#flushing = undefined;
    this.#queuedAsks.clear();
    const replays = [...this.#queuedWrites.values()].filter(({ instance }) => instance.family.write?.replays === true);
    this.#queuedWrites.clear();
    this.#triggers = 0;
    this.#requests.clear(`the device is away: ${reason}`);
    for (const instance of [...this.#wanted.keys()])
      this.#giveUp(instance, new HubError('unavailable', `${instance.id}: the device is away: ${reason}`));
    for (const one of replays) this.#replays.set(one.instance, one);
    this.#events.away(fault?.reason ?? reason);
    return fault === undefined ? 0 : refusedPauseMs;
  }

  readonly #replays = new Map<Instance, QueuedWrite>();

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

  /** Takes frames, several in one turn. */
  #takeAll(frames: readonly Buffer[], framer: Framer): void {
    for (let from = 0; from < frames.length; from += framesPerTurn)
      this.#events.turn(() => {
        const end = Math.min(frames.length, from + framesPerTurn);
        for (let place = from; place < end && this.#framer === framer; place++) this.#frame(frames[place]!);
      });
  }

  #frame(frame: Buffer): void {
    this.#events.wire('in', frame);
    const payload = this.#codec === undefined ? frame : this.#codec.received(frame);
    if (payload === undefined) return;
    const { encoding, format } = this.#compiled;
    const message = new Message(payload.toString(encoding), format === 'xml' ? 'xml' : 'json');
    this.#events.turn(() => this.#message(message));
  }

  #message(message: Message): void {
    const { faults } = this.#compiled;
    const fault = faults.length === 0 ? undefined : faults.find(({ matcher }) => matcher?.match(message) !== undefined);
    if (fault !== undefined) {
      this.#fault = fault;
      this.#link.fail(fault.reason);
      return;
    }
    this.#hasHeard = true;
    if (this.#phase === 'greeting' && this.#greetedBy(message)) {
      this.#unasked(message);
      return;
    }
    const isAnswer = this.#phase !== 'greeting' && this.#requests.take(message);
    const isUnasked = this.#unasked(message);
    if (this.#phase === 'loading' && this.#loading === 0) this.#ready();
    if (!isAnswer && !isUnasked) this.#options.log.debug({}, `not understood: ${shown(message)}`, 'not understood');
  }

  /** Handles a message that comes unasked; false: no pattern matches it. */
  #unasked(message: Message): boolean {
    let isKnown = false;
    for (const one of this.#compiled.unasked.candidates(message)) {
      const found = one.matcher.match(message);
      if (found === undefined) continue;
      isKnown = true;
      if ('read' in one) this.#apply(one.read, found);
      else if ('group' in one) this.#readGroup(one.group, message, false, found);
      else {
        for (const name of one.asks) this.#askAgain(name, undefined);
        for (const { family } of one.withdraws) this.#withdraw(family, found);
      }
    }
    for (const group of this.#compiled.heads) {
      if (!message.text.startsWith(group.head!)) continue;
      isKnown = true;
      this.#readGroup(group, message, false);
    }
    return isKnown;
  }

  // Reading.

  /** Sets the parameter that a pattern has read. */
  #apply({ family, value: compute, where }: Read, found: ReadonlyMap<string, Value>): Instance | undefined {
    let values = found as Map<string, Value>;
    try {
      if (where.length > 0) values = new Map([...found, ...where.map(([name, of]) => [name, of(found)] as const)]);
      const instance = this.#find(family, values) ?? (family.isDiscovered ? this.#discover(family, values) : undefined);
      if (instance === undefined) return undefined;
      if (family.isUnknown !== undefined && !family.isUnknownByValue && family.isUnknown(values) === true) {
        this.#setUnknown(instance);
        return instance;
      }
      const value = family.type === 'T' ? 1 : compute === undefined ? values.get('value') : compute(values);
      this.#take(instance, value, values);
      return instance;
    } catch (error) {
      this.#options.log.warn({}, `${family.name} was not read: ${messageOf(error)}`, `not read ${family.name}`);
      return undefined;
    }
  }

  #find(family: Family, values: ReadonlyMap<string, Value>): Instance | undefined {
    return family.isDiscovered ? this.#discoveredOf.get(family)?.get(family.keyOf(values)) : family.find(values);
  }

  #instancesOf(family: Family): Iterable<Instance> {
    return family.isDiscovered ? (this.#discoveredOf.get(family)?.values() ?? []) : family.instances;
  }

  /** Finds a parameter. A new one is asked for, and declared when the device has answered. */
  #findInstance({ family }: Read, found: ReadonlyMap<string, Value>): Instance | undefined {
    const instance = this.#find(family, found);
    if (instance !== undefined || family.ask === undefined) return instance;
    const values = new Map(family.variables.map((name) => [name, found.get(name) ?? '']));
    this.#askInstance({ id: `${family.name} ${[...values.values()].join(' ')}`, family, values }, family.ask);
    return undefined;
  }

  #discover(family: Family, values: ReadonlyMap<string, Value>): Instance | undefined {
    if (this.#discovered >= maxParameters) {
      this.#options.log.warn({}, `the device has more than ${maxParameters} parameters, one is left out`);
      return undefined;
    }
    const instance = family.discover(values);
    if (instance === undefined) return undefined;
    const ofFamily = this.#discoveredOf.get(family) ?? new Map<string, Instance>();
    this.#discoveredOf.set(family, ofFamily.set(family.keyOf(instance.values), instance));
    this.#discovered++;
    this.#events.declare([instance]);
    return instance;
  }

  /** Withdraws the parameter with these variables. */
  #withdraw(family: Family, found: ReadonlyMap<string, Value>): void {
    const instance = this.#find(family, found);
    if (instance !== undefined) this.#forget(instance);
  }

  #forget(instance: Instance): void {
    this.#discoveredOf.get(instance.family)?.delete(instance.family.keyOf(instance.values));
    this.#discovered--;
    this.#known.delete(instance);
    this.#giveUp(instance, new HubError('unavailable', `${instance.id}: the device no longer has it`));
    this.#events.withdraw([instance.id]);
  }

  /** Sets a parameter to a value of the device. Errors: as `convert`. */
  #take(instance: Instance, reported: Value | undefined, values?: ReadonlyMap<string, Value>): void {
    const { family } = instance;
    if (reported === undefined) return;
    if (family.isUnknown !== undefined && family.isUnknownByValue) {
      const scope = new Map([...(values ?? []), ['value', reported]] as [string, Value][]);
      if (family.isUnknown(scope) === true) {
        this.#setUnknown(instance);
        return;
      }
    }
    const { choices } = family.described;
    const named =
      choices !== undefined && typeof reported === 'string' && Object.hasOwn(choices, reported)
        ? choices[reported]!
        : reported;
    this.#set(instance, convert(family.type, named));
  }

  #set(instance: Instance, value: Value): void {
    const wanted = this.#wanted.get(instance);
    const isConfirmed = wanted !== undefined && toText(wanted.value) === toText(value);
    if (isConfirmed) {
      wanted.timer.unsubscribe();
      this.#wanted.delete(instance);
    }
    if (instance.family.type !== 'T') this.#known.add(instance);
    this.#events.set(instance.id, value, isConfirmed ? wanted.change : undefined);
  }

  #setUnknown(instance: Instance): void {
    if (this.#known.delete(instance)) this.#events.set(instance.id, undefined, undefined);
  }

  /** Reads a message of a group. `isWhole`: parameters that are not in it do not exist, or are unknown. */
  #readGroup(group: Group, whole: Message, isWhole: boolean, ofWhole: ReadonlyMap<string, Value> = new Map()): void {
    const { head, each, index, families } = group;
    const seen = new Set<Instance>();
    const items = ofWhole.get('items');
    const body =
      items !== undefined
        ? new Message(toText(items))
        : head !== undefined && whole.text.startsWith(head)
          ? new Message(whole.text.slice(head.length))
          : whole;
    for (const [place, item] of itemsOf(body, each).entries())
      for (const one of index.candidates(item)) {
        const found = one.matcher.match(item);
        if (found === undefined) continue;
        found.set('index', place);
        for (const [name, value] of ofWhole) if (name !== 'items' && !found.has(name)) found.set(name, value);
        const instance = one.isFinding ? this.#findInstance(one, found) : this.#apply(one, found);
        if (instance !== undefined) seen.add(instance);
      }
    if (!isWhole) return;
    for (const family of families)
      for (const instance of [...this.#instancesOf(family)])
        if (!seen.has(instance)) {
          if (family.isDiscovered) this.#forget(instance);
          else this.#setUnknown(instance);
        }
  }

  // Questions.

  /** Asks for a group; false: the question waits already. */
  #askGroup(group: Group, loaded?: () => void): boolean {
    const ask = group.ask!;
    if (!this.#enqueue(group.name)) return false;
    this.#request(ask, group.name, new Map(), ask.replies.length === 0, group.head, (outcome, isLate) => {
      if (!('refused' in outcome)) {
        if (group.saves) for (const [name, value] of outcome.found) this.#saved.set(name, value);
        if (!isLate || ask.replies.length > 0) this.#readGroup(group, outcome.message, true, outcome.found);
      }
      if (!isLate) loaded?.();
    });
    return true;
  }

  #askInstance(instance: Instance, ask: Ask, loaded?: () => void): boolean {
    const name = `parameter ${instance.id}`;
    if (!this.#enqueue(name)) return false;
    this.#request(ask, name, instance.values, false, undefined, (outcome, isLate) => {
      const read = 'refused' in outcome ? undefined : ask.reads.find(({ matcher }) => matcher === outcome.matcher);
      if (read !== undefined && (!isLate || identifiesQuestion(read.matcher)))
        this.#apply(read, new Map([...instance.values, ...(outcome as { found: ReadonlyMap<string, Value> }).found]));
      if (!isLate) loaded?.();
    });
    return true;
  }

  #askKeepAlive(ask: Ask): void {
    if (this.#enqueue('keepAlive')) this.#request(ask, 'keepAlive', new Map(), false, undefined, () => {});
  }

  #enqueue(name: string): boolean {
    if (this.#queuedAsks.has(name)) return false;
    this.#queuedAsks.add(name);
    return true;
  }

  #request(
    ask: Ask,
    name: string,
    variables: ReadonlyMap<string, Value>,
    takesAny: boolean,
    head: string | undefined,
    done: (outcome: Outcome, isLate: boolean) => void,
  ): void {
    const id = ++this.#requestNumber;
    const known = new Map<string, Value>([...variables, ['id', id]]);
    this.#requests.add(
      {
        ...ask,
        name,
        known,
        head,
        takesAny: takesAny && ask.until === undefined && head === undefined,
        write: () => {
          const values = new Map<string, Value>([...this.#compiled.constants, ...this.#saved, ...known]);
          return ask.send.map((matcher) => matcher.format(values));
        },
        done: (outcome, isLate) => {
          if (!isLate) this.#queuedAsks.delete(name);
          if ('refused' in outcome && this.#phase !== 'away')
            this.#options.log.debug({}, `${name}: ${outcome.refused}`, 'refused');
          done(outcome, isLate);
        },
      },
      false,
    );
    if (this.#phase === 'resting') this.#link.start();
  }

  /** Asks for a group, or for the parameter itself, after a write or an event. */
  #askAgain(name: string, instance: Instance | undefined): void {
    const group = this.#compiled.groups.get(name);
    if (group?.ask !== undefined) this.#askGroup(group);
    else if (instance?.family.ask !== undefined) this.#askInstance(instance, instance.family.ask);
  }

  /** Starts to poll, until the device is away. */
  #poll(): void {
    this.#polls.unsubscribe();
    this.#polls = new Subscription();
    const { groups, families, keepAlive } = this.#compiled;
    const every = (ms: number | undefined, work: () => void) => {
      if (ms === undefined) return;
      let next = Subscription.EMPTY; // a subscription would keep each timer that it was ever given
      const again = () => {
        next = this.#options.scheduler.schedule(() => {
          work();
          again();
        }, ms);
      };
      this.#polls.add(() => next.unsubscribe());
      again();
    };
    for (const group of groups.values()) every(group.ask?.everyMs, () => this.#askGroup(group));
    for (const family of families) {
      const { ask } = family;
      if (ask !== undefined)
        every(ask.everyMs, () => {
          for (const instance of this.#instancesOf(family)) this.#askInstance(instance, ask);
        });
    }
    if (keepAlive !== undefined)
      every(keepAlive.everyMs, () => {
        this.#askKeepAlive(keepAlive);
      });
    const replays = [...this.#replays.values()];
    this.#replays.clear();
    for (const { instance, value, change } of replays) this.write(instance, value, change);
  }

  // Sending.

  #send(text: string): void {
    let whole = text;
    if (this.#first !== undefined) {
      try {
        whole = this.#first.format(new Map([...this.#compiled.constants, ...this.#saved])) + text;
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

/** Returns the declaration of a parameter. */
export function declarationOf({ id, family }: Instance): ParameterDeclaration {
  const { about } = family;
  const isConfirmed = family.access === 'read-write' && family.type !== 'T';
  return { id, type: family.type, access: family.access, isConfirmed, ...(about === undefined ? {} : { about }) };
}

/** Whether a pattern shows by itself which question it answers. */
function identifiesQuestion(matcher: Matcher): boolean {
  return matcher.names.has('id') || /^[^{]{2}/.test(matcher.text);
}

/** Splits a message into items. */
function itemsOf(message: Message, each: Each | undefined): readonly Message[] {
  if (each === undefined) return [message];
  if (typeof each === 'object' && 'path' in each) {
    const list = partAt(message.tree, each.path.split('.'));
    if (list === undefined) return [];
    return (Array.isArray(list) ? list : [list]).map((item) => Message.ofTree(item));
  }
  const { text } = message;
  if (each === 'character') return [...text].map((character) => new Message(character));
  if (each === 'line') return text.split(/\r?\n/).map((line) => new Message(line));
  if ('field' in each) return text.split(each.field).map((field) => new Message(field));
  const items: Message[] = [];
  for (let at = 0; at + each.bytes <= text.length; at += each.bytes)
    items.push(new Message(text.slice(at, at + each.bytes)));
  return items;
}
