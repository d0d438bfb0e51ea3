// The entries in the setting `history`, in a form that the history thread can use as well.
import { dayMs } from '../../../model/time/iso-time.ts';
import { createSelection, type Selection } from '../selection.ts';

/**
 * An entry in the setting `history`: which parameters to record, and how. If `everyMs` is 0, every change is recorded. Retention times may
 * be Infinity.
 */
export interface HistoryRule extends Selection {
  readonly everyMs: number;
  readonly deadband: number;
  readonly rawMs: number;
  readonly minutesMs: number;
  readonly hoursMs: number;
}

/** The default retention times, in milliseconds. These times also apply to parameters that no entry selects any more. */
export const defaultTimes = { rawMs: 10 * dayMs, minutesMs: 365 * dayMs, hoursMs: Number.POSITIVE_INFINITY };

/** Creates a function that returns the index of the first entry that selects an address; undefined if the address is not recorded. */
export function createRuleFinder(rules: readonly HistoryRule[]): (address: string) => number | undefined {
  const selections = rules.map(createSelection);
  return (address) => {
    const place = selections.findIndex((isSelected) => isSelected(address));
    return place < 0 ? undefined : place;
  };
}
