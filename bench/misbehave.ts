// node bench/misbehave.ts: saves a flow in TypeScript that misbehaves into a hub that runs, in every way that is known, beside a
// neighbour of 2,000 changes a second, and prints a Markdown table. Exit status 1 when the neighbour lost a change, the log did
// not name the flow, or the next good save did not take effect in time.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../lib/model/error.ts';
import { Misbehaviour } from './misbehave/run.ts';
import type { Way } from './misbehave/way.ts';
import { ways } from './misbehave/ways.ts';

const usage = `node bench/misbehave.ts [ways…] [options]

  --changes <n>   how many changes a second the neighbour makes (2000)
  --next <ms>     how soon the next good save must take effect (300)
  --hub <folder>  the source tree whose hub is tried (this one)
  --list          prints the ways
  --help`;

const print = (text: string) => void process.stdout.write(`${text}\n`);

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
      changes: { type: 'string', default: '2000' },
      next: { type: 'string', default: '300' },
      hub: { type: 'string', default: join(import.meta.dirname, '..') },
      list: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help || values.list) {
    print(
      values.help
        ? usage
        : chosen([])
            .map(([name, { about }]) => `${name}: ${about}`)
            .join('\n'),
    );
    return 0;
  }
  const options = { changesPerSecond: Number(values.changes), hubFolder: resolve(values.hub) };
  print('| way | changes of the neighbour, longest gap | next good save | told | |');
  print('|---|---|---|---|---|');
  let failed = 0;
  let hub: { misbehaviour: Misbehaviour; folder: string } | undefined;
  const end = async (work: (misbehaviour: Misbehaviour) => unknown) => {
    const last = hub;
    hub = undefined;
    if (last === undefined) return;
    await work(last.misbehaviour);
    await rm(last.folder, { recursive: true });
  };
  try {
    for (const [name, way] of chosen(positionals)) {
      hub ??= await startIn(options);
      if (await isWell(name, way, hub.misbehaviour, Number(values.next))) continue;
      failed++;
      await end((misbehaviour) => misbehaviour.kill());
    }
    await end((misbehaviour) => misbehaviour.stop());
  } finally {
    await end((misbehaviour) => misbehaviour.kill());
  }
  return failed > 0 ? 1 : 0;
}

async function startIn(options: { changesPerSecond: number; hubFolder: string }) {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-misbehave-'));
  return { folder, misbehaviour: await Misbehaviour.start({ ...options, folder }) };
}

async function isWell(name: string, way: Way, misbehaviour: Misbehaviour, nextMs: number): Promise<boolean> {
  try {
    const result = await misbehaviour.run(way);
    const isInTime = result.nextMs <= nextMs;
    const neighbour = way.ends ? 'the process ends' : `${result.heard}, ${result.longestGapMs.toFixed(0)} ms`;
    const told = (result.told || 'nothing to tell').slice(0, 160).replaceAll('|', '\\|');
    const mistake = `**expected the next good save within ${nextMs} ms**`;
    print(`| ${name} | ${neighbour} | ${result.nextMs.toFixed(0)} ms | ${told} | ${isInTime ? 'holds' : mistake} |`);
    return isInTime;
  } catch (error) {
    print(`| ${name} | | | | **${messageOf(error)}** |`);
    return false;
  }
}

function chosen(names: readonly string[]): (readonly [string, Way])[] {
  for (const name of names)
    if (!(name in ways)) throw new Error(`expected one of ${Object.keys(ways).join(', ')}, got "${name}"`);
  return Object.entries(ways).filter(([name]) => names.length === 0 || names.includes(name));
}
