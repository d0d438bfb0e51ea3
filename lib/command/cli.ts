// What a command is declared with. Each file of a command has a function `register`, and a line in `main.ts`.

import type { Command } from 'commander';
import type { PacedConsole } from './console.ts';
import type { Ending } from './ending.ts';
import { defaultFolder } from './first-steps.ts';

export interface Cli extends Ending {
  readonly program: Command;
  readonly console: PacedConsole;
  readonly host: Pick<NodeJS.Process, 'argv' | 'cwd' | 'env' | 'stdin' | 'stdout'>;
}

/** The argument that names flow files. */
export const flowFiles = ['[paths...]', 'flow files and folders', [defaultFolder]] as const;

export function command({ program }: Cli, name: string, description: string): Command {
  return program.command(name).description(description);
}

/** A command that asks a running hub. */
export function remoteCommand(cli: Cli, name: string, description: string): Command {
  const { env } = cli.host;
  return command(cli, name, description)
    .option('--url <url>', 'where the hub is', env.PATCHBAY_URL ?? 'http://localhost:17011')
    .option('--username <name>', 'for HTTP Basic', env.PATCHBAY_USERNAME ?? '')
    .option('--password <password>', 'for HTTP Basic', env.PATCHBAY_PASSWORD ?? '')
    .option('--token <token>', 'for HTTP Bearer', env.PATCHBAY_TOKEN ?? '');
}
