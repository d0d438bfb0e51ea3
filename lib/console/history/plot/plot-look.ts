// The appearance of a history plot: steps with a band from minimum to maximum, or marks; gaps are shaded.

import uPlot from 'uplot';
import { leastLetters, letterScale } from '../../page/media.ts';
import { colourOf } from '../../page/theme.ts';
import { formatValue } from '../../page/units.ts';
import { axisText } from '../time/clock-text.ts';
import type { TimeRange } from '../time/timeframe.ts';

const mostLetters = 7;

/** The kind of curve that a plot shows: numbers, booleans, the fraction of time for which a boolean was true, or marks for events. */
export type Shape = 'numbers' | 'booleans' | 'shares' | 'marks';

export interface PlotLook {
  readonly shape: Shape;
  readonly height: number;
  /** Whether the plot shows a second curve for comparison. */
  readonly isCompared: boolean;
  /** Returns the periods in which nothing was recorded. */
  gaps(): readonly TimeRange[];
  /** Receives the time at the pointer; undefined if the pointer has left the plot. */
  point(time: number | undefined): void;
}

/** Returns uPlot options with the current colours of the element. */
export function optionsOf(box: HTMLElement, look: PlotLook): uPlot.Options {
  const colour = (name: string) => colourOf(box, name);
  const grid = { stroke: colour('--line'), width: 1 };
  const axis = { stroke: colour('--muted'), grid, ticks: grid, font: `${Math.ceil(leastLetters())}px system-ui` };
  const scale = letterScale();
  return {
    width: box.clientWidth,
    height: look.height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: { x: { time: true }, y: { range: rangeOf(look.shape) } },
    padding: [10, 20, 0, 0], // space for the last label on the axis
    axes: [
      { ...axis, size: 28 * scale, values: timesOf, space: 64 * scale },
      { ...axis, size: 56 * scale, ...labelsOf(look.shape) },
    ],
    series: seriesOf(look, colour),
    bands: look.shape === 'marks' ? [] : [{ series: [3, 2], fill: withAlpha(colour('--accent'), 0.25) }],
    hooks: {
      drawClear: [(plot) => shadeGaps(plot, look.gaps(), colour('--raised'))],
      setCursor: [
        (plot) => {
          const { left = -1 } = plot.cursor;
          look.point(left < 0 ? undefined : plot.posToVal(left, 'x') * 1000);
        },
      ],
    },
  };
}

function seriesOf({ shape, isCompared }: PlotLook, colour: (name: string) => string): uPlot.Series[] {
  const points = { show: false };
  const steps = { points, paths: uPlot.paths.stepped!({ align: 1 }) };
  const accent = colour('--accent');
  if (shape === 'marks')
    return [{}, { points, fill: accent, stroke: accent, paths: uPlot.paths.bars!({ size: [0.6, 4, 2], align: 1 }) }];
  const edge = { ...steps, stroke: 'transparent', width: 0 };
  const value = { ...steps, stroke: accent, width: 1.5 };
  const filled = shape === 'booleans' ? { ...value, fill: withAlpha(accent, 0.18), fillTo: 0 } : value;
  const other = { ...steps, stroke: colour('--warn'), width: 1.5, dash: [6, 4] };
  return [{}, filled, edge, edge, ...(isCompared ? [other] : [])];
}

function labelsOf(shape: Shape): Partial<uPlot.Axis> {
  if (shape === 'booleans') return { splits: () => [0, 1], values: () => ['false', 'true'] };
  if (shape === 'shares') return { splits: () => [0, 0.5, 1], values: () => ['false', '50%', 'true'] };
  const values = (_: uPlot, splits: number[]) => splits.map(axisNumber);
  return shape === 'marks' ? { values, incrs: [1, 2, 5, 10, 20, 50, 100, 1000, 10_000] } : { values };
}

/** Formats a number on the axis so that it fits next to the plot, whose left edge is aligned with the strip below. */
function axisNumber(number: number): string {
  const text = formatValue(number);
  return text.length > mostLetters ? number.toExponential(1).replace('.0e', 'e') : text;
}

function timesOf(plot: uPlot, splits: number[], _axis: number, _space: number, increment: number): string[] {
  const { min = 0, max = 0 } = plot.scales.x!;
  return splits.map((split) => axisText(split * 1000, (max! - min!) * 1000, increment * 1000));
}

/** Returns the value range of a plot, with space above and below the values, even for a constant value. */
function rangeOf(shape: Shape): uPlot.Scale.Range {
  if (shape === 'booleans' || shape === 'shares') return [-0.1, 1.1];
  return (_, low, high) => {
    if (shape === 'marks') return [0, Math.max(1, high ?? 1) * 1.1];
    if (low === null || high === null) return [0, 1];
    const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
    return [low - room, high + room];
  };
}

function shadeGaps(plot: uPlot, gaps: readonly TimeRange[], fill: string): void {
  const { left, top, width, height } = plot.bbox;
  plot.ctx.fillStyle = fill;
  for (const { from, to } of gaps) {
    const start = Math.max(left, plot.valToPos(from / 1000, 'x', true));
    const end = Math.min(left + width, plot.valToPos(to / 1000, 'x', true));
    if (end > start) plot.ctx.fillRect(start, top, Math.max(2, end - start), height);
  }
}

/** Adds an alpha value to a colour: `rgb(1, 2, 3)` → `rgba(1, 2, 3, 0.25)`. */
function withAlpha(colour: string, alpha: number): string {
  return colour.replace('rgb(', 'rgba(').replace(')', `, ${alpha})`);
}
