// The events of a parameter, newest first: time, value, writer. One click shows the chain of causes.

import { type Accessor, createSignal, Show } from 'solid-js';
import type { ValueType } from '../../client/index.ts';
import { pathOf } from '../../model/address.ts';
import type { Origin } from '../../model/parameter.ts';
import { isSameWriter, writerName } from '../../model/writer.ts';
import type { EventList, HistoryEvent } from '../../wire/http/past-shapes.ts';
import { type Held, maxHeld } from '../hub/pages.ts';
import { type Pages, usePages } from '../hub/polled.ts';
import { formatCount } from '../language/language.ts';
import { formatDate, formatMoment, formatValue } from '../page/units.ts';
import { GuardedFor } from '../parts/guarded.tsx';
import { Breakable } from '../parts/text.tsx';
import { type Cause, Chain } from '../why/chain.tsx';
import { isWithoutStore, StoreFault } from './no-store.tsx';
import { hubNow, isFollowing, rangeOf, type Timeframe } from './time/timeframe.ts';

const refreshMs = 2000;

type Events = Pages<HistoryEvent, EventList>;
type ListedEvent = Held<HistoryEvent>['rows'][number];

/**
 * Follows the events at an address until the calling reactive scope is disposed. If the timeframe follows the clock, new events appear at
 * the top.
 */
export function useEvents(address: string, frame: Accessor<Timeframe>): Events {
  return usePages<HistoryEvent, EventList>({
    list: frame,
    ask() {
      const { from, to } = rangeOf(frame(), hubNow());
      const query = new URLSearchParams({ from: String(Math.floor(from)) });
      if (!isFollowing(frame())) query.set('to', String(Math.ceil(to)));
      return { path: `/hub/events/${pathOf(address)}`, query, from };
    },
    rowsOf: ({ events }) => events,
    keyOf: ({ time, writer, value }) => [time, writer, value],
    againMs(fault) {
      const isExpected = fault === undefined ? isFollowing(frame()) : !isWithoutStore(fault);
      return isExpected ? refreshMs : undefined;
    },
  });
}

export function EventTable(props: { readonly address: string; readonly type: ValueType; readonly events: Events }) {
  const [opened, setOpened] = createSignal('');
  const list = () => props.events.held()?.rows ?? [];
  return (
    <section class="events" aria-label={`Events of ${props.address}`}>
      <h2>
        Events{' '}
        <Show when={props.events.held()}>
          {(held) => (
            <span class="muted">
              {held().next ? 'the newest ' : ''}
              {formatCount(list().length)}
            </span>
          )}
        </Show>
      </h2>
      <StoreFault fault={props.events.fault()} what="Events are not available" />
      <ol>
        <GuardedFor each={list()} as="li">
          {(event) => (
            <Row
              address={props.address}
              type={props.type}
              event={event}
              isOpened={opened() === event.id}
              toggle={() => setOpened(opened() === event.id ? '' : event.id)}
            />
          )}
        </GuardedFor>
      </ol>
      <Show when={props.events.held() && list().length === 0}>
        <p class="note">No events in this period.</p>
      </Show>
      <Show when={props.events.held()?.next}>
        <Show
          when={list().length < maxHeld}
          fallback={<p class="note">To see older events, choose an earlier period.</p>}
        >
          <button type="button" onClick={() => props.events.more()}>
            Show more
          </button>
        </Show>
      </Show>
    </section>
  );
}

function Row(props: {
  readonly address: string;
  readonly type: ValueType;
  readonly event: ListedEvent;
  readonly isOpened: boolean;
  toggle(): void;
}) {
  const isDirect = () => isSameWriter(props.event.writer, props.event.source);
  return (
    <li>
      <button type="button" class="event" aria-expanded={props.isOpened} onClick={() => props.toggle()}>
        <time datetime={props.event.time} title={formatDate(props.event.time)}>
          {formatMoment(props.event.time)}
        </time>
        <span class="what">
          <Show when={props.type !== 'T'} fallback={<strong>fired</strong>}>
            <strong>{formatValue(props.event.value)}</strong>{' '}
            <Show when={props.event.previous !== undefined}>
              <span class="muted">was {formatValue(props.event.previous)}</span>
            </Show>
          </Show>
        </span>
        <span class="who">
          <Breakable text={textOf(props.event.source)} />
        </span>
        <span class="why-so muted">
          <Breakable text={isDirect() ? '' : `through ${textOf(props.event.writer)}`} />
        </span>
      </button>
      <Show when={props.isOpened}>
        <div class="why" ref={(chain) => queueMicrotask(() => chain.scrollIntoView({ block: 'nearest' }))}>
          <Chain
            causes={causesOf(props.event, props.address, props.type)}
            forgotten={isWhole(props.event) ? 0 : undefined}
          />
        </div>
      </Show>
    </li>
  );
}

/** Returns an event and its causes, as a chain. */
function causesOf({ time, value, previous, writer, chain }: ListedEvent, parameter: string, type: ValueType): Cause[] {
  const steps = [{ parameter, type, value, previous, time, writer }, ...chain];
  return steps.map(({ writer: origin, ...step }, index) => {
    const before = steps[index + 1];
    return { ...step, origin, ...(before && { afterMs: Date.parse(step.time) - Date.parse(before.time) }) };
  });
}

/** Returns whether the listed chain of an event reaches back to its origin. */
function isWhole({ writer, source, chain }: ListedEvent): boolean {
  return isSameWriter(chain.at(-1)?.writer ?? writer, source);
}

function textOf(origin: Origin): string {
  const name = writerName(origin);
  return origin.kind === 'restored' ? `restored by ${name}` : `${origin.kind} ${name}`;
}
