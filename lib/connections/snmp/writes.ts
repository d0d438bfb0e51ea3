// The writes to a device: all writes of a turn are sent in one request, and only one such request is under way at a time. A write is
// pending until the device reports the value, which the hub reads back.

import { type SchedulerLike, Subscription } from 'rxjs';
import { HubError } from '../../model/error.ts';
import type { Change } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import { encodeVarbinds, errorSentence, type Pdu, verbs } from './message.ts';
import { encodeValue, type Item } from './objects.ts';
import type { SnmpSettings } from './settings.ts';

/** A request. */
export interface Job {
  readonly verb: number;
  readonly error: number;
  readonly index: number;
  readonly list: Buffer;
  /** Handles the answer, which may contain an error. */
  take(answer: Pdu): void;
  /** Called when the request has ended without an answer. */
  fail(reason: string): void;
  /** Asks for less immediately; undefined if this is impossible. */
  shrink?(): void;
}

export interface WritesOptions {
  readonly settings: SnmpSettings;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  readonly events: {
    set(item: Item, value: Value | undefined, because: Change | undefined): void;
    settle(id: string, error: HubError): void;
    turn(work: () => void): void;
  };
  /** Reads an item again. */
  readBack(item: Item): void;
  /** Sends the waiting requests. */
  pump(): void;
}

/** How often the hub reads back a written value, and how long it waits each time, in milliseconds. */
const confirmTries = 5;
const confirmEveryMs = 1000;

interface Write {
  readonly item: Item;
  readonly value: Value;
  readonly change: Change | undefined;
  /** Whether the write is sent separately, because the device has refused a request with several writes. */
  readonly isAlone: boolean;
}

interface Wanted {
  readonly value: Value;
  readonly change: Change | undefined;
  tries: number;
  timer: Subscription;
}

export class Writes {
  readonly #options: WritesOptions;
  readonly #waiting = new Map<Item, Write>();
  readonly #wanted = new Map<Item, Wanted>();
  #isWriting = false;

  constructor(options: WritesOptions) {
    this.#options = options;
  }

  /** Adds a write, which replaces a waiting write to the same item. */
  add(item: Item, value: Value, change: Change | undefined): void {
    this.#waiting.delete(item);
    this.#waiting.set(item, { item, value, change, isAlone: false });
  }

  /** Returns the change that a reported value confirms; undefined if the value confirms no write. */
  confirm(item: Item, value: Value | undefined): Change | undefined {
    const wanted = this.#wanted.get(item);
    if (wanted === undefined || wanted.value !== value) return undefined;
    wanted.timer.unsubscribe();
    this.#wanted.delete(item);
    return wanted.change;
  }

  /** Forgets all writes, because the device is offline. The hub itself ends pending writes when values become stale. */
  forget(): void {
    this.#isWriting = false;
    this.#waiting.clear();
    for (const { timer } of this.#wanted.values()) timer.unsubscribe();
    this.#wanted.clear();
  }

  /** Returns the next request; undefined if nothing can currently be written. */
  next(): Job | undefined {
    const [first] = this.#waiting.values();
    if (first === undefined || this.#isWriting) return undefined;
    const writes: Write[] = [];
    for (const write of this.#waiting.values()) {
      if (writes.length >= (first.isAlone ? 1 : this.#options.settings.maxObjects)) break;
      if (write === first || !write.isAlone) writes.push(write);
    }
    this.#isWriting = true;
    for (const { item } of writes) this.#waiting.delete(item);
    const list = encodeVarbinds(writes.map(({ item, value }) => ({ oid: item.oid, ...encodeValue(item, value) })));
    return {
      ...{ verb: verbs.set, error: 0, index: 0, list },
      take: (answer) => this.#end(writes, answer),
      fail: (reason) => this.#failed(writes, reason),
    };
  }

  #end(writes: readonly Write[], { error, index }: Pdu): void {
    this.#isWriting = false;
    if (error === 0) {
      this.#options.events.turn(() => {
        for (const { item, value, change } of writes)
          if (!item.isConfirmed) continue;
          else if (item.confirm === 'answer') this.#options.events.set(item, value, change);
          else this.#want(item, value, change);
      });
      return;
    }
    // A device executes either all writes of a request or none. All other writes are sent again without the refused write.
    const refused = writes[index - 1];
    const failed = writes.length === 1 ? writes : refused === undefined ? [] : [refused];
    this.#failed(failed, `the device refused the write: ${errorSentence(error)}`);
    for (const write of writes)
      if (!failed.includes(write) && !this.#waiting.has(write.item))
        this.#waiting.set(write.item, { ...write, isAlone: refused === undefined });
  }

  #failed(writes: readonly Write[], reason: string): void {
    for (const { item } of writes) {
      const message = `${item.id}: ${reason}`;
      if (item.isConfirmed) this.#options.events.settle(item.id, new HubError('not-confirmed', message));
      else this.#options.log.warn({ parameter: item.id }, `not written: ${reason}`);
    }
  }

  /** Reads back a written value until the device reports it. */
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
