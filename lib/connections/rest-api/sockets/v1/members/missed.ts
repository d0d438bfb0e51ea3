// What one client has missed and was not told yet. It is told how many changes were lost, and the newest value of each parameter.

import type { Channel } from '../../channel.ts';
import { definition, frameLength, isTrigger, itemOf } from '../frames.ts';
import type { GroupChannel } from '../outboxes/group-channel.ts';

/** Parts of a frame each: definitions, counts as `"9":3`, values. */
export interface MissedParts {
  readonly definitions: readonly string[];
  readonly lost: readonly string[];
  /** How many changes of values, and fires of triggers, that are. */
  readonly lostValues: number;
  readonly lostFires: number;
  readonly items: readonly string[];
}

// Most clients never miss anything.
const nothing: ReadonlyMap<Channel, number> = new Map();

export class Missed {
  /** Bounded by the members of its group, which give up whoever holds most. */
  #counts: Map<Channel, number> | undefined = undefined;

  get size(): number {
    return this.#counts?.size ?? 0;
  }

  /** How many fires of triggers that are. */
  get fires(): number {
    let fires = 0;
    for (const [{ parameter }, count] of this.#counts ?? nothing) if (isTrigger(parameter)) fires += count;
    return fires;
  }

  /** Counts changes. Of a parameter of which a client wants the newest value alone, one is enough. */
  note({ channel, outbox }: GroupChannel, count: number): void {
    const isCounted = isTrigger(channel.parameter) || outbox.delivery === 'all';
    this.#counts ??= new Map();
    this.#counts.set(channel, isCounted ? (this.#counts.get(channel) ?? 0) + count : 1);
  }

  clear(): void {
    this.#counts = undefined;
  }

  /** Takes about as much as fits into a frame; parameters that are not `wanted` any more are forgotten. */
  take(isWanted: (channel: Channel) => boolean, isDefined: boolean): MissedParts {
    const parts = {
      definitions: [] as string[],
      lost: [] as string[],
      lostValues: 0,
      lostFires: 0,
      items: [] as string[],
    };
    let length = 0;
    for (const [channel, count] of this.#counts ?? nothing) {
      this.#counts!.delete(channel);
      if (!isWanted(channel)) continue;
      const { id, parameter } = channel;
      const isState = !isTrigger(parameter);
      const countLost = isState ? count - 1 : count; // the newest value follows
      if (countLost > 0) parts.lost.push(`"${id}":${countLost}`);
      parts[isState ? 'lostValues' : 'lostFires'] += countLost;
      if (isState) parts.items.push(itemOf(channel, parameter.value!, parameter.lastChange!.revision));
      if (!isDefined) parts.definitions.push(definition(channel));
      length += 20 + (parts.items.at(-1)?.length ?? 0) + (parts.definitions.at(-1)?.length ?? 0);
      if (length >= frameLength) break;
    }
    if (this.size === 0) this.clear();
    return parts;
  }
}
