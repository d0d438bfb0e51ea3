// `patchbay keys`: the table of key names.
import { keyRows } from '../connections/keyboard/key-table.ts';
import type { Console } from './console.ts';

/** Prints the table, a line per key: its name, whether hotkeys hear it, whether presses can make it. */
export async function keys(console: Console): Promise<number> {
  const rows = [['key', 'inputKeys', 'outputKeys'], ...keyRows().map(({ key, input, output }) => [key, input, output])];
  console.print(rows.map(([key, input, output]) => `${key!.padEnd(20)}${input!.padEnd(16)}${output}`).join('\n'));
  return 0;
}
