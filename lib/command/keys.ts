// `patchbay keys`: the table of key names.

import { keyRows } from '../connections/keyboard/key-table.ts';

/** Formats the table, a line per key: its name, whether hotkeys hear it, whether presses can make it. */
export function formatKeys(): string {
  const rows = [['key', 'inputKeys', 'outputKeys'], ...keyRows().map(({ key, input, output }) => [key, input, output])];
  return rows.map(([key, input, output]) => `${key!.padEnd(20)}${input!.padEnd(16)}${output}`).join('\n');
}
