// The picture of the hub's parameters that this client has: what was defined and told, by address and by id. All of a
// message is applied before anybody is told of it, so that what is read meanwhile is consistent.

import type { Access } from '../model/parameter.ts';
import type { Value, ValueType } from '../model/value.ts';
import type { AccessCode, Definition, ReceivedMessage } from '../wire/v1/hub-messages.ts';
import type { Feed } from './feed.ts';
import type { Emitter } from './stream.ts';

/** A parameter as it is now; the object stays the same while it changes. */
export interface ParameterView {
  readonly address: string;
  /** undefined: the hub has no such parameter, or has not said so yet. */
  readonly type: ValueType | undefined;
  readonly access: Access | undefined;
  /** undefined: unknown, or a trigger. */
  readonly value: Value | undefined;
  readonly isKnown: boolean;
}

export class Entry implements ParameterView {
  readonly address: string;
  type: ValueType | undefined;
  access: Access | undefined;
  value: Value | undefined;
  id: number | undefined;
  /** The connections, counted from 1, in which it was last defined, told, and part of a complete picture. */
  definedIn = 0;
  toldIn = 0;
  completeIn = 0;
  /** Whether it is subscribed to by its address. */
  isPooled = false;
  feeds: readonly Feed[] = [];
  /** Told each new value, undefined when there is none any more, and 1 when a trigger fires. */
  watchers: Emitter<Value | undefined> | undefined;
  /** Told 1 when a trigger fires. */
  fires: Emitter<1> | undefined;

  constructor(address: string) {
    this.address = address;
  }

  get isKnown(): boolean {
    return this.value !== undefined;
  }
}

const accesses: Record<AccessCode, Access> = { rw: 'read-write', r: 'read-only', w: 'write-only' };

export class Picture {
  /** Counts connections from 1. */
  connection = 0;
  /** Both bounded by the parameters of the hub that are subscribed to. */
  readonly #byAddress = new Map<string, Entry>();
  readonly #byId = new Map<number, Entry>();
  readonly #feeds = new Set<Feed>();
  /** Who is to be told what, once the message is applied. */
  #news: (() => void)[] = [];

  find(address: string): Entry | undefined {
    return this.#byAddress.get(address);
  }

  findById(id: number): Entry | undefined {
    return this.#byId.get(id);
  }

  /** The entry of an address that is subscribed to. */
  pool(address: string): Entry {
    const entry = this.#byAddress.get(address) ?? new Entry(address);
    this.#byAddress.set(address, entry);
    entry.isPooled = true;
    return entry;
  }

  unpool(entry: Entry): void {
    entry.isPooled = false;
    this.#dropUnused(entry);
  }

  /** Adds a feed, with what is known that it matches. */
  addFeed(feed: Feed): void {
    this.#feeds.add(feed);
    for (const entry of this.#byAddress.values()) if (entry.type !== undefined) this.#join(entry, feed);
  }

  removeFeed(feed: Feed): void {
    this.#feeds.delete(feed);
    for (const entry of feed.parameters.values()) {
      entry.feeds = entry.feeds.filter((one) => one !== feed);
      this.#dropUnused(entry);
    }
    feed.parameters.clear();
  }

  /** Tells everybody that nothing more comes. */
  close(): void {
    for (const feed of this.#feeds) feed.close();
    for (const { watchers, fires } of this.#byAddress.values()) {
      watchers?.complete();
      fires?.complete();
    }
  }

  /** A new run of the hub has other ids. */
  forgetIds(): void {
    for (const entry of this.#byId.values()) entry.id = undefined;
    this.#byId.clear();
  }

  /** Takes in what a message says of parameters, then tells it. */
  apply({ def = [], undef = [], set = [], fired = [] }: ReceivedMessage): void {
    for (const definition of def) this.#define(definition);
    for (const id of undef) this.#remove(this.#byId.get(id));
    for (const [id, value] of set) {
      const entry = this.#byId.get(id);
      if (entry === undefined) continue;
      entry.toldIn = this.connection;
      this.#change(entry, value);
    }
    for (const id of fired) this.#fire(this.#byId.get(id));
    this.#tell();
  }

  /** The picture of these is complete; of a snapshot, what did not come is no more, or has become unknown. */
  complete(entries: Iterable<Entry>, isSnapshot: boolean): void {
    for (const entry of entries) {
      entry.completeIn = this.connection;
      if (!isSnapshot) continue;
      if (entry.definedIn !== this.connection) this.#remove(entry);
      else if (entry.toldIn !== this.connection) this.#change(entry, undefined);
    }
    this.#tell();
  }

  #define([id, address, type, access]: Definition): void {
    const matching = [...this.#feeds].filter((feed) => feed.matches(address));
    const present = this.#byAddress.get(address);
    if (present?.id !== undefined && present.id !== id) this.#remove(present); // it is another one of this address
    let entry = this.#byAddress.get(address);
    if (entry === undefined) {
      if (matching.length === 0) return; // unsubscribed meanwhile
      entry = new Entry(address);
      this.#byAddress.set(address, entry);
    }
    this.#byId.set(id, entry);
    entry.id = id;
    entry.definedIn = this.connection;
    if (entry.type === type && entry.access === accesses[access]) return;
    entry.type = type;
    entry.access = accesses[access];
    for (const feed of matching) {
      if (!entry.feeds.includes(feed)) this.#join(entry, feed);
      feed.defined(entry);
      this.touch(feed);
    }
  }

  #join(entry: Entry, feed: Feed): void {
    if (!feed.matches(entry.address)) return;
    entry.feeds = [...entry.feeds, feed];
    feed.parameters.set(entry.address, entry);
  }

  #change(entry: Entry, value: Value | undefined): void {
    if (entry.value === value) return; // a picture that comes again tells nothing new
    entry.value = value;
    const { address, watchers } = entry;
    for (const feed of entry.feeds) {
      feed.changed({ address, value });
      this.touch(feed);
    }
    if (watchers?.isObserved) this.#news.push(() => watchers.next(value));
  }

  #fire(entry: Entry | undefined): void {
    if (entry === undefined) return;
    const { address, watchers, fires } = entry;
    for (const feed of entry.feeds) {
      feed.changed({ address, value: 1 });
      this.touch(feed);
    }
    this.#news.push(() => {
      watchers?.next(1);
      fires?.next(1);
    });
  }

  #remove(entry: Entry | undefined): void {
    if (entry === undefined) return;
    this.#byId.delete(entry.id!);
    entry.id = entry.type = entry.access = undefined;
    for (const feed of entry.feeds) {
      feed.parameters.delete(entry.address);
      feed.removed(entry.address);
      this.touch(feed);
    }
    entry.feeds = [];
    this.#change(entry, undefined);
    this.#dropUnused(entry);
  }

  #dropUnused(entry: Entry): void {
    if (entry.isPooled || entry.feeds.length > 0) return;
    this.#byId.delete(entry.id!);
    this.#byAddress.delete(entry.address);
  }

  /** Has a feed tell its batch, once, with what is told next. */
  touch(feed: Feed): void {
    if (feed.isTouched) return;
    feed.isTouched = true;
    this.#news.push(() => feed.tell());
  }

  #tell(): void {
    const news = this.#news;
    this.#news = [];
    for (const tell of news) tell();
  }
}
