// npm run trial -- fuzz: sends a hub inputs that it has never seen, over HTTP and both sockets, the same ones for the same seed. No
// input may make an internal error, an entry of the log that says so, or the end of the hub; every connection is answered or
// ends, an ordinary client gets its changes all the while, and the memory is as it was. Exit status 1 and the smallest input
// otherwise.

import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../lib/model/error.ts';
import { untilSo } from '../support/load/deadline.ts';
import { Random } from '../support/random.ts';
import { type Counts, type Input, Sender } from './fuzz/deliver.ts';
import { type FuzzedHub, startFuzzedHub } from './fuzz/fuzzed-hub.ts';
import { anHttpInput } from './fuzz/http-input.ts';
import { Sending } from './fuzz/sending.ts';
import { shrink } from './fuzz/shrink.ts';
import { aSocketInput } from './fuzz/socket-input.ts';
import { runScript, tell } from './script.ts';

const usage = `npm run trial -- fuzz [options]

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

await runScript(usage, { seed: 1, inputs: 500_000, senders: 16, only: -1 }, ({ seed, inputs, senders, only }) =>
  only < 0 ? fuzz(seed, inputs, senders) : repeat(seed, only),
);

/** Every input is made of the seed and its number alone. */
function inputOf(seed: number, number: number): Input {
  const random = new Random(seed, number);
  return random.once(20) ? aSocketInput(random) : anHttpInput(random);
}

async function fuzz(seed: number, inputs: number, senders: number): Promise<number> {
  const hub = await startFuzzedHub();
  const sending = new Sending(hub, (number) => inputOf(seed, number), senders);
  try {
    const growthBytes = await sendAndLook(hub, sending, inputs);
    tell(textOf(sending.counts));
    if (sending.isWrong) return await blame(seed, hub, sending);
    await expectNoConnections(hub);
    await hub.stop();
    if (growthBytes > maxGrowthBytes) throw new Error(`seed ${seed}: the heap has grown by ${mebibytes(growthBytes)}`);
    tell(`seed ${seed}: ${sending.sent} inputs, nothing was wrong`);
    return 0;
  } finally {
    await hub.stop().catch((error) => tell(messageOf(error)));
  }
}

/** Sends so many inputs, and looks at the hub again and again; returns how much the heap has grown since the first look. */
async function sendAndLook(hub: FuzzedHub, sending: Sending, inputs: number): Promise<number> {
  const startMs = performance.now();
  const heaps: number[] = [];
  for (let look = 1; look <= looks && !sending.isWrong; look++) {
    await sending.sendUntil((inputs / looks) * look);
    await hub.check().catch(() => {}); // it has complained
    if (hub.complaints.length > 0) break;
    const { heapBytes, residentBytes } = await hub.memory();
    heaps.push(heapBytes);
    const { sent } = sending;
    const seconds = (performance.now() - startMs) / 1000;
    tell(
      `${sent} inputs, ${Math.round(sent / seconds)}/s; heap ${mebibytes(heapBytes)}, resident ${mebibytes(residentBytes)}, ` +
        `${hub.logged} lines logged`,
    );
  }
  return heaps.length === 0 ? 0 : heaps.at(-1)! - heaps[0]!;
}

/** Tells which of the inputs it was, as small as it can be. */
async function blame(seed: number, hub: FuzzedHub, { failure, suspects }: Sending): Promise<number> {
  for (const complaint of hub.complaints.slice(0, 3)) tell(complaint);
  await hub.stop().catch((error) => tell(messageOf(error)));
  tell(`seed ${seed}: ${failure?.mistake ?? 'the hub complained'}; input ${failure?.number ?? 'unknown as yet'}`);
  for (const suspect of suspects) if ((await repeat(seed, suspect)) === 1) return 1;
  tell('none of the last inputs does it alone');
  return 1;
}

/** Sends one input to hubs of its own, and makes it smaller while it fails; 0: it does not. */
async function repeat(seed: number, number: number): Promise<number> {
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
  const input = inputOf(seed, number);
  const isFailing = await fails(input);
  if (isFailing) {
    const smallest = await shrink(input, fails);
    tell(`fails: npm run trial -- fuzz --seed ${seed} --only ${number}; the smallest that does:`);
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

/** `200: 92, 404: 116, ws ended: 21`. */
function textOf(counts: Counts): string {
  return [...counts]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([what, count]) => `${what}: ${count}`)
    .join(', ');
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
