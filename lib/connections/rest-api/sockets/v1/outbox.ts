// The changes that wait in a group. There is one outbox for each combination of rate and delivery in the group's subscriptions. When an
// outbox is due, its changes are encoded once and packed into batches for all members.

import type { Change, Parameter } from '../../../../model/parameter.ts';
import type { Value } from '../../../../model/value.ts';
import type { Delivery } from '../../../../wire/v1/client-messages.ts';
import type { Channel, Observer, Subscriber } from '../fan-out.ts';
import { cut, firedFrame, frameLength, isTrigger, itemOf, setFrame } from './frames.ts';
import { byLiveliness, type Subscription } from './subscription.ts';

interface OutboxesOptions {
  readonly hub: { readonly revision: number };
  readonly tickerOf: (rate: number) => Ticker;
  /** Called when an outbox is due. */
  readonly flush: (outbox: Outbox) => void;
}

/** The outboxes of a group. The outbox with the most frequent delivery comes first. */
export class Outboxes {
  readonly #all: Outbox[] = [];
  readonly #subscriptions: readonly Subscription[];
  readonly #hub: { readonly revision: number };

  constructor(subscriptions: Iterable<Subscription>, { hub, tickerOf, flush }: OutboxesOptions) {
    this.#hub = hub;
    this.#subscriptions = [...subscriptions].sort(byLiveliness);
    for (const subscription of this.#subscriptions) {
      if (this.#find(subscription) !== undefined) continue;
      const OutboxClass = subscription.delivery === 'all' ? AllOutbox : LatestOutbox;
      this.#all.push(new OutboxClass(subscription.rate, tickerOf(subscription.rate), flush));
    }
  }

  /** Whether any subscription of the group wants every change. */
  get isExact(): boolean {
    return this.#all.some(({ delivery }) => delivery === 'all');
  }

  /** The outboxes in which changes are waiting. */
  get due(): Outbox[] {
    return this.#all.filter(({ oldest }) => oldest !== undefined);
  }

  /** The revision up to which everything has been sent. */
  get sent(): number {
    return this.sentWith([]);
  }

  /** Returns the revision up to which everything will have been sent once the outboxes `flushed` have been flushed. */
  sentWith(flushed: readonly Outbox[]): number {
    let sent = this.#hub.revision;
    for (const outbox of this.#all)
      if (outbox.oldest !== undefined && !flushed.includes(outbox)) sent = Math.min(sent, outbox.oldest - 1);
    return sent;
  }

  matches(parameter: Parameter): boolean {
    return this.#subscriptions.some(({ selection }) => selection.has(parameter));
  }

  /**
   * Returns the outbox for a parameter, which belongs to the matching subscription with the most frequent delivery. At least one
   * subscription must match.
   */
  of(parameter: Parameter): Outbox {
    return this.#find(this.#subscriptions.find(({ selection }) => selection.has(parameter))!)!;
  }

  /** Encodes the waiting changes after the revision `from` for one client, or only the firings; the changes keep waiting. */
  encode(packer: Packer, from: number, onlyFires: boolean): void {
    for (const outbox of this.due) outbox.encode(packer, undefined, from, onlyFires);
  }

  /** Yields the channel of each change that is waiting and was made after the revision `from`. */
  *waiting(from: number): Generator<GroupChannel, void, void> {
    for (const outbox of this.#all) yield* outbox.waiting(from);
  }

  #find({ rate, delivery }: Subscription): Outbox | undefined {
    return this.#all.find((outbox) => outbox.rate === rate && outbox.delivery === delivery);
  }
}

/** The number of waiting changes at which they are sent immediately. A long string counts as several changes. */
const maxPending = 65_536;

/**
 * The revisions that the frames of a flush report: everything up to `before` was sent earlier, and everything up to `after` has been sent
 * with the last frame.
 */
interface Span {
  readonly before: number;
  readonly after: number;
}

/**
 * The changes that are waiting to be sent at one rate and with one delivery: the newest value of each parameter (`LatestOutbox`), or every
 * change (`AllOutbox`). Firings are never merged.
 */
export abstract class Outbox implements ChangeKeeper, Flushable {
  abstract readonly delivery: Delivery;
  /** Whether some of the waiting changes must not be sent twice. */
  abstract readonly isExact: boolean;
  readonly rate: number;
  #oldest: number | undefined = undefined;
  readonly #ticker: Ticker;
  readonly #flush: (outbox: Outbox) => void;
  #isRequested = false;

  /** `flush` is called when the outbox is due, or has too many changes. */
  constructor(rate: number, ticker: Ticker, flush: (outbox: Outbox) => void) {
    this.rate = rate;
    this.#ticker = ticker;
    this.#flush = flush;
  }

  /** The revision of the oldest waiting change; undefined if no change is waiting. */
  get oldest(): number | undefined {
    return this.#oldest;
  }

  put(channel: GroupChannel, change: Change, isFirst: boolean): void {
    this.#oldest ??= change.revision;
    if (!this.#isRequested) {
      this.#isRequested = true;
      this.#ticker.request(this);
    }
    if (this.add(channel, change, isFirst) >= maxPending) this.#flush(this);
  }

  flush(): void {
    this.#isRequested = false;
    this.#flush(this);
  }

  /**
   * Encodes the waiting changes after the revision `from`, or only the firings; the changes keep waiting. Without a span, the frames report
   * no revision.
   */
  abstract encode(packer: Packer, span: Span | undefined, from: number, onlyFires?: boolean): void;

  /** Yields the channel of each waiting change after the revision `from`. */
  abstract waiting(from: number): Generator<GroupChannel, void, void>;

  /** Drops all waiting changes. */
  clear(): void {
    this.#oldest = undefined;
    this.forget();
  }

  /** Adds a change; returns the number of waiting changes to compare with `maxPending`. */
  protected abstract add(channel: GroupChannel, change: Change, isFirst: boolean): number;
  protected abstract forget(): void;
}

/** Keeps the parameters that have changed, whose newest values will be sent, and each firing of a trigger. */
export class LatestOutbox extends Outbox {
  readonly delivery = 'latest';
  #channels: GroupChannel[] = [];
  #fires: GroupChannel[] = [];
  #fireRevisions: number[] = [];

  override get isExact(): boolean {
    return this.#fires.length > 0;
  }

  override encode(packer: Packer, span: Span | undefined, from: number, onlyFires = false): void {
    const fires = this.#firesAfter(from);
    if (!onlyFires) putValues(packer, this.#channelsAfter(from), span, fires.length === 0);
    putFires(packer, fires, span);
  }

  override *waiting(from: number): Generator<GroupChannel, void, void> {
    yield* this.#channelsAfter(from);
    yield* this.#firesAfter(from);
  }

  protected override add(channel: GroupChannel, { parameter, revision }: Change, isFirst: boolean): number {
    if (isTrigger(parameter)) {
      this.#fireRevisions.push(revision);
      return this.#fires.push(channel);
    }
    if (isFirst) this.#channels.push(channel);
    return 0;
  }

  protected override forget(): void {
    for (const channel of this.#channels) channel.settle();
    for (const channel of this.#fires) channel.settle();
    this.#channels = [];
    this.#fires = [];
    this.#fireRevisions = [];
  }

  #channelsAfter(from: number): readonly GroupChannel[] {
    if (from < 0) return this.#channels;
    return this.#channels.filter(({ channel }) => channel.parameter.lastChange!.revision > from);
  }

  #firesAfter(from: number): readonly GroupChannel[] {
    if (from < 0) return this.#fires;
    return this.#fires.filter((_, index) => this.#fireRevisions[index]! > from);
  }
}

/**
 * Packs the newest value of each channel; `isLast` means that these values complete the outbox, so that the last frame reports
 * `span.after`.
 */
function putValues(packer: Packer, channels: readonly GroupChannel[], span: Span | undefined, isLast: boolean): void {
  let items = '';
  let first = 0;
  for (let index = 0; index < channels.length; index++) {
    const { channel } = channels[index]!;
    const text = itemOf(channel, channel.parameter.value!, channel.parameter.lastChange!.revision);
    items = items === '' ? text : `${items},${text}`;
    const isEnd = index === channels.length - 1;
    if (items.length < frameLength && !isEnd) continue;
    packer.put(setFrame(items, isEnd && isLast ? span?.after : span?.before), channels.slice(first, index + 1));
    first = index + 1;
    items = '';
  }
}

function putFires(packer: Packer, fires: readonly GroupChannel[], span: Span | undefined): void {
  let first = 0;
  for (const ids of cut(fires.map(({ channel }) => String(channel.id)))) {
    const end = first + ids.split(',').length;
    packer.put(firedFrame(ids, end === fires.length ? span?.after : span?.before), fires.slice(first, end));
    first = end;
  }
}

/**
 * The binary logarithm of the number of characters in a string that count as one more change: 64 characters, so at most 4 Mi characters
 * wait.
 */
const textShift = 6;

/** Keeps every change, in the order in which the changes were made. */
export class AllOutbox extends Outbox {
  readonly delivery = 'all';
  #channels: GroupChannel[] = [];
  #values: Value[] = [];
  #revisions: number[] = [];
  /** The number of changes that long strings count as, in addition to one change per string. */
  #textChanges = 0;

  override get isExact(): boolean {
    return this.#channels.length > 0;
  }

  override encode(packer: Packer, span: Span | undefined, from: number, onlyFires = false): void {
    let items = '';
    let channels: GroupChannel[] = [];
    let areFires = false;
    const end = (revision: number) => {
      if (items === '') return;
      const reported = span && Math.max(span.before, Math.min(revision, span.after));
      packer.put(areFires ? firedFrame(items, reported) : setFrame(items, reported), channels);
      items = '';
      channels = [];
    };
    let last = 0;
    for (let index = this.#firstAfter(from); index < this.#channels.length; index++) {
      const waiting = this.#channels[index]!;
      const { channel } = waiting;
      const isFire = isTrigger(channel.parameter);
      if (onlyFires && !isFire) continue;
      if (isFire !== areFires) end(last);
      areFires = isFire;
      last = this.#revisions[index]!;
      const text = isFire ? String(channel.id) : itemOf(channel, this.#values[index]!, last);
      items = items === '' ? text : `${items},${text}`;
      channels.push(waiting);
      if (items.length >= frameLength) end(last);
    }
    end(Number.POSITIVE_INFINITY);
  }

  override *waiting(from: number): Generator<GroupChannel, void, void> {
    for (let index = this.#firstAfter(from); index < this.#channels.length; index++) yield this.#channels[index]!;
  }

  protected override add(channel: GroupChannel, { value, revision }: Change): number {
    if (typeof value === 'string') this.#textChanges += value.length >> textShift;
    this.#values.push(value);
    this.#revisions.push(revision);
    return this.#channels.push(channel) + this.#textChanges;
  }

  protected override forget(): void {
    for (const channel of this.#channels) channel.settle();
    this.#channels = [];
    this.#values = [];
    this.#revisions = [];
    this.#textChanges = 0;
  }

  #firstAfter(from: number): number {
    let index = 0;
    while (index < this.#revisions.length && this.#revisions[index]! <= from) index++;
    return index;
  }
}

/** An object that keeps changes until they are sent. */
export interface ChangeKeeper {
  readonly delivery: Delivery;
  /** Adds a change; `isFirst` means that no other change to this parameter is waiting. */
  put(channel: GroupChannel, change: Change, isFirst: boolean): void;
}

/** Puts the changes to one parameter into an outbox of a group, and tracks whether a change is waiting. */
export class GroupChannel implements Observer {
  readonly subscriber: Subscriber;
  readonly channel: Channel;
  readonly outbox: ChangeKeeper;
  #isPending = false;
  #previousRevision = 0;

  constructor(subscriber: Subscriber, channel: Channel, outbox: ChangeKeeper) {
    this.subscriber = subscriber;
    this.channel = channel;
    this.outbox = outbox;
  }

  /** Whether a change to the parameter is waiting. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** The revision of the parameter's last change before the waiting changes. */
  get previousRevision(): number {
    return this.#previousRevision;
  }

  notify(change: Change): void {
    const isFirst = !this.#isPending;
    if (isFirst) {
      this.#isPending = true;
      this.#previousRevision = this.channel.revision;
    }
    this.outbox.put(this, change, isFirst);
  }

  /** Notes that no change is waiting any more, because the outbox has been flushed. */
  settle(): void {
    this.#isPending = false;
  }
}

/** Frames that are sent together, and the channel of each change in the frames. */
export interface Batch {
  readonly frames: Uint8Array[];
  readonly channels: GroupChannel[];
  bytes: number;
}

/** Packs frames into batches. A socket either receives a whole batch, or misses this batch and all following batches. */
export class Packer {
  readonly batches: Batch[] = [];
  /** The lowest of the revisions that the parameters in the batches had before their waiting changes. */
  leastPrevious = Number.POSITIVE_INFINITY;

  put(frame: string, channels: readonly GroupChannel[]): void {
    const bytes = Buffer.from(frame);
    let last = this.batches.at(-1);
    if (last === undefined || last.bytes + bytes.length > frameLength) {
      last = { frames: [], channels: [], bytes: 0 };
      this.batches.push(last);
    }
    last.frames.push(bytes);
    for (const channel of channels) {
      last.channels.push(channel);
      if (channel.previousRevision < this.leastPrevious) this.leastPrevious = channel.previousRevision;
    }
    last.bytes += bytes.length;
  }
}

/** An object that a ticker can flush. */
interface Flushable {
  flush(): void;
}

/** The clock and the timers that a ticker uses. */
interface TickerClock {
  /** Returns the time on a monotonic clock, in milliseconds. */
  now(): number;
  /** Runs work at the end of this round of the event loop. */
  soon(work: () => void): void;
  after(delayMs: number, work: () => void): void;
}

const realClock: TickerClock = {
  now: () => performance.now(),
  soon: (work) => void setImmediate(work),
  after: (delayMs, work) => void setTimeout(work, delayMs).unref(), // a server without sockets must not keep the process alive
};

/**
 * Flushes objects no more often than a given rate allows. A change that comes after a pause is sent at the end of its round of the event
 * loop; a change that comes sooner waits for the next tick, together with all other changes at the same rate.
 */
export class Ticker {
  readonly #periodMs: number;
  readonly #clock: TickerClock;
  #due: Flushable[] = [];
  #lastMs = Number.NEGATIVE_INFINITY;

  /** `rate` is the number of flushes per second; 0 means a flush in every round of the event loop. */
  constructor(rate: number, clock = realClock) {
    this.#periodMs = rate === 0 ? 0 : 1000 / rate;
    this.#clock = clock;
  }

  /** Flushes an object at the next tick. The caller must not request another flush of this object before that tick. */
  request(flushable: Flushable): void {
    if (this.#due.push(flushable) > 1) return;
    const waitMs = this.#lastMs + this.#periodMs - this.#clock.now();
    if (waitMs <= 0) this.#clock.soon(() => this.#tick());
    else this.#clock.after(Math.ceil(waitMs), () => this.#tick());
  }

  #tick(): void {
    const now = this.#clock.now();
    const late = now - this.#lastMs - this.#periodMs;
    this.#lastMs = late < this.#periodMs ? now - late : now; // keeps the grid if the tick is less than a period late
    const due = this.#due;
    this.#due = [];
    for (const flushable of due) flushable.flush();
  }
}

/**
 * Returns a function that returns the ticker for a rate. Each server has one ticker per rate, and the number of rates is bounded. `soon`
 * runs work at the end of a round of the event loop.
 */
export function createTickers(soon: TickerClock['soon']): (rate: number) => Ticker {
  const clock = { ...realClock, soon };
  const tickers = new Map<number, Ticker>();
  return (rate) => {
    let ticker = tickers.get(rate);
    if (ticker === undefined) {
      ticker = new Ticker(rate, clock);
      tickers.set(rate, ticker);
    }
    return ticker;
  };
}
