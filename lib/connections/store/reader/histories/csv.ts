// Histories as CSV (RFC 4180), for spreadsheets: one line for each point, the same columns whatever is asked for.

import type { Value } from '../../../../model/value.ts';
import type { History } from '../../../../wire/http/past/history.ts';
import { toIsoTime } from '../../../../wire/time.ts';

const columns = ['address', 'time', 'value', 'min', 'mean', 'max', 'count'];
const lineEnd = '\r\n';

/** The first line. */
export const csvHead = columns.join(',') + lineEnd;

/** Columns that a point does not have are empty, and so is a value that is unknown. */
export function csvLinesOf(histories: readonly History[]): string {
  const lines: string[] = [];
  for (const history of histories) {
    const { address, type, times, values, min, mean, max, counts } = history;
    const name = field(address);
    for (const [index, time] of times.entries()) {
      const value = values?.[index] ?? (type === 'T' && counts === undefined ? 1 : null);
      const figures = [min, mean, max, counts].map((column) => column?.[index] ?? '');
      lines.push([name, toIsoTime(time), field(value), ...figures].join(',') + lineEnd);
    }
  }
  return lines.join('');
}

/**
 * A text that a spreadsheet would take for a formula begins with an apostrophe: `=1+1` becomes `'=1+1`. Numbers stay as they are.
 */
function field(value: Value | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
