// `patchbay check`: names every mistake in flow files and dashboards without running anything.
import { checkFlows } from '../hub/index.ts';
import type { Console } from './console.ts';

/** Prints every mistake; without any, what may be wrong and what is probably not meant. A line each; exit status 1 when there is a mistake. */
export async function check(paths: readonly string[], console: Console): Promise<number> {
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
