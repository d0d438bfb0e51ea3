// `patchbay check` and `patchbay permissions`: show the errors in flow files and dashboards, and the permissions that their connections
// need on servers run by others. Neither command runs a connection or rule.

import { counted } from '../model/digits.ts';
import { type Cli, command, flowFiles } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(cli, 'check', 'report every error in flow files and dashboards; exit with status 1 if any are found')
    .argument(...flowFiles)
    .action((paths: string[]) => cli.finish(check(paths, cli.console)));
  command(cli, 'permissions', 'print the minimum permissions that this hub needs on a NATS server')
    .argument(...flowFiles)
    .action((paths: string[]) => cli.finish(permissions(paths, cli.console)));
}

/**
 * Checks flow files. Prints every error on a separate line, and returns exit status 1. If there are no errors, prints warnings and a
 * summary.
 */
export async function check(paths: readonly string[], console: Console): Promise<number> {
  const { checkFlows } = await import('../hub/index.ts');
  const { plan, mistakes } = await checkFlows(paths);
  if (mistakes.length > 0) {
    console.printError([...mistakes, counted(mistakes.length, 'error')].join('\n'));
    return 1;
  }
  const { files, rules } = plan;
  for (const warning of [...(plan.warnings ?? []), ...(plan.hints?.() ?? [])])
    console.printError(`warning: ${warning}`);
  const connections = files.reduce((sum, file) => sum + file.connections, 0);
  const enabled = rules.filter(({ isEnabled }) => isEnabled).length;
  console.print(`ok: ${counted(connections, 'connection')}, ${counted(enabled, 'rule')}`);
  return 0;
}

/** Prints the minimal permissions of each connection that needs permissions on a server. Errors: `bad-flow` with every error. */
async function permissions(paths: readonly string[], console: Console): Promise<number> {
  const { loadFlows } = await import('../hub/index.ts');
  const { connections } = await loadFlows(paths);
  const texts = connections.flatMap(({ type, settings }) => type.permissions?.(settings) ?? []);
  if (texts.length === 0) console.printError('no connection needs permissions on a NATS server');
  for (const text of texts) console.print(text);
  return 0;
}
