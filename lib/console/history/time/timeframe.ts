// Which time people look at: the last so much, which goes with the clock, or from one time to another. The address of the page
// says it the way the hub does: `from=-1h`, or `from=2026-11-22T03:00:00.000Z&to=2026-11-22T04:00:00.000Z`.
import { readIsoTime } from '../../../model/time/iso-time.ts';

/** Milliseconds since 1970. */
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

/** Moves by so many milliseconds, later if positive. It follows the clock from where there is nothing later. */
export function pan(frame: Timeframe, now: number, ms: number): Timeframe {
  const { from, to } = rangeOf(frame, now);
  return settle({ from: from + ms, to: to + ms }, now);
}

/** Shows `factor` times as much detail; the time at `share` of the range, 0..1, stays where it is. */
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

/** From ten in the evening to six in the morning, of the last night that has begun. */
export function lastNight(now: number): TimeRange {
  const evening = atHour(now, 22);
  const from = evening <= now ? evening : atHour(now, 22, -1);
  return { from, to: atHour(from, 6, 1) };
}

export function yesterday(now: number): TimeRange {
  return { from: atHour(now, 0, -1), to: atHour(now, 0) };
}

/** The time of an hour, of the day of a time or so many days later, where the page is read. */
function atHour(time: number, hour: number, days = 0): number {
  const date = new Date(time);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, hour).getTime();
}

/** What the address of the page says of it. */
export function paramsOf(frame: Timeframe): { readonly from: string; readonly to: string | undefined } {
  if (!isFollowing(frame)) return { from: new Date(frame.from).toISOString(), to: new Date(frame.to).toISOString() };
  const [unit, ms] = Object.entries(unitsMs).find(([, ms]) => frame.lastMs % ms === 0) ?? ['s', 1000];
  return { from: `-${Math.max(1, Math.round(frame.lastMs / ms))}${unit}`, to: undefined };
}

/** Reads the address of the page; undefined: it says none. */
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

// The time of the hub, which may not be that of the machine on which the page is read.

let aheadMs = 0;

/** The time of the hub in milliseconds since 1970, as far as its answers have told. */
export function hubNow(): number {
  return Date.now() + aheadMs;
}

/** A time of the page as the hub would tell it. */
export function toHubTime(time: number): number {
  return time + aheadMs;
}

export function toPageTime(time: number): number {
  return time - aheadMs;
}

/** Hears that the hub told its time between two times of the page. Returns by how much that was news. */
export function setHubTime(time: number, askedAt: number, answeredAt: number): number {
  const before = aheadMs;
  aheadMs = time - (askedAt + answeredAt) / 2;
  return Math.abs(aheadMs - before);
}
