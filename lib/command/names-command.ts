// `patchbay keys` and `patchbay devices`: the names of keys and of built-in device descriptions that flow files may use.

import { unknownName } from '../json5/nearest-name.ts';
import { type Cli, command } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(cli, 'devices', 'list the built-in device descriptions, or show what one of them contains')
    .argument('[protocol]', 'name of a device description')
    .action((protocol: string | undefined) => cli.finish(devices(protocol, cli.console)));
  command(
    cli,
    'keys',
    'print the key names for keyboard connections, and whether each key is supported as input and as output',
  ).action(() => cli.finish(keys(cli.console)));
}

/** Prints one line per built-in device description, or the parameters in one description. Throws if no description has that name. */
async function devices(name: string | undefined, console: Console): Promise<number> {
  const { compileDescription } = await import('../connections/device/compile.ts');
  const { protocolNames, readProtocol } = await import('../connections/device/description.ts');
  if (name !== undefined && !protocolNames().includes(name))
    throw new Error(unknownName('protocol', name, protocolNames()));
  for (const one of name === undefined ? protocolNames() : [name]) {
    const { compiled } = compileDescription(one, readProtocol(one), { variables: {}, secrets: {} });
    const { about, transports, families, port, variables, secretNames } = compiled!;
    console.print(`${one.padEnd(14)}${about} (${transports.join(', ')}${port === undefined ? '' : `, port ${port}`})`);
    if (name === undefined) continue;
    const described = new Map(families.map((family) => [family.name, family]));
    const width = Math.max(...[...described.keys()].map(({ length }) => length)) + 2;
    for (const { name: id, type, access, described: own } of described.values()) {
      const more = [own.unit, own.description].filter((part) => part !== undefined).join(', ');
      console.print(`  ${id.padEnd(width)}${type}  ${access.padEnd(12)}${more}`.trimEnd());
    }
    const open = Object.entries(variables);
    if (open.length > 0)
      console.print(`  variables: ${open.map(([variable, value]) => `${variable} = ${value}`).join(', ')}`);
    if (secretNames.length > 0) console.print(`  secrets: ${secretNames.join(', ')}`);
  }
  return 0;
}

/** Prints one line per key: its name, whether hotkeys can use the key, and whether the connection can press the key. */
async function keys(console: Console): Promise<number> {
  const { keyRows } = await import('../connections/keyboard/key-table.ts');
  const rows = [['key', 'inputKeys', 'outputKeys'], ...keyRows().map(({ key, input, output }) => [key, input, output])];
  console.print(rows.map(([key, input, output]) => `${key!.padEnd(20)}${input!.padEnd(16)}${output}`).join('\n'));
  return 0;
}
