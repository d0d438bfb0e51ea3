// The list of events that the page holds, made of the pages that the hub has told.

import type { ValueType } from '../../client/index.ts';
import type { EventList, HistoryEvent } from '../../wire/http/past-shapes.ts';

/** How many events the page holds at most. People see more when they look at a shorter time. */
export const maxListed = 5000;

export interface ListedEvent extends HistoryEvent {
  /** The same for the same event in each answer. */
  readonly id: string;
}

export interface Listed {
  /** That of the parameter, as it was recorded. */
  readonly type: ValueType;
  /** Newest first. */
  readonly events: readonly ListedEvent[];
  /** What to ask for to get older ones; undefined: there are none. */
  readonly next: string | undefined;
}

export function start({ type, events, next }: EventList): Listed {
  return { type, events: withIds(events), next };
}

export function addOlder(held: Listed, { events, next }: EventList): Listed {
  return { ...held, events: withIds([...held.events, ...events]), next };
}

/**
 * Takes the newest page once more: what is new comes on top, and what happened before `from` goes. When more is new than a page holds,
 * or the list becomes too long, older ones are asked for again.
 */
export function refresh(held: Listed, page: EventList, from: number): Listed {
  const news = withIds(page.events);
  const oldest = news.at(-1);
  const known = held.events.findIndex(({ id }) => id === oldest?.id);
  if (known < 0 || known === held.events.length - 1) return { ...held, events: news, next: page.next };
  const all = withIds([...page.events, ...held.events.slice(known + 1)]);
  if (all.length > maxListed) return { ...held, events: news, next: page.next };
  const events = all.filter(({ time }) => Date.parse(time) >= from);
  return { ...held, events, next: events.length < all.length ? undefined : held.next };
}

/** Events of one millisecond are told apart by what they were, and else by their order, the oldest first. */
function withIds(events: readonly HistoryEvent[]): ListedEvent[] {
  const counts = new Map<string, number>();
  return events
    .toReversed()
    .map((event) => {
      const { time, value, writer } = event;
      const key = `${time} ${writer.name} ${value}`;
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      return { ...event, id: `${key} ${count}` };
    })
    .toReversed();
}
