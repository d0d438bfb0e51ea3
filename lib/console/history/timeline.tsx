// A parameter over time: the plot, its timeframe, and the number of changes.

import { type Accessor, createEffect, createMemo, createSignal, Index, on, Show } from 'solid-js';
import type { ValueType } from '../../client/index.ts';
import { pathOf } from '../../model/address.ts';
import { counted } from '../../model/digits.ts';
import { messageOf } from '../../model/error.ts';
import type { History } from '../../wire/http/past-shapes.ts';
import { maxPoints } from '../../wire/limits.ts';
import { getJson } from '../hub/page-request.ts';
import { usePolling } from '../hub/polled.ts';
import { useSize } from '../page/media.ts';
import { formatValue } from '../page/units.ts';
import { record } from '../parameters/recordings.ts';
import { isWithoutStore } from './no-store.tsx';
import { type Curve, heldAt } from './plot/curve.ts';
import type { Shape } from './plot/plot-look.ts';
import { slotsOf } from './plot/strip.ts';
import { TimePlot } from './plot/time-plot.tsx';
import { axisText, momentText } from './time/clock-text.ts';
import { seenMs, TimeBar } from './time/time-bar.tsx';
import {
  dayMs,
  hubNow,
  isFollowing,
  rangeOf,
  setHubTime,
  type Timeframe,
  type TimeRange,
  toHubTime,
  toPageTime,
} from './time/timeframe.ts';

export interface TimelineProps {
  readonly address: string;
  readonly type: ValueType;
  readonly frame: Timeframe;
  /** The timeframe to which a double click returns. */
  readonly home: Timeframe;
  readonly height: number;
  /** Whether the number of changes per hour, or per other rounded period, is shown below the plot. */
  readonly hasStrip: boolean;
  /** Moves the timeframe. `isStep` adds a step to the browser history, so that the user can go back. */
  move(frame: Timeframe, isStep: boolean): void;
}

export function Timeline(props: TimelineProps) {
  const [points, setPoints] = createSignal(0);
  const [earlierMs, setEarlierMs] = createSignal(0);
  const [pointed, setPointed] = createSignal('');
  const shape = (): Shape => {
    if (props.type === 'T' || props.type === 'S') return 'marks';
    if (props.type !== 'B') return 'numbers';
    return history()?.kind === 'buckets' ? 'shares' : 'booleans';
  };
  const isMarked = () => props.type === 'T' || props.type === 'S';
  const { history, fault } = useHistory(() => ({ address: props.address, frame: props.frame, points: points() }));
  const { history: other } = useHistory(() =>
    earlierMs() > 0
      ? { address: props.address, frame: props.frame, points: points(), earlierMs: earlierMs() }
      : undefined,
  );
  const isKept = () => !isWithoutStore(fault());
  /** The visible timeframe. Without a store, it covers at most the time that the page itself has recorded. */
  const frame = createMemo(
    (): Timeframe =>
      isKept() || (isFollowing(props.frame) && props.frame.lastMs <= seenMs) ? props.frame : { lastMs: seenMs },
  );
  const seen = () => {
    const { times, values } = record(props.address).since(toPageTime(rangeOf(frame(), hubNow()).from));
    return { times: times.map(toHubTime), values };
  };
  const note = () => {
    if (!isKept()) return 'This hub has no store: the plot starts now.';
    return fault() === undefined ? '' : messageOf(fault());
  };
  return (
    <section class="timeline" aria-label={`${props.address} over time`}>
      <TimeBar
        frame={frame()}
        earlierMs={earlierMs()}
        isKept={isKept()}
        isComparable={!isMarked()}
        hasPresets={props.hasStrip}
        choose={(next) => props.move(next, true)}
        compare={setEarlierMs}
      />
      <p class="pointed muted truncate" title={pointed() || note()}>
        {pointed() || note()}
      </p>
      <Show when={!isMarked() && (earlierMs() > 0 || history()?.kind === 'buckets')}>
        <ul class="legend" aria-label="Legend">
          <li class="is-value">{props.type === 'B' ? 'true' : props.address}</li>
          <Show when={history()?.kind === 'buckets'}>
            <li class="is-band">minimum to maximum</li>
          </Show>
          <Show when={earlierMs() > 0}>
            <li class="is-other">{earlierMs() === 7 * dayMs ? 'a week before' : 'the day before'}</li>
          </Show>
        </ul>
      </Show>
      <TimePlot
        address={props.address}
        shape={shape()}
        height={props.height}
        frame={frame()}
        history={history()}
        other={other()}
        earlierMs={isMarked() ? 0 : earlierMs()}
        seen={seen}
        move={(next) => isKept() && props.move(next, false)}
        reset={() => props.move(props.home, false)}
        fit={setPoints}
        point={(time, curves) => setPointed(time === undefined ? '' : textAt(time, isMarked() ? [] : curves))}
      />
      <Show when={props.hasStrip}>
        <TimeStrip
          range={rangeOf(frame(), history()?.to ?? hubNow())} // moves with each response, not with the clock
          history={history()}
          choose={(range) => props.move(range, true)}
        />
      </Show>
    </section>
  );
}

/** Formats a time and the values of the curves at that time. Without curves, the time has millisecond precision. */
function textAt(time: number, curves: readonly Curve[]): string {
  if (curves.length === 0) return momentText(Math.round(time));
  const held = curves.map((curve) => heldAt(curve, [time]).map(([one]) => one ?? null));
  return [momentText(Math.round(time / 1000) * 1000), ...held.map(textOf)].join('  ·  ');
}

/** Formats the values of a curve at one time: `0.5`, or `0.5 (0.2 … 0.7)` for a bucket. */
function textOf([value, low, high]: readonly (number | null)[]): string {
  if (value === null || value === undefined) return 'unknown';
  return low === high ? formatValue(value) : `${formatValue(value)} (${formatValue(low)} … ${formatValue(high)})`;
}

// Requests the history for a plot: the visible timeframe, at the resolution of the screen.

/** The fraction of the timeframe after which the history is requested again. Meanwhile, live values continue the history. */
const refreshShare = 0.05;
/** The maximum time after which the history is requested again, in milliseconds. */
const mostRefreshMs = 60_000;
/**
 * The interval between requests for marks, which the page does not record itself, and for histories whose request failed, in milliseconds.
 */
const leastRefreshMs = 2000;

export interface Wanted {
  readonly address: string;
  readonly frame: Timeframe;
  /** The number of points that fit on the screen; 0 if this number is not known yet. */
  readonly points: number;
  /** How far the timeframe is shifted into the past, in milliseconds. */
  readonly earlierMs?: number;
}

export interface AskedHistory {
  /** The last response for this address, even while another range is being requested or if its request has failed. */
  readonly history: Accessor<History | undefined>;
  /** The error of the last request; undefined if the request succeeded. */
  readonly fault: Accessor<unknown>;
}

/**
 * Follows the history for `wanted` until the calling reactive scope is disposed; undefined requests nothing. At most one request is in
 * progress at a time, and is followed by a request for the newest value of `wanted`.
 */
export function useHistory(wanted: Accessor<Wanted | undefined>): AskedHistory {
  const [history, setHistory] = createSignal<History>();
  const [fault, setFault] = createSignal<unknown>();
  const load = async (isWanted: () => boolean) => {
    const current = wanted();
    if (!current || current.points <= 0) return;
    const { address, frame } = current;
    const isCurrent = () => isWanted() && wanted()?.address === address;
    const askedAt = Date.now();
    try {
      const answer = await getJson<History>(pathFor(current));
      if (!isCurrent()) return;
      // If the page's clock was wrong, the requested range was wrong as well.
      if (isToNow(current) && setHubTime(answer.to, askedAt, Date.now()) > spanOf(frame) / 50) ask();
      setHistory(answer);
      setFault(undefined);
    } catch (problem) {
      if (!isCurrent()) return;
      if (isWithoutStore(problem)) setHistory(undefined);
      setFault(problem);
    }
  };
  const ask = usePolling(load, () => {
    const frame = wanted()?.frame;
    if (fault() !== undefined) return isWithoutStore(fault()) ? undefined : leastRefreshMs;
    if (!frame || !isFollowing(frame)) return undefined; // the history of a fixed range does not change
    const isOfMarks = history()?.kind === 'fires' || history()?.kind === 'texts';
    return Math.min(mostRefreshMs, Math.max(leastRefreshMs, isOfMarks ? 0 : frame.lastMs * refreshShare));
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
  return { history, fault };
}

/** Returns whether the requested range ends at the hub's present, which the response reports. */
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

// The number of changes per hour or per other rounded period. One click on a period shows that period.

/** The minimum width of a slot in pixels, so that a finger can hit it. */
const leastPx = 28;
const labelPx = 54;
/** The width of the plot's labels, in pixels. */
const labelsPx = 68;

export function TimeStrip(props: {
  readonly range: TimeRange;
  readonly history: History | undefined;
  choose(range: TimeRange): void;
}) {
  let list!: HTMLOListElement;
  const size = useSize(() => list);
  const slots = createMemo(() => slotsOf(props.range, props.history, Math.floor((size().width - labelsPx) / leastPx)));
  /** Returns the number of slots from one time label to the next. */
  const labelled = () => Math.ceil((slots().length * labelPx) / Math.max(1, size().width - labelsPx));
  const most = () => Math.max(1, ...slots().map(({ count }) => count));
  return (
    <ol ref={list} class="time-strip" aria-label="Changes over time">
      <Index each={slots()}>
        {(slot) => {
          const stepMs = () => slot().to - slot().from;
          const changes = () => counted(slot().count, 'change');
          return (
            <li>
              <button
                type="button"
                class="slot"
                aria-label={`${momentText(slot().from)}: ${changes()}`}
                title={`${momentText(slot().from)}: ${changes()}`}
                onClick={() => props.choose({ from: slot().from, to: slot().to })}
              >
                <span
                  class="rate"
                  style={{ '--share': slot().count === 0 ? 0 : Math.max(0.08, slot().count / most()) }}
                />
                <span class="when">
                  {slot().place % labelled() === 0 &&
                    axisText(slot().from, props.range.to - props.range.from, stepMs())}
                </span>
              </button>
            </li>
          );
        }}
      </Index>
    </ol>
  );
}
