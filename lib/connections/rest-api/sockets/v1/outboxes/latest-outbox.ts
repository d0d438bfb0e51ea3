// Keeps which parameters have changed; their newest values are sent. Each fire of a trigger is kept.

import type { Change } from '../../../../../model/parameter.ts';
import { cut, firedFrame, frameLength, isTrigger, itemOf, setFrame } from '../frames.ts';
import type { GroupChannel } from './group-channel.ts';
import { Outbox, type Span } from './outbox.ts';
import type { Packer } from './packer.ts';

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
    for (const channel of this.#channels) channel.isPending = false;
    for (const channel of this.#fires) channel.isPending = false;
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

/** Puts the newest value of each channel; `isLast`: nothing of the outbox follows. */
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
