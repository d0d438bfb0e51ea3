// npm run trial -- fuzz: sends random inputs to a hub over HTTP and both kinds of sockets, reproducible by seed. No input may cause an
// internal error, log one, or crash the hub; every connection gets a response or is closed, an ordinary client receives its changes
// throughout, and memory does not grow. Otherwise exit status 1, with the smallest failing input.

import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../../lib/model/error.ts';
import { untilSo } from '../../support/deadline.ts';
import { Random } from '../../support/random.ts';
import { defineTrial, notify } from '../trial.ts';
import { type Counts, type Input, Sender } from './deliver.ts';
import { type FuzzedHub, startFuzzedHub } from './fuzzed-hub.ts';
import { anHttpInput } from './http-input.ts';
import { aSocketInput } from './socket-input.ts';

/** The number of checks of the hub during a run. */
const looks = 10;
/** What a hub may hold more at the end than after the first look: caches and histories are full by then. */
const maxGrowthBytes = 16 * 1024 * 1024;
const endDeadlineMs = 10_000;
const lookEveryMs = 100;

export const trial = defineTrial({
  about: 'sends random inputs to a hub, over HTTP and both kinds of sockets',
  options: {
    seed: ['the seed for the inputs', 1, 12],
    inputs: ['the number of requests and frames to send', 500_000, 3000],
    senders: ['the number of simultaneous senders', 16],
    only: ['sends only the input with this number, which a failed run reports', ''],
  },
  run: ({ seed, inputs, senders, only }) =>
    only === '' ? fuzz(seed, inputs, senders) : repeat(seed, Number(only)).then((fails) => !fails),
});

/** Every input is made of the seed and its number alone. */
function inputOf(seed: number, number: number): Input {
  const random = new Random(seed, number);
  return random.once(20) ? aSocketInput(random) : anHttpInput(random);
}

async function fuzz(seed: number, inputs: number, senders: number): Promise<boolean> {
  const hub = await startFuzzedHub();
  const sending = new Sending(hub, (number) => inputOf(seed, number), senders);
  try {
    const growthBytes = await sendAndLook(hub, sending, inputs);
    notify(textOf(sending.counts));
    if (sending.isWrong) {
      await blame(seed, hub, sending);
      return false;
    }
    await expectNoConnections(hub);
    await hub.stop();
    if (growthBytes > maxGrowthBytes) throw new Error(`seed ${seed}: the heap has grown by ${mebibytes(growthBytes)}`);
    notify(`seed ${seed}: ${sending.sent} inputs, nothing was wrong`);
    return true;
  } finally {
    await hub.stop().catch((error) => notify(messageOf(error)));
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
    notify(
      `${sent} inputs, ${Math.round(sent / seconds)}/s; heap ${mebibytes(heapBytes)}, resident ${mebibytes(residentBytes)}, ` +
        `${hub.logged} lines logged`,
    );
  }
  return heaps.length === 0 ? 0 : heaps.at(-1)! - heaps[0]!;
}

/** Tells which of the inputs it was, as small as it can be. */
async function blame(seed: number, hub: FuzzedHub, { failure, suspects }: Sending): Promise<void> {
  for (const complaint of hub.complaints.slice(0, 3)) notify(complaint);
  await hub.stop().catch((error) => notify(messageOf(error)));
  notify(`seed ${seed}: ${failure?.mistake ?? 'the hub complained'}; input ${failure?.number ?? 'unknown as yet'}`);
  for (const suspect of suspects) if (await repeat(seed, suspect)) return;
  notify('none of the last inputs does it alone');
}

/** Sends one input to hubs of its own, and makes it smaller while it fails; returns whether it does. */
async function repeat(seed: number, number: number): Promise<boolean> {
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
    notify(`fails: npm run trial -- fuzz --seed ${seed} --only ${number}; the smallest that does:`);
    notify(JSON.stringify(smallest));
    for (const complaint of hub.complaints.slice(-1)) notify(complaint);
  }
  await hub.stop().catch(() => {});
  return isFailing;
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

const maxTries = 400;

/** Returns the smallest input that was found; `fails` says whether one still fails. */
export async function shrink(input: Input, fails: (input: Input) => Promise<boolean>): Promise<Input> {
  let smallest = input;
  let tries = 0;
  const attempt = async (pieces: readonly string[]) => {
    if (tries++ >= maxTries || pieces.length === 0) return false;
    const smaller = { ...smallest, pieces };
    if (!(await fails(smaller))) return false;
    smallest = smaller;
    return true;
  };
  const without = <T>(list: readonly T[], from: number, length: number) => [
    ...list.slice(0, from),
    ...list.slice(from + length),
  ];
  for (let length = Math.ceil(input.pieces.length / 2); length >= 1; length = length === 1 ? 0 : Math.ceil(length / 2))
    for (let from = 0; from < smallest.pieces.length; )
      if (!(await attempt(without(smallest.pieces, from, length)))) from += length;
  if (input.kind === 'socket') return smallest; // a frame says its length, which cutting it would make wrong
  for (let place = 0; place < smallest.pieces.length; place++)
    for (
      let length = Math.ceil(smallest.pieces[place]!.length / 2);
      length >= 1;
      length = length === 1 ? 0 : Math.ceil(length / 2)
    )
      for (let from = 0; from < smallest.pieces[place]!.length; ) {
        const text = smallest.pieces[place]!;
        const shorter = text.slice(0, from) + text.slice(from + length);
        if (!(await attempt(smallest.pieces.map((piece, index) => (index === place ? shorter : piece)))))
          from += length;
      }
  return smallest;
}

export interface Failure {
  /** The number of the input. */
  readonly number: number;
  readonly mistake: string;
}

export class Sending {
  /** What was answered how often. */
  readonly counts: Counts = new Map();
  readonly #hub: FuzzedHub;
  readonly #inputOf: (number: number) => Input;
  readonly #senders: number;
  #sent = 0;
  #next = 0;
  #failure: Failure | undefined;
  readonly #under = new Set<number>();
  /** Those that were sent last, of which one has made the hub complain. */
  readonly #lately: number[] = [];

  constructor(hub: FuzzedHub, inputOf: (number: number) => Input, senders: number) {
    this.#hub = hub;
    this.#inputOf = inputOf;
    this.#senders = senders;
  }

  /** How many requests and frames were sent. */
  get sent(): number {
    return this.#sent;
  }

  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** Whether an input was answered as none may be, or the hub has complained. */
  get isWrong(): boolean {
    return this.#failure !== undefined || this.#hub.complaints.length > 0;
  }

  /** The numbers of the inputs of which one is to blame, the likeliest first. */
  get suspects(): readonly number[] {
    return this.#failure === undefined ? [...this.#lately, ...this.#under].reverse() : [this.#failure.number];
  }

  /** Sends until so many were sent in all, or something is wrong. */
  async sendUntil(goal: number): Promise<void> {
    await Promise.all(Array.from({ length: this.#senders }, () => this.#send(goal)));
  }

  async #send(goal: number): Promise<void> {
    const sender = new Sender(this.#hub.ports, this.counts);
    while (!this.isWrong && this.#sent < goal) {
      const number = this.#next++;
      const input = this.#inputOf(number);
      this.#under.add(number);
      this.#sent += input.kind === 'http' ? 1 : input.pieces.length;
      const mistake = await sender.send(input).catch(messageOf);
      this.#under.delete(number);
      this.#lately.push(number);
      if (this.#lately.length > 4 * this.#senders) this.#lately.shift();
      if (mistake !== undefined) this.#failure ??= { number, mistake };
    }
    sender.end();
  }
}
