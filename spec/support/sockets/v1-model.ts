// A client of patchbay.v1 that subscribes, is cut and resumes as the protocol's document says, and that judges all that it is
// told: values of the specs that use it only grow by one, so that a change that is missing or comes twice shows.

import type { ExecutionContext } from 'ava';
import { createPatternFilter } from '../../../lib/connections/rest-api/filters/address-glob.ts';
import { limits } from '../../../lib/connections/rest-api/limits/client-limits.ts';
import type { Pattern } from '../../../lib/wire/pattern.ts';
import type { HubUnderTest } from '../hub.ts';
import { type Message, openV1, Picture, type V1Client } from './v1.ts';

const maxSteps = limits.patternSteps.default;

export interface Wish {
  readonly include: readonly Pattern[];
  readonly exclude: readonly Pattern[];
  readonly rate: number;
  readonly delivery: 'latest' | 'all';
}

interface Held {
  readonly wish: Wish;
  readonly matches: (address: string) => boolean;
  isComplete: boolean;
}

/** Fires that were told are counted from here on, if nothing else happens to the client meanwhile. */
export interface Count {
  readonly fires: ReadonlyMap<string, number>;
  readonly changes: number;
}

export class ModelClient {
  readonly #t: ExecutionContext;
  readonly #hub: HubUnderTest;
  readonly #keepsIds: boolean;
  readonly #held = new Map<number, Held>();
  /** Answers that are to come, by the number of the subscription. */
  readonly #asked: { id: number; wish: Wish }[] = [];
  /** What it has asked for and not ended. */
  readonly #subscribed = new Set<number>();
  readonly #expected = new Map<string, number>();
  #client: V1Client | undefined;
  #watched = new Picture();
  /** How many times it has changed what it subscribes to, or was cut. */
  #changes = 0;
  picture = this.#watched;
  readonly faults: string[] = [];
  /** What it resumes from: the highest revision that came while it waited for no end. */
  #kept = 0;
  readonly #history: History;
  /** What the hub knew at that revision, which is so many changes of the history. */
  readonly #newest = new Map<string, number>();
  #reached = 0;

  constructor(t: ExecutionContext, hub: HubUnderTest, history: History, keepsIds: boolean) {
    this.#t = t;
    this.#history = history;
    this.#hub = hub;
    this.#keepsIds = keepsIds;
  }

  /** Connects, and resumes what it had. */
  async connect(): Promise<void> {
    if (this.#client !== undefined) return;
    const rev = this.#kept;
    const held = [...this.#held].map(([id, { wish, isComplete }]) => ({ id, wish, isComplete }));
    for (const { id, wish } of this.#asked) {
      const place = held.findIndex((one) => one.id === id);
      if (place >= 0) held.splice(place, 1);
      held.push({ id, wish, isComplete: false });
    }
    this.#asked.length = 0;
    this.#subscribed.clear();
    this.#held.clear();
    this.#expected.clear();
    if (!this.#keepsIds) this.picture.addresses.clear();
    const watched = new JudgingPicture(
      this.picture,
      (message) => this.#judge(message),
      (message) => this.#keep(message),
    );
    const client = await openV1(this.#t, this.#hub.port, watched);
    this.#client = client;
    this.picture = watched;
    for (const { id, wish, isComplete } of held)
      this.#ask(id, wish, isComplete ? { since: { epoch: client.epoch, rev } } : {});
  }

  async subscribe(id: number, wish: Wish): Promise<void> {
    await this.connect();
    this.#ask(id, wish, {});
  }

  async unsubscribe(id: number): Promise<void> {
    await this.connect();
    if (!this.#subscribed.delete(id)) return;
    this.#changes++;
    this.#client!.send({ unsub: id });
  }

  cut(): void {
    this.#client?.cut();
    this.#client = undefined;
    this.#changes++;
  }

  /** Reads what the hub has sent so far. */
  async sync(): Promise<void> {
    await this.connect();
    await this.#client!.sync();
  }

  /** What is not as the hub has it; empty: the picture is right and nothing is under way. */
  differences(): string[] {
    if (this.#asked.length > 0) return ['an answer is missing'];
    const wrong = [...this.#held].filter(([, { isComplete }]) => !isComplete).map(([id]) => `${id} has no end`);
    for (const { address, type, value, lastChange } of this.#hub.parameters()) {
      if (lastChange === undefined || !this.covers(address)) continue;
      if (lastChange.revision > this.picture.rev) wrong.push(`${address} is at ${lastChange.revision}`);
      if (type === 'T') continue;
      const known = this.picture.values.get(address);
      if (known !== value) wrong.push(`${address} is ${value}, and told as ${known}`);
    }
    return wrong;
  }

  covers(address: string): boolean {
    return [...this.#held.values()].some(({ matches }) => matches(address));
  }

  /** A count of fires so far. */
  count(): Count {
    return { fires: new Map(this.picture.fires), changes: this.#changes };
  }

  #ask(id: number, wish: Wish, since: object): void {
    this.#changes++;
    this.#asked.push({ id, wish });
    this.#subscribed.add(id);
    this.#client!.send({ sub: id, ...wish, ...since });
  }

  #judge({ sub, unsub, mode, end, set = [], undef = [], error, lost }: Message): void {
    if (error !== undefined) this.faults.push(error);
    if (lost !== undefined) this.faults.push(`lost ${JSON.stringify(lost)}`);
    if (sub !== undefined) this.#begin(sub, mode);
    if (unsub !== undefined) this.#held.delete(unsub);
    if (end !== undefined) this.#end(end);
    for (const id of undef) this.#expected.delete(this.picture.addresses.get(id) ?? '');
    for (const [id, value] of set) this.#judgeValue(this.picture.addresses.get(id) ?? `?${id}`, value as number);
  }

  /** Whatever revision it may keep, it has been sent all up to it: it may be cut now. */
  #keep({ rev }: Message): void {
    if (rev === undefined) return;
    if (rev < this.picture.lastRev) this.faults.push(`revision ${rev} after ${this.picture.lastRev}`);
    this.picture.lastRev = rev;
    if (this.#asked.length > 0 || [...this.#held.values()].some(({ isComplete }) => !isComplete)) return;
    this.#kept = Math.max(this.#kept, rev);
    this.#advance(rev);
    for (const [address, value] of this.#newest)
      if (this.covers(address) && Number(this.picture.values.get(address) ?? -1) < value)
        this.faults.push(`revision ${rev}: ${address} is ${value}, and told as ${this.picture.values.get(address)}`);
  }

  /** Goes on to what the hub knew at a revision. */
  #advance(revision: number): void {
    const { changes } = this.#history;
    for (; this.#reached < changes.length && changes[this.#reached]!.revision <= revision; this.#reached++) {
      const { address, value } = changes[this.#reached]!;
      this.#newest.set(address, value);
    }
  }

  #begin(id: number, mode: string | undefined): void {
    const place = this.#asked.findIndex((asked) => asked.id === id);
    const [asked] = this.#asked.splice(place, 1);
    const { wish } = asked!;
    const isIncluded = createPatternFilter(wish.include, maxSteps);
    const isExcluded = createPatternFilter(wish.exclude, maxSteps);
    const matches = (address: string) => isIncluded(address) && !isExcluded(address);
    this.#held.delete(id);
    if (mode === 'snapshot')
      for (const address of [...this.picture.values.keys()])
        if (matches(address) && !this.covers(address)) this.picture.values.delete(address);
    this.#held.set(id, { wish, matches, isComplete: false });
  }

  /** From here on every change of what it wants all of has to come. */
  #end(id: number): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    held.isComplete = true;
    if (held.wish.delivery !== 'all') return;
    for (const [address, value] of this.picture.values)
      if (held.matches(address)) this.#expected.set(address, (value as number) + 1);
  }

  /** No value goes back. One of a parameter of which every change is told follows the one before; a snapshot may repeat that. */
  #judgeValue(address: string, value: number): void {
    const held = [...this.#held.values()].filter(({ matches }) => matches(address));
    const known = this.picture.values.get(address) as number | undefined;
    if (known !== undefined && value < known) this.faults.push(`${address}: ${value} after ${known}`);
    if (held.some(({ wish, isComplete }) => isComplete && wish.delivery === 'all')) {
      const expected = this.#expected.get(address) ?? value;
      const isRepeated = value === expected - 1 && held.some(({ isComplete }) => !isComplete);
      if (value !== expected && !isRepeated) this.faults.push(`${address}: ${value}, not ${expected}`);
      this.#expected.set(address, value + 1);
    } else this.#expected.delete(address);
  }
}

/** A picture that goes on with another, and shows each message to a judge first; definitions are taken before. */
class JudgingPicture extends Picture {
  readonly #judge: (message: Message) => void;
  readonly #keep: (message: Message) => void;

  constructor(before: Picture, judge: (message: Message) => void, keep: (message: Message) => void) {
    super();
    this.#judge = judge;
    this.#keep = keep;
    for (const [key, value] of before.addresses) this.addresses.set(key, value);
    for (const [key, value] of before.types) this.types.set(key, value);
    for (const [key, value] of before.values) this.values.set(key, value);
    for (const [key, value] of before.fires) this.fires.set(key, value);
    this.faults.push(...before.faults);
    this.rev = before.rev;
  }

  override take(message: Message): void {
    this.#judge(message);
    super.take(message);
    this.#keep(message);
  }
}

/** The changes of a hub, in order. The values of one parameter only grow. */
export class History {
  readonly changes: { readonly address: string; readonly value: number; readonly revision: number }[] = [];

  constructor(hub: HubUnderTest) {
    hub.changes$.subscribe(({ parameter: { address, type }, value, revision }) => {
      if (type !== 'T') this.changes.push({ address, value: value as number, revision });
    });
  }
}
