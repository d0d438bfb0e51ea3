// How commands are declared. Each command file exports a function `register` and has a line in `lib/main.ts`.

import { type Command, Option } from 'commander';
import type { PacedConsole } from './console.ts';
import type { Ending } from './ending.ts';
import { defaultFolder } from './first-steps.ts';

export interface Cli extends Ending {
  readonly program: Command;
  readonly console: PacedConsole;
  readonly host: Pick<NodeJS.Process, 'argv' | 'cwd' | 'stdin' | 'stdout'>;
}

/** The command-line argument that names flow files. */
export const flowFiles = ['[paths...]', 'flow files and folders', [defaultFolder]] as const;

export function command({ program }: Cli, name: string, description: string): Command {
  return program.command(name).description(description);
}

/** Declares a command that communicates with a running hub. */
export function remoteCommand(cli: Cli, name: string, description: string): Command {
  return command(cli, name, description)
    .addOption(fromEnvironment('--url <url>', 'URL of the hub', 'URL').default('http://localhost:17011'))
    .addOption(fromEnvironment('--username <name>', 'username for HTTP Basic authentication', 'USERNAME'))
    .addOption(fromEnvironment('--password <password>', 'password for HTTP Basic authentication', 'PASSWORD'))
    .addOption(fromEnvironment('--token <token>', 'token for HTTP Bearer authentication', 'TOKEN'));
}

/** Creates an option that may also be set by an environment variable. The help shows the name of the variable, but never its value. */
export function fromEnvironment(flags: string, description: string, name: string): Option {
  return new Option(flags, description).default('', 'none').env(`PATCHBAY_${name}`);
}
