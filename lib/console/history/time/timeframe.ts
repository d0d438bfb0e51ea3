// The timeframe of a view: a span up to now, which follows the clock, or a fixed range. In the URL, the timeframe has the same form as in
// the hub's API: `from=-1h`, or `from=2026-11-22T03:00:00.000Z&to=2026-11-22T04:00:00.000Z`.
import { readIsoTime } from '../../../model/time/iso-time.ts';

/** A range of time, in milliseconds since 1970. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

export type Timeframe = TimeRange | { readonly lastMs: number };

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

const leastMs = 1000;
const mostMs = 3660 * dayMs;
const unitsMs = { d: dayMs, h: hourMs, m: minuteMs, s: 1000 } as const;

export function isFollowing(frame: Timeframe): frame is { readonly lastMs: number } {
  return 'lastMs' in frame;
}

export function rangeOf(frame: Timeframe, now: number): TimeRange {
  return isFollowing(frame) ? { from: now - frame.lastMs, to: now } : frame;
}

/** Returns a timeframe moved by the given milliseconds, forward if positive. A range that reaches the present follows the clock. */
export function pan(frame: Timeframe, now: number, ms: number): Timeframe {
  const { from, to } = rangeOf(frame, now);
  return settle({ from: from + ms, to: to + ms }, now);
}

/** Returns a timeframe zoomed in by `factor`. The time at the fraction `share` of the range, 0..1, stays in place. */
export function zoom(frame: Timeframe, now: number, share: number, factor: number): Timeframe {
  const { from, to } = rangeOf(frame, now);
  const spanMs = Math.min(mostMs, Math.max(leastMs, (to - from) / factor));
  const start = from + share * (to - from - spanMs);
  return settle({ from: start, to: start + spanMs }, now);
}

function settle({ from, to }: TimeRange, now: number): Timeframe {
  if (to >= now) return { lastMs: Math.round(to - from) };
  return { from: Math.round(from), to: Math.round(to) };
}

/** Returns last night, from 22:00 on the previous day to 06:00 today, local time. Before 06:00, the night is not over yet. */
export function lastNight(now: number): TimeRange {
  return { from: atHour(now, 22, -1), to: atHour(now, 6) };
}

export function yesterday(now: number): TimeRange {
  return { from: atHour(now, 0, -1), to: atHour(now, 0) };
}

/** Returns the time at which clocks show an hour on the same day as `time`, or some days later. */
function atHour(time: number, hour: number, days = 0): number {
  const date = new Date(time);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, hour).getTime();
}

/** Returns the URL parameters that represent a timeframe. */
export function paramsOf(frame: Timeframe): { readonly from: string; readonly to: string | undefined } {
  if (!isFollowing(frame)) return { from: new Date(frame.from).toISOString(), to: new Date(frame.to).toISOString() };
  const [unit, ms] = Object.entries(unitsMs).find(([, ms]) => frame.lastMs % ms === 0) ?? ['s', 1000];
  return { from: `-${Math.max(1, Math.round(frame.lastMs / ms))}${unit}`, to: undefined };
}

/** Returns the timeframe that URL parameters represent, or undefined if they do not contain a valid timeframe. */
export function timeframeOf({
  from = '',
  to = '',
}: {
  readonly from?: string;
  readonly to?: string;
}): Timeframe | undefined {
  const [, amount, unit] = /^-(\d{1,9})([dhms])$/.exec(from) ?? [];
  if (amount !== undefined && to === '')
    return { lastMs: Math.min(mostMs, Math.max(leastMs, Number(amount) * unitsMs[unit as keyof typeof unitsMs])) };
  const range = { from: readIsoTime(from) ?? Number.NaN, to: readIsoTime(to) ?? Number.NaN };
  return range.from < range.to && range.to - range.from <= mostMs ? range : undefined;
}

// The time of the hub, which may differ from the time of the browser.

let aheadMs = 0;

/** Returns the hub's current time in milliseconds since 1970, estimated from its last response. */
export function hubNow(): number {
  return Date.now() + aheadMs;
}

/** Converts a time on the page's clock to a time on the hub's clock, in milliseconds since 1970. */
export function toHubTime(time: number): number {
  return time + aheadMs;
}

export function toPageTime(time: number): number {
  return time - aheadMs;
}

/**
 * Records the time that the hub reported between two times on the page's clock. Returns how much the estimated difference between the
 * clocks has changed, in milliseconds.
 */
export function setHubTime(time: number, askedAt: number, answeredAt: number): number {
  const before = aheadMs;
  aheadMs = time - (askedAt + answeredAt) / 2;
  return Math.abs(aheadMs - before);
}
