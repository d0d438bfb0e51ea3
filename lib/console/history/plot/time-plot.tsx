// The plot of one parameter over time. The plot moves with the clock, or by mouse, wheel, fingers and keys.

import { createEffect, on, onCleanup, onMount } from 'solid-js';
import uPlot from 'uplot';
import type { History } from '../../../wire/http/past-shapes.ts';
import { listenToKeys, listenToPointers } from '../../page/gestures.ts';
import { letterScale, useSize } from '../../page/media.ts';
import { useInterval } from '../../page/page-timers.ts';
import { isDark } from '../../page/theme.ts';
import { hubNow, isFollowing, pan, rangeOf, type Timeframe, zoom } from '../time/timeframe.ts';
import { type Curve, columnsOf, continueWith, curveOf, isMarks, nothing, type Seen, shift } from './curve.ts';
import { optionsOf, type Shape } from './plot-look.ts';

/**
 * The minimum interval between redraws while the plot follows the clock, in milliseconds. Up to `mostIntervalMs`, the plot is redrawn for
 * each half pixel.
 */
const leastIntervalMs = 200;
const mostIntervalMs = 1000;
const keyPan = 0.1;
const keyZoom = 1.5;
/** The width of the value labels beside the plot, in pixels. */
const labelsPx = 56;
const marginPx = 12;

export interface TimePlotProps {
  readonly address: string;
  readonly shape: Shape;
  readonly height: number;
  readonly frame: Timeframe;
  readonly history: History | undefined;
  /** The history of an earlier time, for comparison; undefined if there is no comparison. */
  readonly other: History | undefined;
  /** How much earlier the time of `other` is, in milliseconds. */
  readonly earlierMs: number;
  /** Returns the values that the page itself has received, in hub time. */
  seen(): Seen;
  move(frame: Timeframe): void;
  reset(): void;
  /** Called with the number of points that fit into the plot. */
  fit(points: number): void;
  /** Receives the time at the pointer and the drawn curves; the time is undefined if the pointer has left the plot. */
  point(time: number | undefined, curves: readonly Curve[]): void;
}

export function TimePlot(props: TimePlotProps) {
  let box!: HTMLDivElement;
  let plot: uPlot | undefined;
  let curves: readonly Curve[] = [];
  let drawnAt = 0;
  const size = useSize(() => box);
  const widthPx = () => Math.max(1, size().width - labelsPx * letterScale() - marginPx);

  const draw = () => {
    if (!plot) return;
    drawnAt = performance.now();
    curves = curvesNow(props);
    const [times = [], ...columns] = props.shape === 'marks' ? columnsOfMarks(curves) : columnsOf(curves);
    const seconds = times.map((time) => time! / 1000);
    plot.setData([seconds, ...columns.slice(0, plot.series.length - 1)] as uPlot.AlignedData, false);
    const { from, to } = rangeOf(props.frame, hubNow());
    plot.setScale('x', { min: from / 1000, max: to / 1000 });
  };
  const create = () => {
    plot?.destroy();
    const look = {
      shape: props.shape,
      height: props.height,
      isCompared: props.earlierMs > 0,
      gaps: () => props.history?.gaps ?? [],
      point: (time: number | undefined) => props.point(time, curves),
    };
    const options = optionsOf(box, look);
    plot = new uPlot(options, options.series.map((): number[] => []) as uPlot.AlignedData, box);
    draw();
  };

  onMount(() => {
    createEffect(on([() => props.address, () => props.shape, () => props.earlierMs > 0, isDark], create));
    createEffect(on([() => props.frame, () => props.history, () => props.other], draw, { defer: true }));
    createEffect(
      on(size, ({ width }) => {
        if (width === 0) return;
        plot?.setSize({ width, height: props.height });
        props.fit(widthPx());
      }),
    );
    useInterval(() => {
      if (document.hidden || !isFollowing(props.frame)) return;
      const halfPixelMs = props.frame.lastMs / widthPx() / 2;
      const intervalMs = Math.min(mostIntervalMs, Math.max(leastIntervalMs, halfPixelMs));
      if (performance.now() - drawnAt >= intervalMs - 20) draw();
    }, leastIntervalMs);
    listenToMoves(box, props, widthPx);
    onCleanup(() => plot?.destroy());
  });
  return (
    <div
      ref={box}
      class="time-plot"
      style={{ height: `${props.height}px` }}
      role="application"
      aria-label={`Plot of ${props.address}. Arrow keys move, plus and minus zoom, 0 resets. The list of events shows the same content.`}
      tabIndex={0}
      onDblClick={() => props.reset()}
    />
  );
}

function curvesNow(props: TimePlotProps): readonly Curve[] {
  const { history, other } = props;
  const past = history ? curveOf(history) : nothing;
  if (history && isMarks(history)) return [past];
  const present = isFollowing(props.frame) && props.shape !== 'marks' ? continueWith(past, props.seen()) : past;
  if (props.earlierMs === 0) return [present];
  return [present, other ? shift(curveOf(other), props.earlierMs) : nothing];
}

/** Lets users move the plot until the calling reactive scope is disposed. */
function listenToMoves(box: HTMLElement, props: TimePlotProps, widthPx: () => number): void {
  const zoomBy = (factor: number) =>
    props.move(zoom(props.frame, hubNow(), isFollowing(props.frame) ? 1 : 0.5, factor));
  const panBy = (share: number) => {
    const { from, to } = rangeOf(props.frame, hubNow());
    props.move(pan(props.frame, hubNow(), share * (to - from)));
  };
  listenToPointers(box, {
    pan: (dx) => dx !== 0 && panBy(-dx / widthPx()),
    zoomAt: ({ x }, factor) => {
      const share = Math.min(1, Math.max(0, (x - labelsPx * letterScale()) / widthPx()));
      props.move(zoom(props.frame, hubNow(), share, factor));
    },
  });
  listenToKeys(box, {
    ArrowLeft: () => panBy(-keyPan),
    ArrowRight: () => panBy(keyPan),
    '+': () => zoomBy(keyZoom),
    '-': () => zoomBy(1 / keyZoom),
    '0': props.reset,
  });
}

function columnsOfMarks([curve = nothing]: readonly Curve[]): (number | null)[][] {
  return [[...curve.times], [...curve.values]];
}
