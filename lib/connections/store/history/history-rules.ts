// The entries of a history, as its thread reads them, too.
import { dayMs } from '../../../model/time/iso-time.ts';
import { createSelection, type Selection } from '../selection.ts';

/** One entry: what it selects, and how that is recorded. `everyMs` 0: each change; times for which it is kept may be Infinity. */
export interface HistoryRule extends Selection {
  readonly everyMs: number;
  readonly deadband: number;
  readonly rawMs: number;
  readonly minutesMs: number;
  readonly hoursMs: number;
}

/** For how long what no entry selects any more is kept: as when nothing is said. */
export const defaultTimes = { rawMs: 10 * dayMs, minutesMs: 365 * dayMs, hoursMs: Number.POSITIVE_INFINITY };

/** Creates what finds the entry that holds for an address, by its place in the list; undefined: it is not recorded. */
export function createRuleFinder(rules: readonly HistoryRule[]): (address: string) => number | undefined {
  const selections = rules.map(createSelection);
  return (address) => {
    const place = selections.findIndex((isSelected) => isSelected(address));
    return place < 0 ? undefined : place;
  };
}
