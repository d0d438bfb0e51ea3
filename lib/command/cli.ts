// What a command is declared with. Each file of a command has a function `register`, and a line in `main.ts`.

import { type Command, Option } from 'commander';
import type { PacedConsole } from './console.ts';
import type { Ending } from './ending.ts';
import { defaultFolder } from './first-steps.ts';

export interface Cli extends Ending {
  readonly program: Command;
  readonly console: PacedConsole;
  readonly host: Pick<NodeJS.Process, 'argv' | 'cwd' | 'stdin' | 'stdout'>;
}

/** The argument that names flow files. */
export const flowFiles = ['[paths...]', 'flow files and folders', [defaultFolder]] as const;

export function command({ program }: Cli, name: string, description: string): Command {
  return program.command(name).description(description);
}

/** A command that asks a running hub. */
export function remoteCommand(cli: Cli, name: string, description: string): Command {
  return command(cli, name, description)
    .addOption(fromEnvironment('--url <url>', 'where the hub is', 'URL').default('http://localhost:17011'))
    .addOption(fromEnvironment('--username <name>', 'for HTTP Basic', 'USERNAME'))
    .addOption(fromEnvironment('--password <password>', 'for HTTP Basic', 'PASSWORD'))
    .addOption(fromEnvironment('--token <token>', 'for HTTP Bearer', 'TOKEN'));
}

/** An option that an environment variable may set. The help names the variable, and never shows what it holds. */
export function fromEnvironment(flags: string, description: string, name: string): Option {
  return new Option(flags, description).default('', 'none').env(`PATCHBAY_${name}`);
}
