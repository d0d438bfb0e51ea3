// A parameter over time: the plot, which time it shows, and how often the parameter changed then.

import { createMemo, createSignal, Show } from 'solid-js';
import type { ValueType } from '../../client/index.ts';
import { messageOf } from '../../model/error.ts';
import { formatValue } from '../page/units.ts';
import { record } from '../parameters/recordings.ts';
import { isWithoutStore } from './no-store.tsx';
import { type Curve, heldAt } from './plot/curve.ts';
import type { Shape } from './plot/plot-look.ts';
import { TimePlot } from './plot/time-plot.tsx';
import { TimeStrip } from './plot/time-strip.tsx';
import { momentText } from './time/clock-text.ts';
import { hubNow, toHubTime, toPageTime } from './time/hub-clock.ts';
import { seenMs, TimeBar } from './time/time-bar.tsx';
import { isFollowing, rangeOf, type Timeframe } from './time/timeframe.ts';
import { useHistory } from './use-history.ts';

export interface TimelineProps {
  readonly address: string;
  readonly type: ValueType;
  readonly frame: Timeframe;
  /** What a double click goes back to. */
  readonly home: Timeframe;
  readonly height: number;
  /** Whether it says by round times how often the parameter changed. */
  readonly hasStrip: boolean;
  /** `isStep`: people went somewhere else, and may want to go back. */
  move(frame: Timeframe, isStep: boolean): void;
}

export function Timeline(props: TimelineProps) {
  const [points, setPoints] = createSignal(0);
  const [earlierMs, setEarlierMs] = createSignal(0);
  const [pointed, setPointed] = createSignal('');
  const shape = (): Shape => {
    if (props.type === 'T' || props.type === 'S') return 'marks';
    return props.type === 'B' && history()?.kind !== 'buckets' ? 'booleans' : 'numbers';
  };
  const isMarked = () => props.type === 'T' || props.type === 'S';
  const { history, fault } = useHistory(() => ({ address: props.address, frame: props.frame, points: points() }));
  const { history: other } = useHistory(() =>
    earlierMs() > 0
      ? { address: props.address, frame: props.frame, points: points(), earlierMs: earlierMs() }
      : undefined,
  );
  const isKept = () => !isWithoutStore(fault());
  /** Where nothing is kept, no more than the page has seen itself. */
  const frame = createMemo(
    (): Timeframe =>
      isKept() || (isFollowing(props.frame) && props.frame.lastMs <= seenMs) ? props.frame : { lastMs: seenMs },
  );
  const seen = () => {
    const { times, values } = record(props.address).since(toPageTime(rangeOf(frame(), hubNow()).from));
    return { times: times.map(toHubTime), values };
  };
  const note = () => {
    if (!isKept()) return 'No store in this hub: the plot begins now.';
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
          range={rangeOf(frame(), history()?.to ?? hubNow())} // it moves with each answer, not with the clock
          history={history()}
          choose={(range) => props.move(range, true)}
        />
      </Show>
    </section>
  );
}

/** A time, and what the curves hold then; without curves the time is told to the millisecond. */
function textAt(time: number, curves: readonly Curve[]): string {
  if (curves.length === 0) return momentText(Math.round(time));
  const held = curves.map((curve) => heldAt(curve, [time]).map(([one]) => one ?? null));
  return [momentText(Math.round(time / 1000) * 1000), ...held.map(textOf)].join('  ·  ');
}

/** `0.5`, or of a bucket `0.5 (0.2 … 0.7)`. */
function textOf([value, low, high]: readonly (number | null)[]): string {
  if (value === null || value === undefined) return 'unknown';
  return low === high ? formatValue(value) : `${formatValue(value)} (${formatValue(low)} … ${formatValue(high)})`;
}
