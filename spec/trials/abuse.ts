// npm run trial -- abuse: abuses a hub in every way that is known, beside twenty ordinary clients, and prints a Markdown table.
// Exit status 1 when somebody else noticed, the hub did not stop, kept memory, or its log did not say whose doing it was.

import { resolve } from 'node:path';
import { messageOf } from '../../lib/model/error.ts';
import { thisTree } from '../support/repository/this-tree.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';
import { type AbuseOptions, type AbuseResult, runAbuse } from './abuse/run.ts';
import type { Scenario } from './abuse/scenario.ts';
import { scenarios } from './abuse/scenarios.ts';
import { chosenOf, listOf, runAnyScript, tell } from './script.ts';

const usage = `npm run trial -- abuse [scenarios…] [options]

  --seconds <n>   how long each abuse lasts (10)
  --slack <n>     by how much bounds may be exceeded: 2 is twice (1)
  --hub <folder>  the source tree whose hub is abused (this one)
  --quick         the hubs do not warm up
  --list          prints the scenarios
  --help`;

const bounds = { p99Ms: 100, stopMs: 2000, memoryShare: 0.1 };
const mebibyte = 1024 * 1024;

await runAnyScript({
  usage,
  unless: { seconds: 10, slack: 1 },
  texts: ['hub'],
  flags: ['quick', 'list'],
  takesNames: true,
  async run({ numbers, texts: { hub = thisTree }, flags: { quick: isQuick = false, list }, names }) {
    if (list) {
      tell(listOf(scenarios));
      return 0;
    }
    for (const [name, number] of Object.entries(numbers))
      if (number === 0) throw new Error(`--${name}: expected a number above 0, got 0`);
    tell('| abuse | p99 before, during | longest gap | SIGTERM to exit | MiB before, after | told | |');
    tell('|---|---|---|---|---|---|---|');
    let failed = 0;
    for (const [name, scenario] of chosenOf(scenarios, names)) {
      const mistakes = await abuse(name, scenario, { ...numbers, hub: { hubFolder: resolve(hub), isQuick } });
      if (mistakes.length > 0) failed++;
    }
    return failed > 0 ? 1 : 0;
  },
});

async function abuse(
  name: string,
  scenario: Scenario,
  { seconds, slack, hub }: { seconds: number; slack: number; hub: Pick<AbuseOptions, 'hubFolder' | 'isQuick'> },
): Promise<readonly string[]> {
  try {
    const result = await inTemporaryFolder('abuse', (folder) => runAbuse(name, scenario, { ...hub, seconds, folder }));
    const mistakes = mistakesOf(scenario, result, slack);
    const { before, during, stopMs, bytesBefore, bytesAfter, told } = result;
    const cells = [
      name,
      `${before.p99.toFixed(1)}, ${during.p99.toFixed(1)} ms`,
      `${during.longestGap.toFixed(0)} ms`,
      `${stopMs.toFixed(0)} ms`,
      `${(bytesBefore / mebibyte).toFixed(0)}, ${(bytesAfter / mebibyte).toFixed(0)}`,
      told[0] ?? 'nothing',
      mistakes.length === 0 ? 'holds' : `**${mistakes.join('; ')}**`,
    ];
    tell(`| ${cells.join(' | ')} |`);
    return mistakes;
  } catch (error) {
    tell(`| ${name} | **${messageOf(error)}** |`);
    return [messageOf(error)];
  }
}

function mistakesOf(scenario: Scenario, result: AbuseResult, slack: number): string[] {
  const { during, stopMs, bytesBefore, bytesAfter, told } = result;
  const most = {
    p99: (scenario.p99Ms ?? bounds.p99Ms) * slack,
    stop: bounds.stopMs * slack,
    bytes: bytesBefore * (1 + bounds.memoryShare * slack),
  };
  return [
    ...(during.p99 < most.p99 ? [] : [`p99: expected less than ${most.p99} ms, got ${during.p99}`]),
    ...(stopMs < most.stop ? [] : [`SIGTERM: expected the end within ${most.stop} ms, got ${stopMs.toFixed(0)}`]),
    ...(bytesAfter <= most.bytes ? [] : ['memory: expected what there was before and a tenth']),
    ...(scenario.limits.length === 0 || told.length > 0
      ? []
      : [`log: expected a line of ${scenario.limits.join(', ')}`]),
  ];
}
