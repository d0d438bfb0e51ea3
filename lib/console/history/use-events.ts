// The events of a parameter, newest first, page by page. While time goes on, new ones come on top.

import { type Accessor, createEffect, createSignal, on } from 'solid-js';
import { createStore, reconcile } from 'solid-js/store';
import { pathOf } from '../../wire/http/parameter-path.ts';
import type { EventList } from '../../wire/http/past-shapes.ts';
import { isStale } from '../hub/page-hub.ts';
import { getJson } from '../hub/page-request.ts';
import { useInterval, useOneAtATime } from '../page/page-timers.ts';
import { addOlder, type Listed, refresh, start } from './event-pages.ts';
import { isWithoutStore } from './no-store.tsx';
import { hubNow, isFollowing, rangeOf, type Timeframe } from './time/timeframe.ts';

const refreshMs = 2000;

export interface Events {
  /** undefined: the hub has not answered yet. */
  readonly listed: Accessor<Listed | undefined>;
  readonly fault: Accessor<unknown>;
  /** Asks for the next page. */
  more(): void;
}

/** Follows the events of an address for the scope that calls it. */
export function useEvents(address: Accessor<string>, frame: Accessor<Timeframe>): Events {
  const [store, setStore] = createStore<{ listed?: Listed | undefined }>({});
  const [fault, setFault] = createSignal<unknown>();
  const set = (listed: Listed) => setStore('listed', reconcile(listed, { key: 'id' }));
  /** What to ask for; each new frame is another object. */
  let wanted: { readonly isNew: boolean; readonly before?: string | undefined } = { isNew: true };
  const ask = useOneAtATime(async (isWanted) => {
    const [asked, own, { before, isNew }] = [address(), frame(), wanted];
    const isCurrent = () => isWanted() && address() === asked && frame() === own;
    const { from, to } = rangeOf(own, hubNow());
    const query = new URLSearchParams({ from: String(Math.floor(from)) });
    if (!isFollowing(own)) query.set('to', String(Math.ceil(to)));
    if (before) query.set('before', before);
    try {
      const page = await getJson<EventList>(`/hub/events/${pathOf(asked)}?${query}`);
      if (!isCurrent()) return;
      const held = isNew ? undefined : store.listed;
      if (before && held) set(addOlder(held, page));
      else set(held ? refresh(held, page, from) : start(page));
      wanted = { isNew: false };
      setFault(undefined);
    } catch (problem) {
      if (isCurrent()) setFault(problem);
    }
  });
  createEffect(
    on([address, frame], ([asked], former) => {
      if (asked !== former?.[0]) setStore('listed', undefined);
      wanted = { isNew: true };
      ask();
    }),
  );
  createEffect(on(isStale, (stale) => !stale && ask(), { defer: true }));
  useInterval(() => {
    const isOwed = fault() === undefined ? isFollowing(frame()) : !isWithoutStore(fault());
    if (!document.hidden && isOwed) ask();
  }, refreshMs);
  return {
    listed: () => store.listed,
    fault,
    more() {
      wanted = { isNew: false, before: store.listed?.next };
      ask();
    },
  };
}
