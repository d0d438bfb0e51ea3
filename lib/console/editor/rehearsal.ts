// The data of a rehearsal: the recorded events that the rehearsal uses, and its results in words.

import type { EditResult } from '../../wire/http/editing-shapes.ts';
import type { History } from '../../wire/http/past-shapes.ts';
import { formatValue } from '../page/units.ts';

type Result = NonNullable<NonNullable<EditResult['rehearsal']>['runs'][number]['was']>;

export interface RecordedEvent {
  readonly address: string;
  readonly value: number | boolean | string;
  /** When the event happened, in milliseconds since 1970. */
  readonly time: number;
}

/** The maximum number of events per address. A request may contain 100 events for all addresses together. */
const eventsPerAddress = 25;
const longestText = 1000;

const words: Readonly<Record<Result['outcome'], string>> = {
  wrote: '',
  stopped: 'stopped',
  held: 'waits',
  waited: 'unknown',
  failed: 'failed',
};

/** Describes what a run wrote, or why it wrote nothing. */
export function resultText(result: Result | undefined): string {
  if (result === undefined) return '–';
  if (result.outcome !== 'wrote') return words[result.outcome];
  return result.result === null || result.result === undefined ? 'infinite' : formatValue(result.result) || "''";
}

/**
 * Returns the most recent changes or firings in a history, oldest first, or an empty list if the history contains only means over longer
 * periods.
 */
export function recordedOf(history: History | undefined): RecordedEvent[] {
  if (history === undefined) return [];
  const { address, kind, times, values } = history;
  const isFires = kind === 'fires' && history.counts === undefined;
  const events = times.flatMap((time, index): RecordedEvent[] => {
    const value = isFires ? true : values?.[index];
    if (value === undefined || value === null) return [];
    return typeof value === 'string' && value.length > longestText ? [] : [{ address, value, time }];
  });
  // a record begins with the value at that time, and repeats the value after each start of the hub
  const changes = isFires
    ? events
    : events.filter(({ value }, index) => index > 0 && value !== events[index - 1]!.value);
  return changes.slice(-eventsPerAddress);
}
