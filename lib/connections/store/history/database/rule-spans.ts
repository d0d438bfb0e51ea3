// The minutes and hours of all parameters of one rule that are not over, and what was lost of them when the hub ended.

import type { HistoryRule } from '../rules.ts';
import { hourMs, minuteMs } from '../tables.ts';
import type { SpanTable } from './history-database.ts';
import { type SpanPart, type SpanRow, Spans } from './spans.ts';

/** A row that is to be written. */
export type WaitingSpan = readonly [table: SpanTable, row: SpanRow, part: SpanPart];

export class RuleSpans {
  readonly minutes: Spans | undefined;
  readonly hours: Spans | undefined;
  /** The last value of an interval comes once that is over. */
  readonly #lateMs: number;

  constructor(
    { everyMs, minutesMs, hoursMs }: Pick<HistoryRule, 'everyMs' | 'minutesMs' | 'hoursMs'>,
    waiting: WaitingSpan[],
  ) {
    this.#lateMs = everyMs;
    if (minutesMs > 0) this.minutes = new Spans(minuteMs, (...row) => waiting.push(['minute', ...row]));
    if (hoursMs > 0) this.hours = new Spans(hourMs, (...row) => waiting.push(['hour', ...row]));
  }

  add(parameter: number, time: number, value: number): void {
    this.minutes?.add(parameter, time, value);
    this.hours?.add(parameter, time, value);
  }

  /** Whether something is known of the parameter. */
  has(parameter: number): boolean {
    return (this.minutes?.has(parameter) ?? false) || (this.hours?.has(parameter) ?? false);
  }

  /** Says what a parameter is, which it became before. */
  begin(parameter: number, time: number, value: number): void {
    this.minutes?.begin(parameter, time, value);
    this.hours?.begin(parameter, time, value);
  }

  /** Ends what is over when no older changes come, but for late ones. */
  endBefore(until: number): void {
    this.minutes?.endBefore(until - this.#lateMs);
    this.hours?.endBefore(until - this.#lateMs);
  }

  /** Where the minutes and hours begin that are not over. */
  openSince(until: number): { readonly minutes: number; readonly hours: number } {
    const time = until - this.#lateMs;
    return { minutes: Math.floor(time / minuteMs) * minuteMs, hours: Math.floor(time / hourMs) * hourMs };
  }

  jump(before: number, after: number): void {
    this.minutes?.jump(before, after);
    this.hours?.jump(before, after);
  }

  interrupt(start: number, end: number, isForgotten: boolean): void {
    this.minutes?.interrupt(start, end, isForgotten);
    this.hours?.interrupt(start, end, isForgotten);
  }
}
