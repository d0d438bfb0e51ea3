// npm run trial -- resume: cuts the connection of a client again and again while values change, also right after the end of a subscription
// and in the middle of a large one. The client must have received every value up to the revision it stores, and after each resume it must
// have all values of the hub. Exit status 1 otherwise.

import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../../lib/model/error.ts';
import { AskedHub } from '../../support/asked-hub.ts';
import { becomesSo, untilSo, within } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import { Random } from '../../support/random.ts';
import { startHub } from '../../support/system/task-process.ts';
import { chosenOf, defineTrial, notify } from '../trial.ts';
import { Client, type Wish } from './client.ts';
import { WriteLog, Writer } from './writer.ts';

const clients = { careful: true, naive: true };

export const trial = defineTrial({
  about: 'repeatedly breaks the link of a client while values change: no change may be lost when the client resumes',
  options: {
    cuts: ['the number of times that the link is broken, resumed and compared', 300, 4],
    seed: ['the seed for all random choices', 1, 5],
    large: ['the number of parameters in the large subscription', 20_000, 2000],
    rate: ['the maximum number of changes per second during the trial', 5000],
    client: [
      'careful: keeps a revision only while no end is outstanding; naive: keeps every revision; or both',
      'both',
    ],
    hub: ['the source tree of the hub', thisTree],
  },
  async run({ cuts, large, rate, seed, client, hub }, { isShort }) {
    for (const [name] of chosenOf(clients, client === 'both' ? [] : [client])) {
      const options = { large, rate, seed, isNaive: name === 'naive' };
      const resuming = inTemporaryFolder('resume', (folder) =>
        resumeAgain(cuts, options, { hubFolder: hub, isQuick: isShort }, folder),
      );
      const reported = await resuming.catch((error) => {
        throw new Error(`seed ${seed}, ${name} client: ${messageOf(error)}`);
      });
      notify(`seed ${seed}, ${name} client: ${reported}`);
    }
    return true;
  },
});

async function resumeAgain(
  cuts: number,
  options: CuttingOptions,
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
    return await new Cutting(hub.port, options).run(cuts);
  } finally {
    await hub.stop();
  }
}

/** How many parameters the small subscription has for itself. */
export const smallCount = 20;

const sharedCount = 5;
const deadlineMs = 20_000;
const settledMs = 3000;
const longestLifeMs = 60;
const longestPauseMs = 40;

export interface CuttingOptions {
  readonly large: number;
  readonly rate: number;
  readonly seed: number;
  /** The client keeps every revision, and sends its subscriptions in one go. */
  readonly isNaive: boolean;
}

export class Cutting {
  readonly #port: number;
  readonly #rate: number;
  readonly #isNaive: boolean;
  readonly #random: Random;
  readonly #addresses: readonly string[];
  readonly #client: Client;
  readonly #failure = Promise.withResolvers<never>();
  #log: WriteLog | undefined;
  #plan: Plan | undefined;

  constructor(port: number, { large, rate, seed, isNaive }: CuttingOptions) {
    this.#port = port;
    this.#rate = rate;
    this.#isNaive = isNaive;
    this.#random = new Random(seed, 0);
    this.#addresses = [...addressesOf('desk', smallCount), ...addressesOf('plant', large)];
    this.#failure.promise.catch(() => {});
    this.#client = new Client(port, this.#wishes(), isNaive, {
      took: (isEnd) => this.#plan?.took(isEnd),
      kept: (rev, values) => this.#expect(this.#log?.missingAt(rev, values)),
      dropped: () => this.#log?.forget(),
      broke: (reason) => this.#expect(reason),
    });
  }

  /** Cuts and resumes so many times; returns what was done. Errors: what the client had not been sent. */
  async run(cuts: number): Promise<string> {
    await this.#connect();
    const log = new WriteLog(this.#addresses, this.#client.rev);
    this.#log = log;
    const writer = await Writer.open(this.#port, log, new Random(this.#random.below(1e9), 1));
    void writer.write(this.#rate);
    let early = 0;
    for (let cut = 0; cut < cuts; cut++) {
      await this.#soon(after(this.#random.below(longestLifeMs)));
      this.#client.cut();
      await after(this.#random.below(longestPauseMs));
      if (this.#random.once(3)) await writer.writeAll();
      if (!this.#random.once(3)) {
        early++;
        await this.#interrupt();
        await after(this.#random.below(longestPauseMs));
      }
      await this.#connect();
      await writer.hold(() => this.#compare(cut));
    }
    writer.end();
    this.#client.cut();
    return `${cuts} resumes, ${early} of them cut again before their end, ${log.writes} writes: no value was missing`;
  }

  /** Connects, and waits until all subscriptions have come to their end. */
  async #connect(): Promise<void> {
    this.#subscribe();
    const isComplete = () => this.#client.isComplete;
    await this.#soon(untilSo('the ends of both subscriptions', isComplete, { deadlineMs, everyMs: 1 }));
  }

  /** Connects, and is cut at some moment. */
  async #interrupt(): Promise<void> {
    const { promise: isCut, resolve } = Promise.withResolvers<void>();
    this.#plan = new Plan(this.#random, () => {
      this.#plan = undefined;
      this.#client.cut();
      resolve();
    });
    this.#subscribe();
    await this.#soon(within(isCut, 'a cut', deadlineMs));
  }

  /** Both at once; or the second one when the first has come to its end, if the client knows what it may keep then. */
  #subscribe(): void {
    this.#client.connect(
      this.#random.pick([
        [0, 1],
        [1, 0],
      ]),
      this.#random.once(3) && !this.#isNaive,
    );
  }

  /** Nothing is written: the client must have what the hub has. */
  async #compare(cut: number): Promise<void> {
    await this.#soon(within(this.#client.sync(), 'an answer', deadlineMs));
    const reported = await new AskedHub(this.#port).parameters();
    const differing = () => reported.filter(({ parameter, value }) => this.#client.values.get(parameter) !== value);
    await this.#soon(becomesSo(() => differing().length === 0, { deadlineMs: settledMs, everyMs: 10 }));
    const stale = differing();
    const [first] = stale;
    if (first === undefined) return;
    const has = this.#client.values.get(first.parameter);
    throw new Error(
      `after resume ${cut + 1} ${stale.length} values stay stale: ${first.parameter} is ${first.value}, the client has ${has}`,
    );
  }

  #wishes(): readonly Wish[] {
    const shared = addressesOf('plant', sharedCount);
    const how = () => ({
      rate: this.#random.pick([0, 0, 20, 200]),
      delivery: this.#random.pick(['latest', 'latest', 'all'] as const),
    });
    return [
      { include: ['desk/**', ...shared], ...how(), has: (one) => one.startsWith('desk/') || shared.includes(one) },
      { include: ['plant/**'], ...how(), has: (one) => one.startsWith('plant/') },
    ];
  }

  #expect(mistake: string | undefined): void {
    if (mistake !== undefined) this.#failure.reject(new Error(mistake));
  }

  #soon<Result>(work: Promise<Result>): Promise<Result> {
    return Promise.race([work, this.#failure.promise]);
  }
}

function addressesOf(connection: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${connection}/p${n}`);
}

const mostMessages = 60;

export class Plan {
  readonly #cut: () => void;
  #isOver = false;
  #messages = Number.POSITIVE_INFINITY;
  #ends = Number.POSITIVE_INFINITY;

  /** `cut` is called once. */
  constructor(random: Random, cut: () => void) {
    this.#cut = cut;
    const kind = random.below(3);
    if (kind === 0) setTimeout(() => this.#end(), random.below(longestLifeMs));
    else if (kind === 1) this.#messages = 1 + random.below(mostMessages);
    else this.#ends = 1 + random.below(2);
  }

  took(isEnd: boolean): void {
    this.#messages--;
    if (isEnd) this.#ends--;
    if (this.#messages === 0 || this.#ends === 0) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cut();
  }
}
