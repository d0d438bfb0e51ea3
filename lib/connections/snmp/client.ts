// Sends requests to a device: reads its objects regularly, several per request, walks its tables, writes, and reads back what was written.
// A device that does not answer is offline; the hub then reopens the link, and a single request shows whether the device is back.

import { randomInt } from 'node:crypto';
import { type SchedulerLike, Subscription } from 'rxjs';
import { DeviceLink, nextPhase } from '../../device/link.ts';
import type { Transport } from '../../device/transport.ts';
import { HubError, messageOf } from '../../model/error.ts';
import type { Change } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import { type Answer, type Envelope, MessageLimit } from './envelope.ts';
import {
  asked,
  encodePdu,
  encodeVarbinds,
  errorSentence,
  maxRequestId,
  type Pdu,
  tooBig,
  upTimeOid,
  type Varbind,
  verbs,
} from './message.ts';
import { decodeValue, type Item, isRead, type Table } from './objects.ts';
import { Rates } from './rates.ts';
import type { SnmpSettings } from './settings.ts';
import { TableReader } from './tables.ts';
import { type Job, Writes } from './writes.ts';

export interface ClientOptions {
  readonly settings: SnmpSettings;
  readonly items: readonly Item[];
  readonly tables: readonly Table[];
  readonly transports: readonly Transport[];
  readonly envelope: Envelope;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  atSettle(work: () => void): () => void;
  /** Set in a test, in which all messages have the number 0. */
  random?(): number;
  /** Takes a notification in a test, where notifications arrive over the same transport. Returns whether the message was a notification. */
  notified?(bytes: Buffer): boolean;
}

export interface ClientEvents {
  /** Reports a value; undefined if the value is unknown. `because` is the write that the value confirms. */
  set(item: Item, value: Value | undefined, because: Change | undefined): void;
  settle(id: string, error: HubError): void;
  /** Reports the rows that have been added to a table or have a new label, and the IDs of the parameters of rows that have disappeared. */
  rows(found: readonly (readonly [item: Item, label: string | undefined])[], gone: readonly string[]): void;
  online(): void;
  offline(): void;
  /** Reports the state of the connection; `reason` is undefined if everything works. */
  state(reason: string | undefined): void;
  wire(direction: 'in' | 'out', bytes: Uint8Array, fault?: string): void;
  turn(work: () => void): void;
}

interface Sent {
  readonly job: Job;
  tries: number;
  /** How often the request was sent again because the session had to adopt the device's engine or its clock. */
  repeats: number;
  timer: Subscription;
}

/** Objects that are read with one request. */
interface Reading {
  readonly oids: readonly string[];
  /** The objects in the request: those of the reading, preceded by the uptime if there are rates. */
  readonly asked: readonly string[];
  readonly list: Buffer;
  readonly everyMs: number;
  isQueued: boolean;
  /** Whether to read again as soon as the answer arrives, because a write was made in the meantime. */
  isAgain: boolean;
}

const maxRepeats = 3;
/** The maximum number of packets that are read per second; further packets are dropped unread, and counted. */
export const maxPacketsPerSecond = 2000;
/** The maximum number of bytes of a refused packet that are shown. */
const shownBytes = 256;

export class SnmpClient {
  readonly #options: ClientOptions;
  readonly #events: ClientEvents;
  readonly #link: DeviceLink;
  readonly #writes: Writes;
  readonly #tables: readonly TableReader[];
  readonly #flush: () => void;
  /** The items, keyed by OID, including those of the rows that tables currently have. */
  readonly #byOid = new Map<string, Item[]>();
  readonly #readings = new Set<Reading>();
  readonly #readingOf = new Map<string, Reading>();
  readonly #reads = new Set<Reading | TableReader>();
  readonly #inFlight = new Map<number, Sent>();
  readonly #rates: Rates;
  readonly #limit = new MessageLimit(maxPacketsPerSecond);
  /** The faults that the device reports when objects are read, keyed by Parameter ID, object or table. */
  readonly #faults = new Map<string, string>();
  #timers = new Subscription();
  #isOnline = false;
  #isStarting = true;
  #state: string | undefined | null = null;

  constructor(options: ClientOptions, events: ClientEvents) {
    const { settings, items, scheduler } = options;
    this.#options = options;
    this.#events = events;
    this.#rates = new Rates(scheduler);
    for (const item of items) this.#add(item);
    this.#writes = new Writes({
      ...{ settings, scheduler, log: options.log, events },
      readBack: (item) => this.#readBack(item),
      pump: () => this.#pump(),
    });
    const ids = new Set(items.map(({ id }) => id));
    this.#tables = options.tables.map(
      (table) =>
        new TableReader(table, settings.maxObjects, ids, {
          time: (upTime) => this.#rates.timeOf(upTime),
          set: (item, varbind, atMs) => this.#set(item, varbind, atMs),
          rows: (found, gone) => this.#learnRows(found, gone),
          fault: (sentence) => this.#fault(`table ${table.before}`, sentence),
          turn: (work) => events.turn(work),
          read: (reader) => this.#queue([reader]),
        }),
    );
    this.#flush = options.atSettle(() => this.#pump());
    this.#link = new DeviceLink(
      {
        ...{ transports: options.transports, connectTimeoutMs: 5000, idleTimeoutMs: undefined, scheduler },
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

  /** Checks that the device is online. Errors: `unavailable`. */
  expectOnline({ id }: Item): void {
    if (!this.#isOnline && !this.#isStarting) throw new HubError('unavailable', `${id}: the device is offline`);
  }

  /** Writes a value at the end of the turn. A newer value replaces a value that is waiting. */
  write(item: Item, value: Value, change: Change | undefined): void {
    if (!this.#isOnline && !this.#isStarting) {
      this.#options.log.warn({ parameter: item.id }, 'not sent: the device is offline');
      return;
    }
    this.#writes.add(item, value, change);
    this.#flush();
  }

  /** Takes the objects in a notification. */
  notified(varbinds: readonly Varbind[]): void {
    for (const varbind of varbinds)
      for (const item of this.#byOid.get(varbind.oid) ?? []) if (isRead(item)) this.#set(item, varbind, undefined);
  }

  /** Reads everything immediately. */
  readAll(): void {
    if (!this.#isOnline) return;
    this.#queue([...this.#readings, ...this.#tables]);
    this.#pump();
  }

  #add(item: Item): void {
    const items = this.#byOid.get(item.oid);
    if (items === undefined) this.#byOid.set(item.oid, [item]);
    else items.push(item);
  }

  #remove(item: Item): void {
    const items = this.#byOid.get(item.oid)?.filter((one) => one !== item) ?? [];
    if (items.length === 0) this.#byOid.delete(item.oid);
    else this.#byOid.set(item.oid, items);
    this.#rates.remove(item);
    this.#faults.delete(item.id);
  }

  // The link

  #opened(): void {
    const { envelope } = this.#options;
    this.#timers = new Subscription();
    this.#isStarting = false;
    envelope.reset();
    this.#faults.clear();
    this.#planReadings();
    const times = new Set([...this.#readings, ...this.#tables].map(({ everyMs }) => everyMs));
    // The first interval is shorter than the others, so that devices that were connected together are not read at the same moments.
    const phase = this.#options.random?.() ?? nextPhase();
    for (const everyMs of times) this.#repeat(everyMs, everyMs * phase);
    this.#queue(this.#readings);
    this.#queue(this.#tables);
    this.#pump();
  }

  #repeat(everyMs: number, delayMs = everyMs): void {
    const next = this.#options.scheduler.schedule(() => {
      this.#timers.remove(next);
      this.#repeat(everyMs);
      this.#queue([...this.#readings, ...this.#tables].filter((one) => one.everyMs === everyMs));
      this.#pump();
    }, delayMs);
    this.#timers.add(next);
  }

  #ended(reason: string): number {
    this.#stopWork();
    this.#isStarting = false;
    if (this.#isOnline || this.#state === null) this.#events.offline();
    this.#isOnline = false;
    const shown = /ECONNREFUSED/.test(reason) ? 'nothing is listening on this UDP port (ECONNREFUSED)' : reason;
    this.#report(`${this.#options.transports[0]!.name}: ${shown}`);
    return 0;
  }

  #stopWork(): void {
    this.#timers.unsubscribe();
    for (const { timer } of this.#inFlight.values()) timer.unsubscribe();
    this.#inFlight.clear();
    this.#writes.forget();
    this.#reads.clear();
    for (const one of [...this.#readings, ...this.#tables]) one.isQueued = false;
    for (const table of this.#tables) table.restart();
    this.#rates.forget();
  }

  #goOnline(): void {
    if (this.#isOnline) return;
    this.#isOnline = true;
    this.#link.prove();
    this.#report();
    this.#events.online();
  }

  #report(linkReason?: string): void {
    if (linkReason === undefined && !this.#isOnline) return;
    const [fault] = this.#faults.values();
    const more = this.#faults.size > 1 ? `, and ${this.#faults.size - 1} more` : '';
    const reason = linkReason ?? (fault === undefined ? undefined : `${fault}${more}`);
    if (reason === this.#state) return;
    this.#state = reason;
    this.#events.state(reason);
  }

  #fault(name: string, sentence: string | undefined): void {
    const before = this.#faults.get(name);
    if (before === sentence) return;
    if (sentence === undefined) this.#faults.delete(name);
    else {
      this.#faults.set(name, sentence);
      this.#options.log.warn({}, sentence, 'cannot read');
    }
    this.#report();
  }

  // Requests

  #pump(): void {
    // Until the device has answered, a single request shows whether it is online.
    const window = this.#isOnline && this.#options.random === undefined ? this.#options.settings.window : 1;
    while (this.#link.isOpen && this.#inFlight.size < window) {
      const job = (this.#isOnline ? this.#writes.next() : undefined) ?? this.#nextRead();
      if (job === undefined) return;
      this.#send(this.#newId(), { job, tries: 0, repeats: 0, timer: Subscription.EMPTY });
    }
  }

  #newId(): number {
    if (this.#options.random !== undefined) return 0;
    for (;;) {
      const id = randomInt(1, maxRequestId);
      if (!this.#inFlight.has(id)) return id;
    }
  }

  #send(id: number, sent: Sent): void {
    const { envelope, scheduler, settings } = this.#options;
    const { verb, error, index, list } = sent.job;
    const asksForEngine = !envelope.isReady;
    const pdu = asksForEngine
      ? encodePdu(verbs.get, id, 0, 0, encodeVarbinds([]))
      : encodePdu(verb, id, error, index, list);
    sent.timer = scheduler.schedule(() => this.#timedOut(id, sent), settings.timeout);
    this.#inFlight.set(id, sent);
    this.#events.wire('out', pdu);
    this.#link.send(envelope.wrap(pdu, id));
  }

  #timedOut(id: number, sent: Sent): void {
    const { settings, envelope } = this.#options;
    const { job } = sent;
    if (++sent.tries > settings.retries) {
      const limit = `no answer within ${(settings.timeout * (settings.retries + 1)) / 1000} s`;
      const meaning = this.#isOnline ? undefined : envelope.meaningOfSilence;
      this.#fail(id, sent, meaning === undefined ? limit : `${limit}: ${meaning}`);
    } else if (sent.tries === settings.retries && job.shrink !== undefined) {
      // Some devices do not answer a request if the answer would be too big. The last attempt asks only for the uptime.
      const list = encodeVarbinds(asked([upTimeOid]));
      const probe: Job = { verb: verbs.get, error: 0, index: 0, list, take: () => job.shrink?.(), fail: job.fail };
      this.#inFlight.delete(id);
      this.#send(this.#newId(), { ...sent, job: probe });
    } else this.#send(id, sent);
  }

  #fail(id: number, sent: Sent, reason: string): void {
    sent.timer.unsubscribe();
    this.#inFlight.delete(id);
    sent.job.fail(reason);
    this.#link.fail(reason);
  }

  #refuse(bytes: Buffer, reason: string): void {
    this.#events.wire('in', bytes.subarray(0, shownBytes), reason);
    this.#options.log.warn({}, `rejected a message: ${reason}`, 'rejected message');
  }

  #received(bytes: Buffer): void {
    const refusal = this.#limit.count(bytes.length, this.#options.scheduler.now());
    if (refusal !== undefined) {
      this.#refuse(bytes.subarray(0, 0), refusal);
      return;
    }
    let answer: Answer | string;
    try {
      if (this.#options.notified?.(bytes) === true) return;
      answer = this.#options.envelope.unwrap(bytes, (id) => this.#inFlight.has(id));
    } catch (error) {
      answer = messageOf(error);
    }
    if (typeof answer === 'string') this.#refuse(bytes, answer);
    else this.#take(answer);
  }

  #take({ id, pdu, plain, isRepeat, refusal }: Answer): void {
    const sent = this.#inFlight.get(id)!;
    if (refusal === undefined && isRepeat !== true && pdu.verb !== verbs.response) {
      this.#refuse(plain, 'expected an answer');
      return;
    }
    this.#events.wire('in', plain);
    sent.timer.unsubscribe();
    if (isRepeat === true && sent.repeats++ < maxRepeats) this.#send(id, sent);
    else if (isRepeat === true)
      this.#fail(id, sent, 'the device refuses the engine ID or clock that it has reported itself');
    else if (refusal !== undefined) this.#fail(id, sent, refusal);
    else {
      this.#inFlight.delete(id);
      this.#goOnline();
      sent.job.take(pdu);
      this.#pump();
    }
  }

  // Reading

  /** Joins the objects with the same interval into as few requests as possible. */
  #planReadings(): void {
    this.#readings.clear();
    this.#readingOf.clear();
    const groups = new Map<number, Set<string>>();
    for (const item of this.#options.items) {
      if (!isRead(item)) continue;
      const group = groups.get(item.everyMs) ?? new Set();
      groups.set(item.everyMs, group.add(item.oid));
    }
    for (const [everyMs, group] of groups) {
      const oids = [...group];
      for (let from = 0; from < oids.length; from += this.#options.settings.maxObjects)
        this.#addReading(oids.slice(from, from + this.#options.settings.maxObjects), everyMs);
    }
    // If there is nothing to read, the hub asks for the uptime, which shows whether the device is online.
    if (this.#readings.size === 0 && this.#tables.length === 0)
      this.#addReading([upTimeOid], this.#options.settings.every);
  }

  #addReading(oids: readonly string[], everyMs: number): Reading {
    const reading = this.#createReading(oids, everyMs);
    this.#readings.add(reading);
    for (const oid of oids) this.#readingOf.set(oid, reading);
    return reading;
  }

  #createReading(oids: readonly string[], everyMs: number): Reading {
    const hasRates = oids.some((oid) => this.#byOid.get(oid)?.some(({ settings }) => settings.rate));
    const all = hasRates ? [upTimeOid, ...oids.filter((oid) => oid !== upTimeOid)] : oids;
    return { oids, asked: all, list: encodeVarbinds(asked(all)), everyMs, isQueued: false, isAgain: false };
  }

  #queue(all: Iterable<Reading | TableReader>): void {
    for (const one of all) {
      if (one.isQueued) continue;
      one.isQueued = true;
      this.#reads.add(one);
    }
  }

  #nextRead(): Job | undefined {
    const [one] = this.#reads;
    if (one === undefined) return undefined;
    this.#reads.delete(one);
    return one instanceof TableReader ? one.job() : this.#readJob(one);
  }

  #readJob(reading: Reading): Job {
    return {
      ...{ verb: verbs.get, error: 0, index: 0, list: reading.list },
      take: (answer) => {
        reading.isQueued = false;
        this.#takeReading(reading, answer);
        if (!reading.isAgain) return;
        reading.isAgain = false;
        this.#queue([reading]);
      },
      fail: () => {
        reading.isQueued = false;
      },
      ...(reading.oids.length > 1 && { shrink: () => this.#takeError(reading, tooBig, undefined) }),
    };
  }

  #takeReading(reading: Reading, { error, index, varbinds }: Pdu): void {
    const { asked: oids } = reading;
    if (error !== 0) {
      this.#takeError(reading, error, oids[index - 1]);
      return;
    }
    const name = `object ${reading.oids[0]}`;
    if (varbinds.length !== oids.length || varbinds.some(({ oid }, place) => oid !== oids[place])) {
      this.#fault(name, `expected the requested objects from ${reading.oids[0]} on, got other objects`);
      return;
    }
    this.#fault(name, undefined);
    const atMs = oids[0] === upTimeOid ? this.#rates.timeOf(varbinds[0]) : this.#options.scheduler.now();
    this.#events.turn(() => {
      for (const varbind of varbinds)
        for (const item of this.#byOid.get(varbind.oid) ?? []) if (isRead(item)) this.#set(item, varbind, atMs);
    });
  }

  /** Splits a request that the device refuses, so that all other objects are read without the object that caused the refusal. */
  #takeError(reading: Reading, error: number, oid: string | undefined): void {
    const { oids, everyMs } = reading;
    if (oids.length === 1) {
      const sentence = `the device cannot read ${oids[0]}: ${errorSentence(error)}`;
      this.#fault(`object ${oids[0]}`, sentence);
      for (const item of this.#byOid.get(oids[0]!) ?? []) this.#events.set(item, undefined, undefined);
      return;
    }
    const isOne = error !== tooBig && oid !== undefined && oids.includes(oid);
    const middle = oids.length >> 1;
    const parts = isOne ? [oids.filter((one) => one !== oid), [oid]] : [oids.slice(0, middle), oids.slice(middle)];
    this.#readings.delete(reading);
    this.#queue(parts.map((part) => this.#addReading(part, everyMs)));
  }

  /** Reports an object's value at a given time. The time is undefined for a notification, which does not change rates. */
  #set(item: Item, varbind: Varbind, atMs: number | undefined): void {
    if (item.settings.rate && atMs === undefined) return;
    const { value, fault } = item.settings.rate ? this.#rates.rateOf(item, varbind, atMs!) : decodeValue(item, varbind);
    this.#fault(item.id, fault && `${item.id}: ${fault}`);
    this.#events.set(item, value, this.#writes.confirm(item, value));
  }

  /** Reads an item again after a write, because an answer that is already on its way may be older than the write. */
  #readBack(item: Item): void {
    const reading = this.#readingOf.get(item.oid) ?? this.#createReading([item.oid], 0); // an object in a table
    if (reading.isQueued && !this.#reads.has(reading)) reading.isAgain = true;
    else this.#queue([reading]);
  }

  // Tables

  #learnRows(found: readonly (readonly [item: Item, label: string | undefined])[], gone: readonly Item[]): void {
    for (const item of gone) this.#remove(item);
    for (const [item] of found) if (this.#byOid.get(item.oid)?.includes(item) !== true) this.#add(item);
    this.#events.rows(
      found,
      gone.map(({ id }) => id),
    );
  }
}
