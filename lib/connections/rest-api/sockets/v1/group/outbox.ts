// What waits in a view to be sent at one rate: of each parameter the newest value (`latest`), or every change (`all`).
// Triggers are never merged.

import type { Change } from '../../../../../model/parameter.ts';
import type { Value } from '../../../../../model/value.ts';
import { cut, firedFrame, frameLength, isTrigger, type Packer, setFrame } from '../frames.ts';
import { itemOf, type Slot } from './group-channel.ts';
import type { Ticker } from './ticker.ts';

/** How many changes wait at most; with more they leave at once. */
const maxPending = 65_536;

/** What clients have once frames of a flush are sent: all up to `before`, and with the last of them up to `after`. */
export interface Span {
  readonly before: number;
  readonly after: number;
}

export abstract class Lane {
  abstract readonly delivery: 'latest' | 'all';
  /** Whether something waits that must not be sent twice. */
  abstract readonly isExact: boolean;
  readonly rate: number;
  /** The revision of the oldest change that waits; undefined: none does. */
  oldest: number | undefined = undefined;
  readonly #ticker: Ticker;
  readonly #flush: () => void;
  #isRequested = false;

  /** `flush` is called when it is time. */
  constructor(rate: number, ticker: Ticker, flush: () => void) {
    this.rate = rate;
    this.#ticker = ticker;
    this.#flush = flush;
  }

  /** Takes a change; `isFirst`: none of this slot waits. */
  put(slot: Slot, change: Change, isFirst: boolean): void {
    this.oldest ??= change.revision;
    if (!this.#isRequested) {
      this.#isRequested = true;
      this.#ticker.request(this);
    }
    if (this.add(slot, change, isFirst) >= maxPending) this.#flush();
  }

  flush(): void {
    this.#isRequested = false;
    this.#flush();
  }

  /** Encodes what waits of revisions after `after`; it goes on waiting. */
  abstract encode(packer: Packer, span: Span, after: number, onlyFires?: boolean): void;

  /** Yields the slot of each change that waits, of revisions after `after`. */
  abstract waiting(after: number): Generator<Slot, void, void>;

  /** Forgets what waits. */
  clear(): void {
    this.oldest = undefined;
    this.forget();
  }

  /** Keeps a change; returns how many are kept. */
  protected abstract add(slot: Slot, change: Change, isFirst: boolean): number;
  protected abstract forget(): void;
}

export class LatestLane extends Lane {
  readonly delivery = 'latest';
  #slots: Slot[] = [];
  #fires: Slot[] = [];
  #fireRevisions: number[] = [];

  override get isExact(): boolean {
    return this.#fires.length > 0;
  }

  override encode(packer: Packer, { before, after: reached }: Span, after: number, onlyFires = false): void {
    const fires = this.#fires.filter((_, index) => this.#fireRevisions[index]! > after);
    const slots = onlyFires ? [] : this.#slotsAfter(after);
    let items = '';
    let first = 0;
    for (let index = 0; index < slots.length; index++) {
      const { channel } = slots[index]!;
      const text = itemOf(channel, channel.parameter.value!, channel.parameter.lastChange!.revision);
      items = items === '' ? text : `${items},${text}`;
      const isLast = index === slots.length - 1;
      if (items.length < frameLength && !isLast) continue;
      packer.put(setFrame(items, isLast && fires.length === 0 ? reached : before), slots.slice(first, index + 1));
      first = index + 1;
      items = '';
    }
    putFires(packer, fires, before, reached);
  }

  override *waiting(after: number): Generator<Slot, void, void> {
    yield* this.#slotsAfter(after);
    for (const [index, slot] of this.#fires.entries()) if (this.#fireRevisions[index]! > after) yield slot;
  }

  protected override add(slot: Slot, { parameter, revision }: Change, isFirst: boolean): number {
    if (isTrigger(parameter)) {
      this.#fireRevisions.push(revision);
      return this.#fires.push(slot);
    }
    if (isFirst) this.#slots.push(slot);
    return 0;
  }

  protected override forget(): void {
    for (const slot of this.#slots) slot.isPending = false;
    for (const slot of this.#fires) slot.isPending = false;
    this.#slots = [];
    this.#fires = [];
    this.#fireRevisions = [];
  }

  #slotsAfter(after: number): readonly Slot[] {
    return after < 0
      ? this.#slots
      : this.#slots.filter(({ channel }) => channel.parameter.lastChange!.revision > after);
  }
}

export class AllLane extends Lane {
  readonly delivery = 'all';
  #slots: Slot[] = [];
  #values: Value[] = [];
  #revisions: number[] = [];

  override get isExact(): boolean {
    return this.#slots.length > 0;
  }

  override encode(packer: Packer, { before, after: reached }: Span, after: number, onlyFires = false): void {
    let items = '';
    let slots: Slot[] = [];
    let areFires = false;
    let revision = before;
    const end = () => {
      if (items === '') return;
      const rev = Math.max(before, Math.min(revision, reached));
      packer.put(areFires ? firedFrame(items, rev) : setFrame(items, rev), slots);
      items = '';
      slots = [];
    };
    for (let index = this.#firstAfter(after); index < this.#slots.length; index++) {
      const slot = this.#slots[index]!;
      const { channel } = slot;
      const isFire = isTrigger(channel.parameter);
      if (onlyFires && !isFire) continue;
      if (isFire !== areFires) end();
      areFires = isFire;
      revision = this.#revisions[index]!;
      const text = isFire ? String(channel.id) : itemOf(channel, this.#values[index]!, revision);
      items = items === '' ? text : `${items},${text}`;
      slots.push(slot);
      if (items.length >= frameLength) end();
    }
    revision = reached;
    end();
  }

  override *waiting(after: number): Generator<Slot, void, void> {
    for (let index = this.#firstAfter(after); index < this.#slots.length; index++) yield this.#slots[index]!;
  }

  protected override add(slot: Slot, { value, revision }: Change): number {
    this.#values.push(value);
    this.#revisions.push(revision);
    return this.#slots.push(slot);
  }

  protected override forget(): void {
    for (const slot of this.#slots) slot.isPending = false;
    this.#slots = [];
    this.#values = [];
    this.#revisions = [];
  }

  #firstAfter(after: number): number {
    let index = 0;
    while (index < this.#revisions.length && this.#revisions[index]! <= after) index++;
    return index;
  }
}

function putFires(packer: Packer, fires: readonly Slot[], before: number, reached: number): void {
  let first = 0;
  for (const ids of cut(fires.map(({ channel }) => String(channel.id)))) {
    const end = first + ids.split(',').length;
    packer.put(firedFrame(ids, end === fires.length ? reached : before), fires.slice(first, end));
    first = end;
  }
}
