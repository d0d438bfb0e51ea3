// A client with two subscriptions, a small one and a large one that share some parameters, whose link is cut while values change.

import { setTimeout as after } from 'node:timers/promises';
import { AskedHub } from '../../support/asked-hub.ts';
import { becomesSo, untilSo, within } from '../../support/load/deadline.ts';
import { Random } from '../../support/random.ts';
import { Client, type Wish } from './client.ts';
import { Plan } from './plan.ts';
import { WriteLog } from './write-log.ts';
import { Writer } from './writer.ts';

/** How many parameters the small subscription has for itself. */
export const smallCount = 20;

const sharedCount = 5;
const deadlineMs = 20_000;
const settledMs = 3000;
const longestLifeMs = 60;
const longestPauseMs = 40;

export interface TrialOptions {
  readonly large: number;
  readonly rate: number;
  readonly seed: number;
  /** The client keeps every revision, and sends its subscriptions in one go. */
  readonly isNaive: boolean;
}

export class Trial {
  readonly #port: number;
  readonly #rate: number;
  readonly #isNaive: boolean;
  readonly #random: Random;
  readonly #addresses: readonly string[];
  readonly #client: Client;
  readonly #failure = Promise.withResolvers<never>();
  #log: WriteLog | undefined;
  #plan: Plan | undefined;

  constructor(port: number, { large, rate, seed, isNaive }: TrialOptions) {
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
    await this.#soon(within(deadlineMs, 'a cut', isCut));
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
    await this.#soon(within(deadlineMs, 'an answer', this.#client.sync()));
    const told = await new AskedHub(this.#port).parameters();
    const differing = () => told.filter(({ parameter, value }) => this.#client.values.get(parameter) !== value);
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
