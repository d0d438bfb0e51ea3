// npm run trial -- resume: cuts the link of a client again and again while values change, also right after the end of a subscription
// and in the middle of a large one. Whatever revision the client keeps, it must have been sent every value up to it. After each
// resume it must have every value that the hub has. Exit status 1 otherwise.

import { messageOf } from '../../lib/model/error.ts';
import { thisTree } from '../support/repository/this-tree.ts';
import { startHub } from '../support/system/task-process.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';
import { smallCount, Trial, type TrialOptions } from './resume/trial.ts';
import { runAnyScript, tell } from './script.ts';

const usage = `npm run trial -- resume [options]

  --cuts <n>      how many times the link is cut, and resumed and compared (300)
  --seed <n>      what chance is made of (1)
  --large <n>     how many parameters the large subscription has (20000)
  --rate <n>      how many changes a second go on meanwhile, at most (5000)
  --client <c>    careful: it keeps revisions while it waits for no end; naive: every revision (careful)
  --hub <folder>  the source tree whose hub it is (this one)
  --quick         the hub does not warm up
`;

await runAnyScript({
  usage,
  unless: { cuts: 300, seed: 1, large: 20_000, rate: 5000 },
  texts: ['client', 'hub'],
  flags: ['quick'],
  async run({ numbers: { cuts, ...chance }, texts: { client = 'careful', hub = thisTree }, flags }) {
    const options = { ...chance, isNaive: isNaiveClient(client) };
    const told = await inTemporaryFolder('resume', (folder) =>
      resumeAgain(cuts, options, { hubFolder: hub, profileFolder: undefined, isQuick: flags.quick }, folder),
    ).catch((error) => {
      throw new Error(`seed ${chance.seed}: ${messageOf(error)}`);
    });
    tell(`seed ${chance.seed}: ${told}`);
    return 0;
  },
});

async function resumeAgain(
  cuts: number,
  options: TrialOptions,
  hubOptions: Parameters<typeof startHub>[2],
  folder: string,
): Promise<string> {
  const dummy = (count: number) => ({
    type: 'dummy',
    parameters: Array.from({ length: count }, (_, n) => `p${n},I,0`),
  });
  const flow = { connections: { desk: dummy(smallCount), plant: dummy(options.large) } };
  const hub = await startHub(flow, folder, hubOptions);
  try {
    return await new Trial(hub.port, options).run(cuts);
  } finally {
    await hub.stop();
  }
}

function isNaiveClient(client: string): boolean {
  if (client === 'careful' || client === 'naive') return client === 'naive';
  throw new Error(`--client: expected careful or naive, got ${JSON.stringify(client)} (string)`);
}
