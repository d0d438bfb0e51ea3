// A Modbus client: reads blocks at intervals, writes values, and reads the written values back. Each unit is offline or online on its own.
// For a unit that does not answer, the client requests only one block every 1 to 30 s, so that the unit does not delay other units on the
// same line.

import { type SchedulerLike, Subscription } from 'rxjs';
import { DeviceLink } from '../../device/link.ts';
import type { Refuse } from '../../device/ports.ts';
import type { Transport } from '../../device/transport.ts';
import { HubError } from '../../model/error.ts';
import type { Change } from '../../model/parameter.ts';
import { Backoff } from '../../model/time/backoff.ts';
import type { Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import {
  decodeFrame,
  deviceBusy,
  encodeFrame,
  exceptionOf,
  exceptionSentence,
  illegalValue,
  isOfGateway,
  type Mode,
  RtuFramer,
  readFunctions,
  tableNames,
} from './frame.ts';
import { type Block, blocksOf, type Item, splitBlock, unitName, valuesIn } from './registers.ts';
import { type ModbusSettings, modeOf } from './settings.ts';
import { type Job, Writes, type WrittenUnit } from './writes.ts';

export interface ClientOptions {
  readonly settings: ModbusSettings;
  readonly items: readonly Item[];
  readonly transports: readonly Transport[];
  readonly mode: Mode;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  atSettle(work: () => void): () => void;
  random?(): number;
}

export interface ClientEvents {
  /** Reports a value, or undefined if the device does not know the value. `because` is the change that the value confirms. */
  set(item: Item, value: Value | undefined, because: Change | undefined): void;
  settle(id: string, error: HubError): void;
  /** Reports that a unit has come online. */
  online(unitId: number): void;
  offline(unitId: number): void;
  /** Reports the state of the connection. `reason` states the problem; it is undefined if there is no problem. */
  state(reason: string | undefined): void;
  wire(direction: 'in' | 'out', bytes: Uint8Array, fault?: string): void;
  turn(work: () => void): void;
}

const serialSpacingMs = 5;
const offlineTimes = { firstMs: 1000, longestMs: 30_000 };

interface Reading extends Block {
  isQueued: boolean;
  /** Whether to read the block again as soon as the pending answer has arrived, because an item has been written in the meantime. */
  isAgain: boolean;
}

interface Unit extends WrittenUnit {
  readonly readings: Set<Reading>;
  readonly backoff: Backoff;
  state: 'new' | 'online' | 'offline';
  probe: Subscription | undefined;
  reason: string;
}

export class ModbusClient {
  readonly #options: ClientOptions;
  readonly #events: ClientEvents;
  readonly #link: DeviceLink;
  readonly #units = new Map<number, Unit>();
  readonly #readingOf = new Map<Item, Reading>();
  readonly #framer: RtuFramer | undefined;
  readonly #flush: () => void;
  readonly #spacingMs: number;
  readonly #window: number;
  #timers = new Subscription();
  #pause: Subscription | undefined;
  #isStarting = true;
  #transaction = 0;
  readonly #inFlight = new Map<number, { readonly job: Job; readonly timer: Subscription }>();
  /** Requests that are sent before all other requests, such as repetitions and the second request of a bit write. */
  readonly #urgent: Job[] = [];
  readonly #writes: Writes;
  readonly #reads = new Set<Reading>();
  /** The faults that devices report when items are read. Each fault is a sentence. */
  readonly #faults = new Map<Item, string>();
  #state: string | undefined | null = null;

  constructor(options: ClientOptions, events: ClientEvents) {
    const { settings, items, transports, mode, scheduler } = options;
    this.#options = options;
    this.#events = events;
    this.#spacingMs = settings.spacing ?? (modeOf(settings) === 'tcp' ? 0 : serialSpacingMs);
    this.#window = mode === 'tcp' ? settings.window : 1;
    this.#framer = transports[0]!.keepsFrames ? undefined : new RtuFramer('answers', this.#refuse);
    for (const { unitId } of items) this.#unitOf(unitId);
    const read = items.filter(({ access }) => access !== 'write-only');
    for (const block of blocksOf(read, settings.gap, settings.maxRegisters)) this.#addReading(block);
    this.#writes = new Writes({
      ...{ settings, items, scheduler, log: options.log, events },
      unitOf: (id) => this.#unitOf(id),
      readJob: (block, take) => this.#readJob(block, take),
      sendFirst: (job) => this.#urgent.push(job),
      readBack: (item) => this.#readBack(item),
      pump: () => this.#pump(),
    });
    this.#flush = options.atSettle(() => this.#pump());
    this.#link = new DeviceLink(
      {
        ...{ transports, connectTimeoutMs: settings.connectTimeout, idleTimeoutMs: undefined, scheduler },
        ...(options.random && { random: options.random }),
      },
      {
        opened: () => this.#opened(),
        received: (bytes) => this.#received(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
        ended: (reason) => this.#ended(reason),
      },
    );
  }

  start(): void {
    this.#link.start();
  }

  stop(): Promise<void> {
    this.#stopWork();
    return this.#link.stop();
  }

  /** Checks that an item's device is online. Errors: `unavailable`. */
  expectOnline({ id, unitId }: Item): void {
    const { state } = this.#units.get(unitId)!;
    if (state === 'online' || (state === 'new' && (this.#isStarting || this.#link.isOpen))) return;
    throw new HubError('unavailable', `${id}: the device is offline`);
  }

  /** Writes a value at the end of the turn. A newer value replaces a waiting value for the same item. */
  write(item: Item, value: Value, change: Change | undefined): void {
    const { state } = this.#units.get(item.unitId)!;
    if (state === 'offline' || (state === 'new' && !this.#isStarting && !this.#link.isOpen)) {
      this.#options.log.warn({ parameter: item.id }, `cannot send ${item.id}: the device is offline`);
      return;
    }
    this.#writes.add(item, value, change);
    this.#flush();
  }

  readonly #refuse: Refuse = (bytes, reason) => {
    this.#events.wire('in', bytes, reason);
    this.#options.log.warn({}, `rejected a frame: ${reason}`, `refused: ${reason}`);
  };

  #unitOf(id: number): Unit {
    let unit = this.#units.get(id);
    if (unit === undefined) {
      const backoff = new Backoff(offlineTimes);
      unit = { id, readings: new Set(), backoff, state: 'new', isWriting: false, probe: undefined, reason: '' };
      this.#units.set(id, unit);
    }
    return unit;
  }

  #addReading(block: Block): Reading {
    const reading: Reading = { ...block, isQueued: false, isAgain: false };
    this.#unitOf(block.unitId).readings.add(reading);
    for (const item of block.items) this.#readingOf.set(item, reading);
    return reading;
  }

  // The link and the units

  #opened(): void {
    this.#timers = new Subscription();
    this.#framer?.reset();
    this.#isStarting = false;
    const times = new Set([...this.#readingOf.values()].map(({ everyMs }) => everyMs));
    for (const everyMs of times) this.#repeat(everyMs);
    for (const unit of this.#units.values()) {
      unit.state = 'new';
      if (unit.readings.size === 0) this.#goOnline(unit);
      else this.#queueReads(unit.readings);
    }
    if (this.#units.size === 0) this.#report();
    this.#pump();
  }

  #repeat(everyMs: number): void {
    const next = this.#options.scheduler.schedule(() => {
      this.#timers.remove(next);
      this.#repeat(everyMs);
      for (const unit of this.#units.values())
        if (unit.state !== 'offline')
          this.#queueReads([...unit.readings].filter((reading) => reading.everyMs === everyMs));
      this.#pump();
    }, everyMs);
    this.#timers.add(next);
  }

  #ended(reason: string): number {
    this.#stopWork();
    this.#isStarting = false;
    for (const unit of this.#units.values()) this.#goOffline(unit, reason);
    this.#report(`${this.#options.transports[0]!.name}: ${reason}`);
    return 0;
  }

  #stopWork(): void {
    this.#timers.unsubscribe();
    this.#pause?.unsubscribe();
    this.#pause = undefined;
    for (const { timer } of this.#inFlight.values()) timer.unsubscribe();
    for (const { probe } of this.#units.values()) probe?.unsubscribe();
    this.#inFlight.clear();
    this.#urgent.length = 0;
    this.#writes.forget();
    for (const reading of this.#readingOf.values()) reading.isQueued = reading.isAgain = false;
    this.#reads.clear();
    for (const unit of this.#units.values()) unit.isWriting = false;
  }

  #goOnline(unit: Unit): void {
    if (unit.state === 'online') return;
    const wasOffline = unit.state === 'offline';
    unit.state = 'online';
    unit.backoff.reset();
    unit.probe?.unsubscribe();
    this.#link.prove();
    this.#report();
    this.#events.online(unit.id);
    if (wasOffline) this.#queueReads(unit.readings);
  }

  #goOffline(unit: Unit, reason: string): void {
    if (unit.state !== 'offline') this.#events.offline(unit.id);
    unit.state = 'offline';
    unit.reason = reason;
    unit.isWriting = false;
    for (const reading of unit.readings) {
      this.#reads.delete(reading);
      reading.isQueued = false;
    }
    this.#writes.forget(unit.id);
  }

  /**
   * Marks a unit that has not answered as offline. If all units are offline over TCP, the link may be half open and is therefore reopened.
   */
  #lost(unit: Unit, reason: string): void {
    if (unit.probe?.closed === false) return; // an earlier request to the unit was lost as well
    this.#goOffline(unit, reason);
    const { settings, scheduler } = this.#options;
    if (settings.tcp !== undefined && [...this.#units.values()].every(({ state }) => state === 'offline')) {
      this.#link.fail(reason);
      return;
    }
    this.#report();
    unit.probe = scheduler.schedule(() => {
      const [first] = unit.readings;
      if (first === undefined) this.#goOnline(unit);
      else this.#queueReads([first]);
      this.#pump();
    }, unit.backoff.next());
  }

  #report(linkReason?: string): void {
    let reason = linkReason;
    if (reason === undefined && this.#link.isOpen) {
      const units = [...this.#units.values()];
      const offline = units.filter(({ state }) => state === 'offline');
      if (units.length > 0 && units.every(({ state }) => state === 'new')) return;
      const [fault] = this.#faults.values();
      const more = offline.length > 1 ? `, and ${offline.length - 1} more` : '';
      reason = offline.length > 0 ? `${offline[0]!.reason}${more}` : fault;
    }
    if (reason === this.#state) return;
    this.#state = reason;
    this.#events.state(reason);
  }

  // Requests

  #pump(): void {
    while (this.#link.isOpen && this.#pause === undefined && this.#inFlight.size < this.#window) {
      const job = this.#urgent.shift() ?? this.#writes.next() ?? this.#nextRead();
      if (job === undefined) return;
      this.#send(job);
    }
  }

  #send(job: Job): void {
    const { mode, scheduler, settings } = this.#options;
    this.#transaction = (this.#transaction + 1) & 0xffff;
    const transaction = mode === 'tcp' ? this.#transaction : 0;
    const bytes = encodeFrame(mode, { transaction, unitId: job.unitId, pdu: job.pdu });
    this.#framer?.reset();
    const timer = scheduler.schedule(() => {
      this.#inFlight.delete(transaction);
      this.#timedOut(job);
      this.#rest();
    }, settings.timeout);
    this.#inFlight.set(transaction, { job, timer });
    this.#events.wire('out', bytes);
    this.#link.send(bytes);
  }

  #timedOut(job: Job): void {
    const { settings } = this.#options;
    const unit = this.#unitOf(job.unitId);
    if (unit.state === 'online' && job.tries++ < settings.retries) {
      this.#urgent.push(job);
      return;
    }
    job.fail('no answer');
    this.#lost(unit, `${unitName(unit.id)} does not answer within ${settings.timeout / 1000} s`);
  }

  /** Sends the next requests after the pause that the line requires. */
  #rest(): void {
    if (!this.#link.isOpen || this.#pause !== undefined) return;
    if (this.#spacingMs === 0) this.#pump();
    else
      this.#pause = this.#options.scheduler.schedule(() => {
        this.#pause = undefined;
        this.#pump();
      }, this.#spacingMs);
  }

  #received(bytes: Buffer): void {
    for (const frame of this.#framer?.push(bytes) ?? [bytes]) this.#take(frame);
  }

  #take(bytes: Buffer): void {
    const frame = decodeFrame(this.#options.mode, bytes);
    if (typeof frame === 'string') {
      this.#refuse(bytes, frame);
      return;
    }
    const found = this.#inFlight.get(frame.transaction);
    if (found === undefined || found.job.unitId !== frame.unitId || (frame.pdu[0]! & 0x7f) !== found.job.pdu[0]) {
      this.#refuse(bytes, 'expected the answer to a pending request');
      return;
    }
    this.#events.wire('in', bytes);
    found.timer.unsubscribe();
    this.#inFlight.delete(frame.transaction);
    const { job } = found;
    if (this.#spacingMs > 0) this.#rest(); // before the answer leads to another write
    const exception = exceptionOf(frame.pdu);
    if (exception !== undefined && isOfGateway(exception)) {
      job.fail(exceptionSentence(exception));
      this.#lost(this.#unitOf(job.unitId), `${unitName(job.unitId)}: ${exceptionSentence(exception)}`);
    } else {
      this.#goOnline(this.#unitOf(job.unitId));
      job.take(frame.pdu.subarray(1), exception);
    }
    if (this.#spacingMs === 0) this.#rest();
  }

  // Reading

  #queueReads(readings: Iterable<Reading>): void {
    for (const reading of readings) {
      if (reading.isQueued) continue;
      reading.isQueued = true;
      this.#reads.add(reading);
    }
  }

  #nextRead(): Job | undefined {
    const [reading] = this.#reads;
    if (reading === undefined) return undefined;
    this.#reads.delete(reading);
    return this.#readJob(reading, (data, exception) => {
      reading.isQueued = false;
      if (exception === undefined) this.#takeBlock(reading, data);
      else this.#takeFault(reading, exception);
      if (!reading.isAgain) return;
      reading.isAgain = false;
      this.#queueReads([reading]);
    });
  }

  #readJob({ unitId, table, address, count }: Block, take: Job['take']): Job {
    const pdu = Buffer.alloc(5);
    pdu[0] = readFunctions[table];
    pdu.writeUInt16BE(address, 1);
    pdu.writeUInt16BE(count, 3);
    return { unitId, pdu, take, fail: () => {}, tries: 0 };
  }

  #takeBlock(reading: Reading, data: Buffer): void {
    const values = data[0] === data.length - 1 ? valuesIn(reading, data.subarray(1)) : undefined;
    if (values === undefined) {
      this.#refuse(data, 'expected as many registers as the hub requested');
      return;
    }
    const hadFaults = reading.items.filter((item) => this.#faults.delete(item)).length > 0;
    this.#events.turn(() => {
      for (const [index, item] of reading.items.entries()) this.#set(item, values[index]);
    });
    if (hadFaults) this.#report();
  }

  #set(item: Item, value: Value | undefined): void {
    this.#events.set(item, value, this.#writes.confirm(item, value));
  }

  /** Reads an item again after a write, because an answer that is already on its way may predate the write. */
  #readBack(item: Item): void {
    const reading = this.#readingOf.get(item)!;
    if (reading.isQueued && !this.#reads.has(reading)) reading.isAgain = true;
    else this.#queueReads([reading]);
  }

  /**
   * Handles a device's refusal to read a block. If one of the addresses does not exist, the block is split so that the other addresses can
   * be read.
   */
  #takeFault(reading: Reading, exception: number): void {
    if (exception === deviceBusy) return; // the next read shows whether the device is still busy
    const unit = this.#unitOf(reading.unitId);
    const isPermanent = exception <= illegalValue;
    const parts = isPermanent ? splitBlock(reading) : [];
    if (parts.length > 1) {
      unit.readings.delete(reading);
      this.#queueReads(parts.map((part) => this.#addReading(part)));
      return;
    }
    const { table, address, items } = reading;
    const sentence = `${tableNames[table]} ${address} of ${unitName(unit.id)}: ${exceptionSentence(exception)}`;
    const isNew = !this.#faults.has(items[0]!);
    for (const item of items) {
      this.#faults.set(item, sentence);
      if (isPermanent) this.#set(item, undefined);
    }
    if (isNew) this.#options.log.warn({ parameter: items[0]!.id }, `cannot read ${sentence}`);
    this.#report();
  }
}
