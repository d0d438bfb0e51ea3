// Keeps every change, in order.

import type { Change } from '../../../../../model/parameter.ts';
import type { Value } from '../../../../../model/value.ts';
import { firedFrame, frameLength, isTrigger, itemOf, setFrame } from '../frames.ts';
import type { GroupChannel } from './group-channel.ts';
import { Outbox, type Span } from './outbox.ts';
import type { Packer } from './packer.ts';

/** 64 characters of a text count as another change: so 4 Mi of them wait at most. */
const textShift = 6;

export class AllOutbox extends Outbox {
  readonly delivery = 'all';
  #channels: GroupChannel[] = [];
  #values: Value[] = [];
  #revisions: number[] = [];
  /** As how many changes the texts count besides. */
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
      const told = span && Math.max(span.before, Math.min(revision, span.after));
      packer.put(areFires ? firedFrame(items, told) : setFrame(items, told), channels);
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
    for (const channel of this.#channels) channel.isPending = false;
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
