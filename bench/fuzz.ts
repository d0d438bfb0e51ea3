// node bench/fuzz.ts: sends a hub inputs that it has never seen, over HTTP and both sockets, the same ones for the same seed. No
// input may make an internal error, an entry of the log that says so, or the end of the hub; every connection is answered or
// ends, an ordinary client gets its changes all the while, and the memory is as it was. Exit status 1 and the smallest input
// otherwise.

import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { messageOf } from '../lib/model/error.ts';
import { type Counts, type Input, Sender } from './fuzz/deliver.ts';
import { type FuzzedHub, startFuzzedHub } from './fuzz/fuzzed-hub.ts';
import { anHttpInput } from './fuzz/http-input.ts';
import { Random } from './fuzz/random.ts';
import { shrink } from './fuzz/shrink.ts';
import { aSocketInput } from './fuzz/socket-input.ts';
import { untilSo } from './load/deadline.ts';

const usage = `node bench/fuzz.ts [options]

  --seed <n>     what the inputs are made of (1)
  --inputs <n>   how many requests and frames are sent (500000)
  --senders <n>  how many are sent at the same time (16)
  --only <n>     sends the n-th alone, as a run that failed says
`;

/** How many times the hub is looked at during a run. */
const looks = 10;
/** What a hub may hold more at the end than after the first look: caches and histories are full by then. */
const maxGrowthBytes = 16 * 1024 * 1024;
const endDeadlineMs = 10_000;
const lookEveryMs = 100;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    inputs: { type: 'string', default: '500000' },
    senders: { type: 'string', default: '16' },
    only: { type: 'string' },
    help: { type: 'boolean' },
  },
});
const seed = Number(values.seed);
const tell = (line: string) => void process.stdout.write(`${line}\n`);

try {
  if (values.help) tell(usage);
  else if (values.only !== undefined) process.exitCode = await repeat(inputOf(Number(values.only)));
  else process.exitCode = await fuzz(Number(values.inputs), Number(values.senders));
} catch (error) {
  tell(messageOf(error));
  process.exitCode = 1;
}

/** Every input is made of the seed and its number alone. */
function inputOf(number: number): Input {
  const random = new Random(seed, number);
  return random.once(20) ? aSocketInput(random) : anHttpInput(random);
}

async function fuzz(inputs: number, senders: number): Promise<number> {
  const hub = await startFuzzedHub();
  try {
    return await fuzzHub(hub, inputs, senders);
  } finally {
    await hub.stop().catch((error) => tell(messageOf(error)));
  }
}

async function fuzzHub(hub: FuzzedHub, inputs: number, senders: number): Promise<number> {
  const counts: Counts = new Map();
  const startMs = performance.now();
  let sent = 0;
  let number = 0;
  let failure: { number: number; mistake: string } | undefined;
  const under = new Set<number>();
  /** Those that were sent last, of which one has made the hub complain. */
  const lately: number[] = [];
  const work = async () => {
    const sender = new Sender(hub.ports, counts);
    while (failure === undefined && hub.complaints.length === 0 && sent < goal) {
      const own = number++;
      const input = inputOf(own);
      under.add(own);
      sent += input.kind === 'http' ? 1 : input.pieces.length;
      const mistake = await sender.send(input).catch(messageOf);
      under.delete(own);
      lately.push(own);
      if (lately.length > 4 * senders) lately.shift();
      if (mistake !== undefined) failure ??= { number: own, mistake };
    }
    sender.end();
  };
  let goal = 0;
  let first = 0;
  let last = 0;
  for (let look = 1; look <= looks && failure === undefined && hub.complaints.length === 0; look++) {
    goal = (inputs / looks) * look;
    await Promise.all(Array.from({ length: senders }, work));
    await hub.check().catch(() => {}); // it has complained
    if (hub.complaints.length > 0) break;
    const { heapBytes, residentBytes } = await hub.memory();
    if (look === 1) first = heapBytes;
    last = heapBytes;
    const seconds = (performance.now() - startMs) / 1000;
    tell(
      `${sent} inputs, ${Math.round(sent / seconds)}/s; heap ${mebibytes(heapBytes)}, resident ${mebibytes(residentBytes)}, ` +
        `${hub.logged} lines logged`,
    );
  }
  tell(
    [...counts]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([what, count]) => `${what}: ${count}`)
      .join(', '),
  );
  if (failure === undefined && hub.complaints.length === 0) {
    await expectNoConnections(hub);
    await hub.stop();
    if (last - first > maxGrowthBytes)
      throw new Error(`seed ${seed}: the heap has grown by ${mebibytes(last - first)}`);
    tell(`seed ${seed}: ${sent} inputs, nothing was wrong`);
    return 0;
  }
  for (const complaint of hub.complaints.slice(0, 3)) tell(complaint);
  await hub.stop().catch((error) => tell(messageOf(error)));
  const suspects = failure === undefined ? [...lately, ...under].reverse() : [failure.number];
  tell(`seed ${seed}: ${failure?.mistake ?? 'the hub complained'}; input ${failure?.number ?? 'unknown as yet'}`);
  for (const suspect of suspects) if ((await repeat(inputOf(suspect), suspect)) === 1) return 1;
  tell('none of the last inputs does it alone');
  return 1;
}

/** Sends one input to hubs of its own, and makes it smaller while it fails; 0: it does not. */
async function repeat(input: Input, number = Number(values.only)): Promise<number> {
  let hub = await startFuzzedHub();
  const fails = async (one: Input) => {
    const sender = new Sender(hub.ports, new Map());
    const known = hub.complaints.length;
    const mistake = await sender.send(one).catch(messageOf);
    sender.end();
    const isAlive = await hub.check().then(
      () => true,
      () => false,
    );
    if (isAlive && mistake === undefined && hub.complaints.length === known) await after(20); // the log is another pipe
    const hasFailed = mistake !== undefined || hub.complaints.length > known || !isAlive;
    if (!isAlive) {
      await hub.stop().catch(() => {});
      hub = await startFuzzedHub();
    } else if (hub.complaints.length > known) await after(1100); // the log tells the same once a second
    return hasFailed;
  };
  const isFailing = await fails(input);
  if (isFailing) {
    const smallest = await shrink(input, fails);
    tell(`fails: node bench/fuzz.ts --seed ${seed} --only ${number}; the smallest that does:`);
    tell(JSON.stringify(smallest));
    for (const complaint of hub.complaints.slice(-1)) tell(complaint);
  }
  await hub.stop().catch(() => {});
  return isFailing ? 1 : 0;
}

/** Errors: when connections of the fuzzer are still there. */
async function expectNoConnections(hub: FuzzedHub): Promise<void> {
  let count = 0;
  const isNoneThere = async () => {
    count = await hub.connections();
    return count <= 0;
  };
  const looks = { deadlineMs: endDeadlineMs, everyMs: lookEveryMs };
  await untilSo('no connection', isNoneThere, looks).catch((error: Error) => {
    throw new Error(`${error.message}, ${count} are still there`);
  });
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
