// What waits in a view to be sent at one rate: of each parameter the newest value (`latest`), or every change (`all`).
// Triggers are never merged.

import type { Change } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';
import { cut, firedFrame, frameLength, isTrigger, type Packer, setFrame } from './frames.ts';
import { itemOf, type Slot } from './slot.ts';
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

  /** Encodes all that waits; then nothing does. */
  take(packer: Packer, span: Span): void {
    this.oldest = undefined;
    this.encode(packer, span);
  }

  /** Keeps a change; returns how many are kept. */
  protected abstract add(slot: Slot, change: Change, isFirst: boolean): number;
  protected abstract encode(packer: Packer, span: Span): void;
}

export class LatestLane extends Lane {
  readonly delivery = 'latest';
  #slots: Slot[] = [];
  #fires: Slot[] = [];

  protected override add(slot: Slot, { parameter }: Change, isFirst: boolean): number {
    if (isTrigger(parameter)) return this.#fires.push(slot);
    if (isFirst) this.#slots.push(slot);
    return 0;
  }

  protected override encode(packer: Packer, { before, after }: Span): void {
    const slots = this.#slots;
    this.#slots = [];
    let items = '';
    let first = 0;
    for (let index = 0; index < slots.length; index++) {
      const slot = slots[index]!;
      const { feed } = slot;
      slot.isPending = false;
      const text = itemOf(feed, feed.parameter.value!, feed.revision);
      items = items === '' ? text : `${items},${text}`;
      const isLast = index === slots.length - 1;
      if (items.length < frameLength && !isLast) continue;
      packer.put(setFrame(items, isLast ? after : before), slots.slice(first, index + 1));
      first = index + 1;
      items = '';
    }
    const fires = this.#fires;
    this.#fires = [];
    for (const slot of fires) slot.isPending = false;
    putFires(packer, fires, after);
  }
}

export class AllLane extends Lane {
  readonly delivery = 'all';
  #slots: Slot[] = [];
  #values: Value[] = [];
  #revisions: number[] = [];

  protected override add(slot: Slot, { value, revision }: Change): number {
    this.#values.push(value);
    this.#revisions.push(revision);
    return this.#slots.push(slot);
  }

  protected override encode(packer: Packer, { before, after }: Span): void {
    const slots = this.#slots;
    const values = this.#values;
    const revisions = this.#revisions;
    this.#slots = [];
    this.#values = [];
    this.#revisions = [];
    const reached = (index: number) => Math.max(before, Math.min(revisions[index]!, after));
    let items = '';
    let first = 0;
    for (let index = 0; index < slots.length; index++) {
      const { feed } = slots[index]!;
      slots[index]!.isPending = false;
      const isFire = isTrigger(feed.parameter);
      const text = isFire ? String(feed.id) : itemOf(feed, values[index]!, revisions[index]!);
      items = items === '' ? text : `${items},${text}`;
      const next = slots[index + 1];
      const goesOn = next !== undefined && isTrigger(next.feed.parameter) === isFire;
      if (items.length < frameLength && goesOn) continue;
      const frame = isFire ? firedFrame(items, reached(index)) : setFrame(items, reached(index));
      packer.put(frame, slots.slice(first, index + 1));
      first = index + 1;
      items = '';
    }
  }
}

function putFires(packer: Packer, fires: readonly Slot[], revision: number): void {
  let first = 0;
  for (const ids of cut(fires.map(({ feed }) => String(feed.id)))) {
    const count = ids.split(',').length;
    packer.put(firedFrame(ids, revision), fires.slice(first, first + count));
    first += count;
  }
}
