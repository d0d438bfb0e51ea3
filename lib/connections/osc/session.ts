// A session with the peers of an OSC connection, which applies received packets and sends values. A received packet takes effect in one
// turn. A bundle with a time tag in the future takes effect at that time, according to the hub's clock.

import { type SchedulerLike, Subscription } from 'rxjs';
import { DeviceLink } from '../../device/link.ts';
import type { PacketTransport, Sender } from '../../device/ports.ts';
import { HubError, messageOf } from '../../model/error.ts';
import type { Change, Parameter } from '../../model/parameter.ts';
import { convert, isValueOf, type Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import { AddressTable, Budget } from './address-table.ts';
import { type Binding, type Bindings, encodeBinding, encodeQuery, type Part } from './bindings.ts';
import {
  decodePacket,
  encodeBundle,
  maxPacketBytes,
  type OscBundle,
  type OscMessage,
  type OscPacket,
  type OscValue,
  readPacket,
} from './packet.ts';
import type { OscSettings } from './settings.ts';

/** The callbacks through which a session reports events to the hub. */
export interface SessionEvents {
  /** Reports a value, or undefined if the peer does not know the value. `because` is the change that the value confirms. */
  set(part: Part, value: Value | undefined, because: Change | undefined): void;
  /** Called when a write has ended without confirmation. */
  settle(id: string, error: HubError): void;
  /** Called when the peers are online, as far as the hub knows. */
  running(): void;
  away(reason: string): void;
  /** Called when a packet was sent or received, for the wire trace. `fault` states why the packet was refused. */
  wire(direction: 'in' | 'out', bytes: Uint8Array, fault?: string): void;
  /** Combines all events that occur during `work` into one turn. */
  turn(work: () => void): void;
  /** Passes a message to the tree of hub parameters. Returns false if the message addresses no parameter. */
  takeForTree(message: OscMessage, sender: Sender): boolean;
}

export interface SessionOptions {
  readonly settings: OscSettings;
  readonly bindings: Bindings;
  /** The transports to the peer, which are tried in turn. */
  readonly transports: readonly PacketTransport[];
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  own(id: string): Parameter | undefined;
  timeOfDay(): number;
  /** Schedules work for the end of the turn; see `ConnectionContext.atSettle`. */
  atSettle(work: () => void): () => void;
  random?(): number;
}

/** The maximum number of bundles that are waiting for their time tags, and the maximum total size of their packets in bytes. */
export const maxWaitingBundles = 1024;
export const maxWaitingBytes = 1_048_576;
/** The maximum time by which a time tag may lie in the future, in milliseconds. */
export const maxAheadMs = 3_600_000;
/** The number of times that the hub asks for a value to confirm a write, and the time that it waits for each answer, in milliseconds. */
const confirmTries = 5;
const confirmEveryMs = 1000;
/**
 * The maximum number of queries sent together, and the pause after them in milliseconds. Without pauses, a mixing desk loses queries that
 * it cannot read in time.
 */
const questionsAtOnce = 50;
const questionPauseMs = 10;
/** The maximum size of a bundle over UDP, in bytes. A larger bundle would be fragmented. */
const maxBundleBytes = 1472;
/** The maximum number of triggers sent in a turn. */
export const maxTriggersPerTurn = 1024;

interface Wanted {
  readonly value: Value;
  readonly change: Change | undefined;
  tries: number;
  timer: Subscription;
}

interface Write {
  readonly part: Part;
  value: Value;
  change: Change | undefined;
}

export class OscSession {
  readonly #options: SessionOptions;
  readonly #events: SessionEvents;
  readonly #link: DeviceLink;
  readonly #table = new AddressTable<Binding>();
  readonly #messages: Budget;
  readonly #prepareFlush: () => void;
  #transport: PacketTransport;
  #isRunning = false;
  /** Whether the hub is connecting for the first time. Writes made in the meantime are sent as soon as the hub is connected. */
  #isStarting = true;
  #timers = new Subscription();
  /** The timers for the bundles that are waiting for their time tags. */
  readonly #waiting = new Subscription();
  #waitingBundles = 0;
  #waitingBytes = 0;
  #writes: Write[] = [];
  readonly #queued = new Map<Part, Write>();
  #triggers = 0;
  readonly #wanted = new Map<Part, Wanted>();
  /** The bindings whose new values must be fed back, each with the peer that sent the value. */
  readonly #fedBack = new Map<Binding, Sender>();
  #questions: Binding[] = [];
  #isAsking = false;
  /** The length of the packet that is being handled, in bytes. */
  #packetBytes = 0;

  constructor(options: SessionOptions, events: SessionEvents) {
    const { settings, bindings, transports, scheduler } = options;
    this.#options = options;
    this.#events = events;
    this.#transport = transports[0]!;
    this.#messages = new Budget(settings.messagesPerSecond);
    for (const binding of bindings.bindings) this.#table.add(binding.address, binding);
    this.#prepareFlush = options.atSettle(() => this.#flush());
    this.#link = new DeviceLink(
      {
        transports,
        connectTimeoutMs: settings.connectTimeout,
        idleTimeoutMs: settings.idleTimeout,
        scheduler,
        ...(options.random && { random: options.random }),
      },
      {
        opened: (transport) => this.#opened(transport),
        received: (bytes) => this.#received(bytes),
        ended: (reason) => this.#ended(reason),
      },
    );
  }

  start(): void {
    this.#link.start();
  }

  stop(): Promise<void> {
    this.#timers.unsubscribe();
    this.#waiting.unsubscribe();
    for (const { timer } of this.#wanted.values()) timer.unsubscribe();
    return this.#link.stop();
  }

  // The link

  #opened(transport: PacketTransport): void {
    const { settings, bindings } = this.#options;
    this.#transport = transport;
    this.#timers = new Subscription();
    if (settings.idleTimeout === undefined) this.#run();
    for (const { send, every } of settings.queries) this.#repeat(every, () => this.#send(readPacket(send)));
    const asked = bindings.bindings.filter(({ askEveryMs }) => askEveryMs !== undefined);
    for (const everyMs of new Set(asked.map(({ askEveryMs }) => askEveryMs)))
      this.#repeat(everyMs || undefined, () => this.#ask(asked.filter(({ askEveryMs }) => askEveryMs === everyMs)));
  }

  /**
   * Calls `work` immediately and then every `everyMs` milliseconds while the link is open. If `everyMs` is undefined, calls `work` only
   * once.
   */
  #repeat(everyMs: number | undefined, work: () => void): void {
    const { scheduler } = this.#options;
    work();
    if (everyMs === undefined) return;
    let next: Subscription;
    const again = () => {
      work();
      next = scheduler.schedule(again, everyMs);
    };
    next = scheduler.schedule(again, everyMs);
    this.#timers.add(() => next.unsubscribe());
  }

  #run(): void {
    this.#isRunning = true;
    this.#isStarting = false;
    this.#link.prove();
    this.#events.running();
    if (this.#writes.length > 0) this.#prepareFlush();
  }

  #ended(reason: string): number {
    this.#isRunning = false;
    this.#isStarting = false;
    this.#timers.unsubscribe();
    this.#forgetWrites();
    this.#questions = [];
    this.#isAsking = false;
    for (const { timer } of this.#wanted.values()) timer.unsubscribe();
    this.#wanted.clear(); // the hub itself ends pending writes when values become stale
    this.#events.away(reason);
    return 0;
  }

  // Receiving

  #received(bytes: Uint8Array): void {
    const packet = decodePacket(
      Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    );
    if (typeof packet === 'string') {
      this.refuse(bytes, packet);
      return;
    }
    if (!this.#messages.take(messagesIn(packet), this.#options.scheduler.now())) {
      this.refuse(bytes, `expected at most ${this.#options.settings.messagesPerSecond} messages per second`);
      return;
    }
    this.#events.wire('in', bytes);
    if (!this.#isRunning) this.#run();
    this.#packetBytes = bytes.length;
    this.#take(packet, this.#transport.sender ?? { name: this.#transport.name, send: (one) => this.#link.send(one) });
    if (this.#fedBack.size > 0) this.#feedBack();
  }

  /** Reports that a packet, or a message in a packet, was refused and has no effect. */
  refuse(bytes: Uint8Array, reason: string): void {
    this.#events.wire('in', bytes, reason);
    this.#options.log.warn({}, `rejected a packet: ${reason}`, `refused: ${reason}`);
  }

  #take(packet: OscPacket, sender: Sender): void {
    if (!('elements' in packet)) this.#message(packet, sender);
    else if (packet.timeMs === 0) this.#bundle(packet, sender);
    else {
      const delayMs = packet.timeMs - this.#options.timeOfDay();
      if (delayMs <= 0) this.#bundle(packet, sender);
      else this.#wait(packet, sender, delayMs);
    }
  }

  #bundle({ elements }: OscBundle, sender: Sender): void {
    this.#events.turn(() => {
      for (const element of elements) this.#take(element, sender);
    });
  }

  #wait(bundle: OscBundle, sender: Sender, delayMs: number): void {
    const bytes = this.#packetBytes;
    const fault =
      delayMs > maxAheadMs
        ? `expected a time tag at most ${maxAheadMs / 60_000} minutes ahead`
        : this.#waitingBundles >= maxWaitingBundles || this.#waitingBytes + bytes > maxWaitingBytes
          ? `expected at most ${maxWaitingBundles} waiting bundles with ${maxWaitingBytes} bytes in total`
          : undefined;
    if (fault !== undefined) {
      this.refuse(new Uint8Array(), fault);
      return;
    }
    this.#waitingBundles++;
    this.#waitingBytes += bytes;
    const timer = this.#options.scheduler.schedule(() => {
      this.#waiting.remove(timer);
      this.#waitingBundles--;
      this.#waitingBytes -= bytes;
      this.#packetBytes = bytes;
      this.#bundle(bundle, sender);
      if (this.#fedBack.size > 0) this.#feedBack();
    }, delayMs);
    this.#waiting.add(timer);
  }

  #message(message: OscMessage, sender: Sender): void {
    const found = this.#table.find(message.address, this.#options.scheduler.now());
    if (typeof found === 'string') {
      this.refuse(new Uint8Array(), found);
      return;
    }
    const [first, ...others] = found ?? [];
    const isForTree = this.#events.takeForTree(message, sender);
    if (first === undefined) {
      if (!isForTree) this.#options.log.debug({}, `no parameter has the address ${message.address}`, 'no parameter');
    } else if (others.length === 0 && first.parts.length === 1) this.#apply(first, message, sender);
    else
      this.#events.turn(() => {
        for (const binding of found as readonly Binding[]) this.#apply(binding, message, sender);
      });
  }

  #apply(binding: Binding, { args }: OscMessage, sender: Sender): void {
    const { parts, constants, access } = binding;
    if (args.length === 0 && parts[0]!.place >= 0) {
      this.#answer(binding, sender);
      return;
    }
    if (access === 'write-only') return;
    for (const [place, value] of constants) if (args[place] !== value) return;
    for (const part of parts) {
      const { type, place, settings } = part;
      const raw = place < 0 ? (args[0] ?? 1) : args[place];
      if (raw === undefined) {
        this.#refuseMessage(part, `expected at least ${place + 1} arguments`);
        return;
      }
      if (type === 'T') {
        if (raw !== 0 && raw !== false) this.#events.set(part, 1, undefined); // 0 or false means that a button was released
      } else if (raw === null) this.#events.set(part, undefined, undefined);
      else {
        const value = this.#valueOf(part, raw, settings.choices);
        if (value !== undefined) this.#set(part, value, sender);
      }
    }
  }

  #valueOf(part: Part, raw: Exclude<OscValue, null>, choices: Part['settings']['choices']): Value | undefined {
    const { type } = part;
    if (choices === undefined && isValueOf(type, raw)) return raw;
    const named = choices !== undefined && typeof raw === 'string' && Object.hasOwn(choices, raw) ? choices[raw]! : raw;
    try {
      return convert(type, named);
    } catch {
      this.#refuseMessage(part, `expected a value of type ${type}`);
      return undefined;
    }
  }

  #refuseMessage({ binding }: Part, reason: string): void {
    this.refuse(new Uint8Array(), `${binding.address}: ${reason}`);
  }

  #set(part: Part, value: Value, sender: Sender): void {
    const wanted = this.#wanted.get(part);
    const isConfirmed = wanted !== undefined && wanted.value === value;
    if (isConfirmed) {
      wanted.timer.unsubscribe();
      this.#wanted.delete(part);
    }
    // Only changed values are fed back. Otherwise, two hubs that feed values back to each other would never stop.
    if (this.#options.settings.feedback !== 'none' && this.#options.own(part.id)?.value !== value)
      this.#fedBack.set(part.binding, sender);
    this.#events.set(part, value, isConfirmed ? wanted.change : undefined);
  }

  /** Replies to a message without arguments, which asks for the binding's value. */
  #answer(binding: Binding, sender: Sender): void {
    if (binding.access === 'write-only' || binding.parts.some(({ id }) => this.#options.own(id)?.value === undefined))
      return;
    const packet = this.#encoded(binding);
    if (packet === undefined) return;
    this.#events.wire('out', packet);
    sender.send(packet);
  }

  #feedBack(): void {
    const fedBack = [...this.#fedBack];
    this.#fedBack.clear();
    const toAll = this.#options.settings.feedback === 'all';
    for (const [binding, sender] of fedBack) {
      if (!toAll && this.#transport.sendToOthers === undefined) continue;
      const packet = this.#encoded(binding);
      if (packet === undefined) continue;
      this.#events.wire('out', packet);
      if (toAll) this.#link.send(packet);
      else this.#transport.sendToOthers!(packet, sender);
    }
  }

  // Sending

  /** Checks that the peer is online. Errors: `unavailable`. */
  expectPeer(id: string): void {
    if (!this.#isRunning && !this.#isStarting) throw new HubError('unavailable', `${id}: the peer is offline`);
  }

  /**
   * Sends a value at the end of the turn. If a parameter is written several times in a turn, only the latest value is sent. Triggers are
   * always sent.
   */
  write(part: Part, value: Value, change: Change | undefined): void {
    if (!this.#isRunning && !this.#isStarting) {
      this.#options.log.warn({ parameter: part.id }, `cannot send ${part.id}: the peer is offline`);
      return;
    }
    const queued = this.#queued.get(part);
    if (queued !== undefined) {
      queued.value = value;
      queued.change = change;
      return;
    }
    const write = { part, value, change };
    if (part.type !== 'T') this.#queued.set(part, write);
    else if (++this.#triggers > maxTriggersPerTurn) {
      this.#options.log.warn({}, `more than ${maxTriggersPerTurn} triggers in a turn; one was dropped`);
      return;
    }
    this.#writes.push(write);
    if (this.#isRunning && this.#writes.length === 1) this.#prepareFlush();
  }

  #flush(): void {
    const writes = this.#writes;
    const sent = new Set<Binding>();
    const packets: Buffer[] = [];
    for (const { part } of writes) {
      const { binding, type } = part;
      if (type !== 'T' && sent.has(binding)) continue;
      sent.add(binding);
      const packet = this.#encoded(binding, part);
      if (packet !== undefined) packets.push(packet);
    }
    this.#forgetWrites();
    this.#sendAll(packets);
    for (const { part, value, change } of writes) if (part.isConfirmed) this.#want(part, value, change);
  }

  #forgetWrites(): void {
    this.#writes = [];
    this.#queued.clear();
    this.#triggers = 0;
  }

  /** Encodes the message for a binding. If the message cannot be sent, reports the error and returns undefined. */
  #encoded(binding: Binding, written?: Part): Buffer | undefined {
    try {
      return encodeBinding(binding, (part) => {
        const own = this.#options.own(part.id);
        const pending = written === undefined ? undefined : (this.#queued.get(part)?.value ?? own?.wanted?.value);
        return pending ?? own?.value;
      });
    } catch (error) {
      const reason = messageOf(error);
      this.#options.log.warn({}, `cannot send ${binding.address}: ${reason}`, `cannot send ${binding.address}`);
      if (written?.isConfirmed === true)
        this.#events.settle(
          written.id,
          new HubError('not-confirmed', `${written.id}: cannot send the message: ${reason}`),
        );
      return undefined;
    }
  }

  #sendAll(packets: readonly Buffer[]): void {
    const { bundles, tcp, tcpListen } = this.#options.settings;
    if (bundles === false || (bundles === true && packets.length < 2)) {
      for (const packet of packets) this.#send(packet);
      return;
    }
    const timeMs = bundles === true ? 0 : this.#options.timeOfDay() + bundles;
    const most = (tcp ?? tcpListen) === undefined ? maxBundleBytes : maxPacketBytes;
    let elements: Buffer[] = [];
    let bytes = 16;
    const end = () => {
      if (elements.length > 0) this.#send(encodeBundle(timeMs, elements));
      elements = [];
      bytes = 16;
    };
    for (const packet of packets) {
      if (bytes + 4 + packet.length > most) end();
      if (16 + 4 + packet.length > maxPacketBytes) this.#send(packet);
      else {
        elements.push(packet);
        bytes += 4 + packet.length;
      }
    }
    end();
  }

  #send(packet: Buffer): void {
    this.#events.wire('out', packet);
    this.#link.send(packet);
  }

  /** Waits until the peer confirms a write; depending on the settings, asks the peer for the value. */
  #want(part: Part, value: Value, change: Change | undefined): void {
    this.#wanted.get(part)?.timer.unsubscribe();
    const wanted: Wanted = { value, change, tries: 0, timer: Subscription.EMPTY };
    const step = () => {
      if (wanted.tries++ === confirmTries) {
        this.#wanted.delete(part);
        const limit = (confirmTries * confirmEveryMs) / 1000;
        const message = `${part.id}: the peer has not reported the value within ${limit} s`;
        this.#events.settle(part.id, new HubError('not-confirmed', message));
        return;
      }
      if (part.binding.confirm === 'ask') this.#ask([part.binding]);
      wanted.timer = this.#options.scheduler.schedule(step, confirmEveryMs);
    };
    this.#wanted.set(part, wanted);
    step();
  }

  // Queries

  #ask(bindings: readonly Binding[]): void {
    const asked = new Set(this.#questions);
    for (const binding of bindings) if (!asked.has(binding)) this.#questions.push(binding);
    if (!this.#isAsking) this.#askNext();
  }

  #askNext(): void {
    const now = this.#questions.splice(0, questionsAtOnce);
    for (const binding of now) this.#send(encodeQuery(binding));
    this.#isAsking = now.length === questionsAtOnce;
    if (!this.#isAsking) return;
    const next = this.#options.scheduler.schedule(() => {
      this.#timers.remove(next);
      this.#askNext();
    }, questionPauseMs);
    this.#timers.add(next);
  }
}

function messagesIn(packet: OscPacket): number {
  if (!('elements' in packet)) return 1;
  let count = 0;
  for (const element of packet.elements) count += messagesIn(element);
  return count;
}
