// `patchbay permissions`: the permissions that the connections of an installation need on foreign servers.

import { type Cli, command, flowFiles } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(cli, 'permissions', 'print the least permissions that this hub needs on a NATS server')
    .argument(...flowFiles)
    .action((paths: string[]) => cli.finish(permissions(paths, cli.console)));
}

/** Prints the least permissions of each connection that needs any. Errors: `bad-flow` with every error. */
async function permissions(paths: readonly string[], console: Console): Promise<number> {
  const { loadFlows } = await import('../hub/index.ts');
  const { connections } = await loadFlows(paths);
  const texts = connections.flatMap(({ type, settings }) => type.permissions?.(settings) ?? []);
  if (texts.length === 0) console.printError('no connection needs permissions on a server');
  for (const text of texts) console.print(text);
  return 0;
}
