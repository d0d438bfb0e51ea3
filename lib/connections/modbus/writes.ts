// The writes to Modbus devices. Writes to neighboring registers are combined, a single bit is written together with the rest of its
// register, and each unit receives one write at a time. A write is pending until the hub has read the value back from the device.

import { type SchedulerLike, Subscription } from 'rxjs';
import { HubError } from '../../model/error.ts';
import type { Change } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import { deviceBusy, exceptionSentence, mostWritten, writeFunctions } from './frame.ts';
import { type Block, encodeRegisters, type Item, isOfBits } from './registers.ts';
import type { ModbusSettings } from './settings.ts';

/** The part of a unit's state that writes depend on. */
export interface WrittenUnit {
  readonly id: number;
  readonly state: 'new' | 'online' | 'offline';
  /** Whether the unit has not answered the current write yet. */
  isWriting: boolean;
}

/** A request to a unit and the handlers for its outcome. */
export interface Job {
  readonly unitId: number;
  readonly pdu: Buffer;
  /** Handles the answer. `exception` is the exception code, or undefined if the answer is not an exception. */
  take(data: Buffer, exception: number | undefined): void;
  /** Called when the request has ended without an answer. */
  fail(reason: string): void;
  tries: number;
}

export interface WritesOptions {
  readonly settings: ModbusSettings;
  readonly items: readonly Item[];
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  readonly events: {
    set(item: Item, value: Value | undefined, because: Change | undefined): void;
    settle(id: string, error: HubError): void;
    turn(work: () => void): void;
  };
  unitOf(id: number): WrittenUnit;
  /** Creates a request that reads a block. */
  readJob(block: Block, take: Job['take']): Job;
  /** Sends a request before all other requests. */
  sendFirst(job: Job): void;
  /** Reads an item again after a write to it. */
  readBack(item: Item): void;
  /** Sends as many waiting requests as the device permits. */
  pump(): void;
}

/** The number of times that the hub reads back a written value, and the interval between the reads, in milliseconds. */
const confirmTries = 5;
const confirmEveryMs = 1000;
/** The number of times that a write to a busy device is repeated, and the pause before each repetition, in milliseconds. */
const busyTries = 5;
const busyPauseMs = 200;

interface Write {
  readonly item: Item;
  readonly value: Value;
  readonly change: Change | undefined;
  readonly tries: number;
}

interface Wanted {
  readonly value: Value;
  readonly change: Change | undefined;
  tries: number;
  timer: Subscription;
}

export class Writes {
  readonly #options: WritesOptions;
  /** The items that can be written together with their neighbours, keyed by unit, table and address. */
  readonly #byPlace = new Map<string, Item>();
  readonly #waiting = new Map<Item, Write>();
  readonly #wanted = new Map<Item, Wanted>();
  readonly #pauses = new Set<Subscription>();

  constructor(options: WritesOptions) {
    this.#options = options;
    for (const item of options.items)
      if (item.settings.bit === undefined) this.#byPlace.set(placeOf(item, item.address), item);
  }

  /** Adds a write. It replaces a waiting write to the same item. */
  add(item: Item, value: Value, change: Change | undefined): void {
    this.#waiting.set(item, { item, value, change, tries: 0 });
  }

  /** Returns the change that a reported value confirms, or undefined if the value confirms no write. */
  confirm(item: Item, value: Value | undefined): Change | undefined {
    const wanted = this.#wanted.get(item);
    if (wanted === undefined || wanted.value !== value) return undefined;
    wanted.timer.unsubscribe();
    this.#wanted.delete(item);
    return wanted.change;
  }

  /**
   * Discards the writes to a unit that is offline, or all writes if `unitId` is undefined. The hub itself ends pending writes when values
   * become stale.
   */
  forget(unitId?: number): void {
    for (const item of this.#waiting.keys())
      if (unitId === undefined || item.unitId === unitId) this.#waiting.delete(item);
    for (const [item, { timer }] of this.#wanted)
      if (unitId === undefined || item.unitId === unitId) {
        timer.unsubscribe();
        this.#wanted.delete(item);
      }
    if (unitId !== undefined) return;
    for (const pause of this.#pauses) pause.unsubscribe();
    this.#pauses.clear();
  }

  /** Returns the next request to send, or undefined if no write can currently be sent. */
  next(): Job | undefined {
    for (const write of this.#waiting.values()) {
      const unit = this.#options.unitOf(write.item.unitId);
      if (unit.isWriting || unit.state === 'new') continue;
      return write.item.settings.bit === undefined ? this.#writeTogether(unit, write) : this.#writeBits(unit, write);
    }
    return undefined;
  }

  /** Writes an item together with waiting writes to its neighbours. */
  #writeTogether(unit: WrittenUnit, first: Write): Job {
    const { table } = first.item;
    const isCoil = isOfBits(table);
    const most = mostWritten[isCoil ? 'coil' : 'holding'];
    const writes = [first];
    let count = first.item.width;
    for (let end = first.item.address + first.item.width; ; ) {
      const next = this.#waiting.get(this.#byPlace.get(placeOf(first.item, end))!);
      if (next === undefined || count + next.item.width > most) break;
      writes.push(next);
      count += next.item.width;
      end += next.item.width;
    }
    const head = Buffer.alloc(5);
    head.writeUInt16BE(first.item.address, 1);
    const codes = writeFunctions[isCoil ? 'coil' : 'holding'];
    if (count === 1 && !this.#options.settings.writeSeveral) {
      head[0] = codes.one;
      if (isCoil) head.writeUInt16BE(first.value === true ? 0xff00 : 0, 3);
      else encodeRegisters(first.item, first.value).copy(head, 3);
      return this.#writeJob(unit, writes, head);
    }
    head[0] = codes.several;
    head.writeUInt16BE(count, 3);
    const data = isCoil
      ? packBits(writes)
      : Buffer.concat(writes.map(({ item, value }) => encodeRegisters(item, value)));
    return this.#writeJob(unit, writes, Buffer.concat([head, Buffer.of(data.length), data]));
  }

  /** Reads a register and writes it back with the changed bits, because Modbus cannot write a single bit in a register. */
  #writeBits(unit: WrittenUnit, { item: { table, address, unitId } }: Write): Job {
    const writes = [...this.#waiting.values()].filter(
      ({ item }) =>
        item.unitId === unitId && item.table === table && item.address === address && item.settings.bit !== undefined,
    );
    this.#begin(unit, writes);
    const block = { unitId, table, address, count: 1, items: [], everyMs: 0 };
    const job = this.#options.readJob(block, (data, exception) => {
      if (exception !== undefined || data.length < 3) {
        this.#end(unit, writes, exception ?? 0);
        return;
      }
      let register = data.readUInt16BE(1);
      for (const { item, value } of writes)
        register = value === true ? register | (1 << item.settings.bit!) : register & ~(1 << item.settings.bit!);
      const pdu = Buffer.alloc(5);
      pdu[0] = writeFunctions.holding.one;
      pdu.writeUInt16BE(address, 1);
      pdu.writeUInt16BE(register & 0xffff, 3);
      this.#options.sendFirst(this.#writeJob(unit, writes, pdu));
    });
    return { ...job, fail: (reason) => this.#failed(writes, reason) };
  }

  #writeJob(unit: WrittenUnit, writes: readonly Write[], pdu: Buffer): Job {
    this.#begin(unit, writes);
    return {
      ...{ unitId: unit.id, pdu, tries: 0 },
      take: (_, exception) => this.#end(unit, writes, exception),
      fail: (reason) => this.#failed(writes, reason),
    };
  }

  #begin(unit: WrittenUnit, writes: readonly Write[]): void {
    unit.isWriting = true;
    for (const write of writes) if (this.#waiting.get(write.item) === write) this.#waiting.delete(write.item);
  }

  #end(unit: WrittenUnit, writes: readonly Write[], exception: number | undefined): void {
    unit.isWriting = false;
    if (exception === deviceBusy) {
      this.#writeAgain(writes);
      return;
    }
    if (exception !== undefined) {
      this.#failed(writes, `the device refused the write: ${exceptionSentence(exception)}`);
      return;
    }
    this.#options.events.turn(() => {
      for (const { item, value, change } of writes)
        if (!item.isConfirmed) continue;
        else if (item.settings.confirm === 'answer') this.#options.events.set(item, value, change);
        else this.#want(item, value, change);
    });
  }

  #writeAgain(writes: readonly Write[]): void {
    const next = this.#options.scheduler.schedule(() => {
      this.#pauses.delete(next);
      for (const write of writes)
        if (this.#waiting.has(write.item)) continue;
        else if (write.tries >= busyTries)
          this.#failed([write], `the device refused the write: ${exceptionSentence(deviceBusy)}`);
        else this.#waiting.set(write.item, { ...write, tries: write.tries + 1 });
      this.#options.pump();
    }, busyPauseMs);
    this.#pauses.add(next);
  }

  #failed(writes: readonly Write[], reason: string): void {
    for (const { item } of writes) {
      const message = `${item.id}: ${reason}`;
      if (item.isConfirmed) this.#options.events.settle(item.id, new HubError('not-confirmed', message));
      else this.#options.log.warn({ parameter: item.id }, `cannot write ${item.id}: ${reason}`);
    }
  }

  /** Reads a written value back repeatedly until the device reports it. */
  #want(item: Item, value: Value, change: Change | undefined): void {
    this.#wanted.get(item)?.timer.unsubscribe();
    const wanted: Wanted = { value, change, tries: 0, timer: Subscription.EMPTY };
    const step = () => {
      if (wanted.tries++ === confirmTries) {
        this.#wanted.delete(item);
        const limit = (confirmTries * confirmEveryMs) / 1000;
        const message = `${item.id}: the device has not reported the value within ${limit} s`;
        this.#options.events.settle(item.id, new HubError('not-confirmed', message));
        return;
      }
      this.#options.readBack(item);
      wanted.timer = this.#options.scheduler.schedule(step, confirmEveryMs);
      this.#options.pump();
    };
    this.#wanted.set(item, wanted);
    step();
  }
}
function placeOf({ unitId, table }: Item, address: number): string {
  return `${unitId} ${table} ${address}`;
}

function packBits(writes: readonly Write[]): Buffer {
  const bytes = Buffer.alloc(Math.ceil(writes.length / 8));
  for (const [index, { value }] of writes.entries()) if (value === true) bytes[index >> 3]! |= 1 << (index & 7);
  return bytes;
}
