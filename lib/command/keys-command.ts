// `patchbay keys`: the table of key names.
import { keyRows } from '../connections/keyboard/key-table.ts';
import { type Cli, command } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(cli, 'keys', 'print the names of keys for keyboard connections, and on which side each works').action(() =>
    cli.finish(keys(cli.console)),
  );
}

/** Prints the table, a line per key: its name, whether hotkeys hear it, whether presses can make it. */
async function keys(console: Console): Promise<number> {
  const rows = [['key', 'inputKeys', 'outputKeys'], ...keyRows().map(({ key, input, output }) => [key, input, output])];
  console.print(rows.map(([key, input, output]) => `${key!.padEnd(20)}${input!.padEnd(16)}${output}`).join('\n'));
  return 0;
}
