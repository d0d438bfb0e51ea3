// node bench/resume.ts: cuts the link of a client again and again while values change, also right after the end of a subscription
// and in the middle of a large one. Whatever revision the client keeps, it must have been sent every value up to it. After each
// resume it must have every value that the hub has. Exit status 1 otherwise.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../lib/model/error.ts';
import { startHub } from './harness/process.ts';
import { smallCount, Trial } from './resume/trial.ts';

const usage = `node bench/resume.ts [options]

  --cuts <n>      how many times the link is cut, and resumed and compared (300)
  --seed <n>      what chance is made of (1)
  --large <n>     how many parameters the large subscription has (20000)
  --rate <n>      how many changes a second go on meanwhile, at most (5000)
  --client <c>    careful: it keeps revisions while it waits for no end; naive: every revision (careful)
  --hub <folder>  the source tree whose hub it is (this one)
  --quick         the hub does not warm up
`;

const { values } = parseArgs({
  options: {
    cuts: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    large: { type: 'string', default: '20000' },
    rate: { type: 'string', default: '5000' },
    client: { type: 'string', default: 'careful' },
    hub: { type: 'string', default: join(import.meta.dirname, '..') },
    quick: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
const tell = (line: string) => void process.stdout.write(`${line}\n`);

try {
  if (values.help) tell(usage);
  else tell(`seed ${values.seed}: ${await run(Number(values.cuts), Number(values.large))}`);
} catch (error) {
  tell(`seed ${values.seed}: ${messageOf(error)}`);
  process.exitCode = 1;
}

async function run(cuts: number, large: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-resume-'));
  const dummy = (count: number) => ({
    type: 'dummy',
    parameters: Array.from({ length: count }, (_, n) => `p${n},I,0`),
  });
  const flow = { connections: { desk: dummy(smallCount), plant: dummy(large) } };
  const isNaive = isNaiveClient(values.client);
  const hub = await startHub(flow, folder, { hubFolder: values.hub, profileFolder: undefined, isQuick: values.quick });
  try {
    const trial = new Trial(hub.port, { large, rate: Number(values.rate), seed: Number(values.seed), isNaive });
    return await trial.run(cuts);
  } finally {
    await hub.stop();
    await rm(folder, { recursive: true });
  }
}

function isNaiveClient(client: string): boolean {
  if (client === 'careful' || client === 'naive') return client === 'naive';
  throw new Error(`--client: expected careful or naive, got ${JSON.stringify(client)} (string)`);
}
