// node bench/abuse.ts: abuses a hub in every way that is known, beside twenty ordinary clients, and prints a Markdown table.
// Exit status 1 when somebody else noticed, the hub did not stop, kept memory, or its log did not say whose doing it was.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../lib/model/error.ts';
import { type AbuseOptions, type AbuseResult, runAbuse } from './abuse/run.ts';
import type { Scenario } from './abuse/scenario.ts';
import { scenarios } from './abuse/scenarios.ts';

const usage = `node bench/abuse.ts [scenarios…] [options]

  --seconds <n>   how long each abuse lasts (10)
  --slack <n>     by how much bounds may be exceeded: 2 is twice (1)
  --hub <folder>  the source tree whose hub is abused (this one)
  --quick         the hubs do not warm up
  --list          prints the scenarios
  --help`;

const bounds = { p99Ms: 100, stopMs: 2000, memoryShare: 0.1 };
const mebibyte = 1024 * 1024;

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '10' },
      slack: { type: 'string', default: '1' },
      hub: { type: 'string', default: join(import.meta.dirname, '..') },
      quick: { type: 'boolean', default: false },
      list: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return print(usage);
  if (values.list)
    return print(
      chosen([])
        .map(([name, { about }]) => `${name}: ${about}`)
        .join('\n'),
    );
  const options = { seconds: above0('seconds', values.seconds), slack: above0('slack', values.slack) };
  print('| abuse | p99 before, during | longest gap | SIGTERM to exit | MiB before, after | told | |');
  print('|---|---|---|---|---|---|---|');
  let failed = 0;
  for (const [name, scenario] of chosen(positionals)) {
    const hub = { hubFolder: resolve(values.hub), isQuick: values.quick };
    const mistakes = await abuse(name, scenario, { ...options, hub });
    if (mistakes.length > 0) failed++;
  }
  return failed > 0 ? 1 : 0;
}

async function abuse(
  name: string,
  scenario: Scenario,
  { seconds, slack, hub }: { seconds: number; slack: number; hub: Pick<AbuseOptions, 'hubFolder' | 'isQuick'> },
): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-abuse-'));
  try {
    const result = await runAbuse(name, scenario, { ...hub, seconds, folder });
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
    print(`| ${cells.join(' | ')} |`);
    return mistakes;
  } catch (error) {
    print(`| ${name} | **${messageOf(error)}** |`);
    return [messageOf(error)];
  } finally {
    await rm(folder, { recursive: true });
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

function chosen(names: readonly string[]): (readonly [string, Scenario])[] {
  for (const name of names)
    if (!(name in scenarios)) throw new Error(`expected one of ${Object.keys(scenarios).join(', ')}, got "${name}"`);
  return Object.entries(scenarios).filter(([name]) => names.length === 0 || names.includes(name));
}

function above0(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${name}: expected a number above 0, got "${text}"`);
  return number;
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}
