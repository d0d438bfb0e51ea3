// npm run trial -- misbehave: saves a flow in TypeScript that misbehaves into a hub that runs, in every way that is known, beside a
// neighbour of 2,000 changes a second, and prints a Markdown table. Exit status 1 when the neighbour lost a change, the log did
// not name the flow, or the next good save did not take effect in time.

import { resolve } from 'node:path';
import { messageOf } from '../../lib/model/error.ts';
import { thisTree } from '../support/repository/this-tree.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { Misbehaviour, type MisbehaviourOptions } from './misbehave/run.ts';
import type { Way } from './misbehave/way.ts';
import { ways } from './misbehave/ways.ts';
import { chosenOf, listOf, runAnyScript, tell } from './script.ts';

const usage = `npm run trial -- misbehave [ways…] [options]

  --changes <n>   how many changes a second the neighbour makes (2000)
  --next <ms>     how soon the next good save must take effect (300)
  --hub <folder>  the source tree whose hub is tried (this one)
  --list          prints the ways
  --help`;

await runAnyScript({
  usage,
  unless: { changes: 2000, next: 300 },
  texts: ['hub'],
  flags: ['list'],
  takesNames: true,
  async run({ numbers: { changes: changesPerSecond, next }, texts: { hub = thisTree }, flags: { list }, names }) {
    if (list) {
      tell(listOf(ways));
      return 0;
    }
    return misbehave(chosenOf(ways, names), { changesPerSecond, hubFolder: resolve(hub) }, next);
  },
});

/** Tries the ways on one hub, and on another one after each that was not well. */
async function misbehave(
  chosen: readonly (readonly [string, Way])[],
  options: Omit<MisbehaviourOptions, 'folder'>,
  nextMs: number,
): Promise<number> {
  tell('| way | changes of the neighbour, longest gap | next good save | told | |');
  tell('|---|---|---|---|---|');
  let failed = 0;
  let hub: { misbehaviour: Misbehaviour; remove: () => Promise<void> } | undefined;
  const end = async (work: (misbehaviour: Misbehaviour) => unknown) => {
    const last = hub;
    hub = undefined;
    if (last === undefined) return;
    await work(last.misbehaviour);
    await last.remove();
  };
  try {
    for (const [name, way] of chosen) {
      hub ??= await startIn(options);
      if (await isWell(name, way, hub.misbehaviour, nextMs)) continue;
      failed++;
      await end((misbehaviour) => misbehaviour.kill());
    }
    await end((misbehaviour) => misbehaviour.stop());
  } finally {
    await end((misbehaviour) => misbehaviour.kill());
  }
  return failed > 0 ? 1 : 0;
}

async function startIn(options: Omit<MisbehaviourOptions, 'folder'>) {
  const { path: folder, remove } = await createTemporaryFolder('misbehave');
  try {
    return { remove, misbehaviour: await Misbehaviour.start({ ...options, folder }) };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function isWell(name: string, way: Way, misbehaviour: Misbehaviour, nextMs: number): Promise<boolean> {
  try {
    const result = await misbehaviour.run(way);
    const isInTime = result.nextMs <= nextMs;
    const neighbour = way.ends ? 'the process ends' : `${result.heard}, ${result.longestGapMs.toFixed(0)} ms`;
    const told = (result.told || 'nothing to tell').slice(0, 160).replaceAll('|', '\\|');
    const mistake = `**expected the next good save within ${nextMs} ms**`;
    tell(`| ${name} | ${neighbour} | ${result.nextMs.toFixed(0)} ms | ${told} | ${isInTime ? 'holds' : mistake} |`);
    return isInTime;
  } catch (error) {
    tell(`| ${name} | | | | **${messageOf(error)}** |`);
    return false;
  }
}
