// The differences that a reload makes, as lists of names.

import type { Difference } from '../../model/reports/reload-report.ts';

export type { Difference } from '../../model/reports/reload-report.ts';

/** Returns the differences between removed and added names. A name that is in both lists has changed. */
export function differenceOf(left: Iterable<string>, come: Iterable<string>): Difference {
  const before = new Set(left);
  const after = new Set(come);
  return {
    added: [...after].filter((name) => !before.has(name)),
    removed: [...before].filter((name) => !after.has(name)),
    changed: [...after].filter((name) => before.has(name)),
  };
}

/** Formats the difference that a reload makes, as one line: `1 added, 2 changed`. */
export function formatDifference(difference: Difference): string {
  return Object.entries(difference)
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `${names.length} ${kind}`)
    .join(', ');
}
