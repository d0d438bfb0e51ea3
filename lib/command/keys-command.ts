// `patchbay keys`: the table of key names.
import { keyRows } from '../connections/keyboard/key-table.ts';
import { type Cli, command } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(
    cli,
    'keys',
    'print the key names of keyboard connections, and whether inputs and outputs support them',
  ).action(() => cli.finish(keys(cli.console)));
}

/** Prints a line for each key: its name, whether hotkeys can use it, whether the connection can press it. */
async function keys(console: Console): Promise<number> {
  const rows = [['key', 'inputKeys', 'outputKeys'], ...keyRows().map(({ key, input, output }) => [key, input, output])];
  console.print(rows.map(([key, input, output]) => `${key!.padEnd(20)}${input!.padEnd(16)}${output}`).join('\n'));
  return 0;
}
