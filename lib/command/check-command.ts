// `patchbay check`: names every mistake in flow files and dashboards without running anything.
import { type Cli, command, flowFiles } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(cli, 'check', 'check flow files and folders, and name every mistake; exit status 1 when there is any')
    .argument(...flowFiles)
    .action((paths: string[]) => cli.finish(check(paths, cli.console)));
}

/** Prints every mistake; without any, what may be wrong and what is probably not meant. A line each; exit status 1 when there is a mistake. */
export async function check(paths: readonly string[], console: Console): Promise<number> {
  const { checkFlows } = await import('../hub/index.ts');
  const { plan, mistakes } = await checkFlows(paths);
  if (mistakes.length > 0) {
    const count = `${mistakes.length} ${mistakes.length === 1 ? 'mistake' : 'mistakes'}`;
    console.printError([...mistakes, count].join('\n'));
    return 1;
  }
  const { files, rules } = plan;
  for (const warning of [...(plan.warnings ?? []), ...(plan.hints?.() ?? [])])
    console.printError(`warning: ${warning}`);
  const connections = files.reduce((sum, file) => sum + file.connections, 0);
  console.print(`ok: ${connections} connections, ${rules.filter(({ isEnabled }) => isEnabled).length} rules`);
  return 0;
}
