// Asks the hub for the history that a plot shows: what is in view, at the resolution of the screen.

import { type Accessor, createEffect, createSignal, on } from 'solid-js';
import { maxPoints } from '../../wire/http/limits.ts';
import type { History } from '../../wire/http/past/history.ts';
import { pathOf } from '../../wire/http/path.ts';
import { isStale } from '../hub/hub.ts';
import { getJson } from '../hub/request.ts';
import { useInterval, useOneAtATime } from '../page/timers.ts';
import { isWithoutStore } from './no-store.tsx';
import { hubNow, setHubTime } from './time/hub-clock.ts';
import { isFollowing, rangeOf, type Timeframe } from './time/timeframe.ts';

/** What the page sees by itself goes on after the history: it is asked for again when it has moved by this share, or after so long. */
const refreshShare = 0.05;
const mostRefreshMs = 60_000;
/** Marks are not seen by the page, and asked for as often as this; so is what could not be had. */
const leastRefreshMs = 2000;

export interface Wanted {
  readonly address: string;
  readonly frame: Timeframe;
  /** How many points the screen has room for; 0: it is not known yet. */
  readonly points: number;
  /** So much earlier. */
  readonly earlierMs?: number;
}

export interface AskedHistory {
  /** The last answer for this address: also while another range of it is asked for, and when that could not be had. */
  readonly history: Accessor<History | undefined>;
  /** Why the last request failed; undefined: it did not. */
  readonly fault: Accessor<unknown>;
}

/** Follows what is wanted for the scope that calls it; undefined: nothing. One request is under way at a time, for the newest wish. */
export function useHistory(wanted: Accessor<Wanted | undefined>): AskedHistory {
  const [history, setHistory] = createSignal<History>();
  const [fault, setFault] = createSignal<unknown>();
  let answeredMs = Number.NEGATIVE_INFINITY;
  const ask = useOneAtATime(async (isWanted) => {
    const wish = wanted();
    if (!wish || wish.points <= 0) return;
    const { address, frame } = wish;
    const isCurrent = () => isWanted() && wanted()?.address === address;
    const askedAt = Date.now();
    try {
      const answer = await getJson<History>(pathFor(wish));
      if (!isCurrent()) return;
      // Where the clock of the page is wrong, the range was as well.
      if (isToNow(wish) && setHubTime(answer.to, askedAt, Date.now()) > spanOf(frame) / 50) ask();
      setHistory(answer);
      setFault(undefined);
    } catch (problem) {
      if (!isCurrent()) return;
      if (isWithoutStore(problem)) setHistory(undefined);
      setFault(problem);
    }
    answeredMs = performance.now();
  });
  createEffect(
    on(
      () => wanted()?.address,
      () => {
        setHistory(undefined);
        setFault(undefined);
      },
    ),
  );
  createEffect(on(wanted, ask));
  createEffect(on(isStale, (stale) => !stale && ask(), { defer: true }));
  /** How long after an answer it is asked for again; undefined: nothing else is to be expected. */
  const refreshMs = ({ frame }: Wanted): number | undefined => {
    if (fault() !== undefined) return isWithoutStore(fault()) ? undefined : leastRefreshMs;
    if (!isFollowing(frame)) return undefined;
    const isOfMarks = history()?.kind === 'fires' || history()?.kind === 'texts';
    return Math.min(mostRefreshMs, Math.max(leastRefreshMs, isOfMarks ? 0 : frame.lastMs * refreshShare));
  };
  useInterval(() => {
    const wish = wanted();
    if (document.hidden || !wish) return;
    if (performance.now() - answeredMs >= (refreshMs(wish) ?? Number.POSITIVE_INFINITY)) ask();
  }, leastRefreshMs / 2);
  return { history, fault };
}

/** It ends at the present of the hub, which its answer tells. */
function isToNow({ frame, earlierMs = 0 }: Wanted): boolean {
  return isFollowing(frame) && earlierMs === 0;
}

function spanOf(frame: Timeframe): number {
  const { from, to } = rangeOf(frame, hubNow());
  return to - from;
}

function pathFor(wanted: Wanted): string {
  const { address, frame, points, earlierMs = 0 } = wanted;
  const { from, to } = rangeOf(frame, hubNow());
  const query = new URLSearchParams({
    from: String(Math.floor(from - earlierMs)),
    points: String(Math.min(maxPoints, Math.ceil(points))),
  });
  if (!isToNow(wanted)) query.set('to', String(Math.ceil(to - earlierMs)));
  return `/hub/history/${pathOf(address)}?${query}`;
}
