// `patchbay check`: names every mistake in flow files without running anything.

import { loadFlows } from '../hub.ts';
import { messageOf } from '../model/error.ts';
import type { Console } from './console.ts';

/** Prints every mistake; without any, what may be wrong and what is probably not meant. A line each; exit status 1 when there is a mistake. */
export async function check(paths: readonly string[], console: Console): Promise<number> {
  try {
    const plan = await loadFlows(paths);
    const { files, rules } = plan;
    for (const warning of [...(plan.warnings ?? []), ...(plan.hints?.() ?? [])])
      console.printError(`warning: ${warning}`);
    const connections = files.reduce((sum, file) => sum + file.connections, 0);
    console.print(`ok: ${connections} connections, ${rules.filter(({ isEnabled }) => isEnabled).length} rules`);
    return 0;
  } catch (error) {
    const lines = messageOf(error).split('\n');
    console.printError([...lines, `${lines.length} ${lines.length === 1 ? 'mistake' : 'mistakes'}`].join('\n'));
    return 1;
  }
}
