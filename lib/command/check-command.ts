// `patchbay check`: reports every error in flow files and dashboards without running anything.
import { type Cli, command, flowFiles } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(cli, 'check', 'report every error in flow files and dashboards; exit status 1 if there are any')
    .argument(...flowFiles)
    .action((paths: string[]) => cli.finish(check(paths, cli.console)));
}

/** Prints every error, a line each, and returns exit status 1. Without errors it prints warnings and a summary. */
export async function check(paths: readonly string[], console: Console): Promise<number> {
  const { checkFlows } = await import('../hub/index.ts');
  const { plan, mistakes } = await checkFlows(paths);
  if (mistakes.length > 0) {
    const count = `${mistakes.length} ${mistakes.length === 1 ? 'error' : 'errors'}`;
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
