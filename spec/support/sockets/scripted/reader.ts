// A client of patchbay.v1 whose reader a spec plays, at the groups of a graph: no network, so that a client can be full at any frame.

import type { HubPort } from '../../../../lib/connections/hub-port.ts';
import { filterOf } from '../../../../lib/connections/rest-api/filters/filter.ts';
import { limitSettings } from '../../../../lib/connections/rest-api/limits/limit-settings.ts';
import { Client } from '../../../../lib/connections/rest-api/sockets/v1/client.ts';
import { createSubscription } from '../../../../lib/connections/rest-api/sockets/v1/subscription.ts';
import { openPrincipal } from '../../../../lib/connections/rest-api/users/principal.ts';
import type { Delivery } from '../../../../lib/wire/v1/client-messages.ts';
import type { ReceivedMessage } from '../../../../lib/wire/v1/hub-messages.ts';
import { numberOf, type ScriptedDesk } from './desk.ts';
import { ReaderSocket } from './reader-socket.ts';

export interface ReaderWish {
  readonly include: readonly string[];
  readonly rate: number;
  readonly delivery: Delivery;
}

const limits = limitSettings.parse(undefined);
const bound = { filter: filterOf(0, () => true), key: '' };

/** One client, and all that is wrong with what it is told. */
export class ScriptedReader {
  readonly faults: string[] = [];
  readonly values = new Map<string, number>();
  readonly stale = new Set<string>();
  /** What each was told to be when it was told to be fresh again. */
  readonly atFresh = new Map<string, number | undefined>();
  /** How many changes or fires of each address it was told, or told to have lost, since the last end. */
  readonly reported = new Map<string, number>();
  /** How many changes the hub had made at that end. */
  endedAt = 0;
  readonly socket = new ReaderSocket((message) => this.#take(message));
  readonly client: Client;
  readonly #desk: ScriptedDesk;
  readonly #awaited = new Set<number>();
  /** How many answers are to come, by the number of the subscription: an end before them is an old one. */
  readonly #unanswered = new Map<number, number>();
  readonly #addresses = new Map<number, string>();
  #lastRev = 0;

  constructor(desk: ScriptedDesk) {
    this.#desk = desk;
    const principal = openPrincipal(desk.graph as unknown as HubPort);
    const handshakeRequest = {
      principal,
      origin: { kind: 'client', name: 'spec' },
      remoteAddress: '127.0.0.1',
    } as const;
    this.client = new Client(handshakeRequest, 'epoch', limits.unreadBytes, { full() {}, sentLate() {}, waits() {} });
    this.client.open(this.socket.asSocket);
  }

  /** How far it has been sent what it subscribed to; undefined: it has no subscription. */
  get state(): string | undefined {
    return this.#desk.groups.membershipOf(this.client)?.name;
  }

  get isComplete(): boolean {
    return this.#awaited.size === 0;
  }

  subscribe(id: number, { include, rate, delivery }: ReaderWish): void {
    const { fanOut, groups } = this.#desk;
    const subscription = createSubscription({ sub: id, include, exclude: [], rate, delivery }, bound, fanOut, limits);
    this.#awaited.add(id);
    this.#unanswered.set(id, (this.#unanswered.get(id) ?? 0) + 1);
    groups.subscribe(this.client, subscription, 0, JSON.stringify({ sub: id, mode: 'snapshot' }));
  }

  unsubscribe(id: number): void {
    if (!this.client.subscriptions.some((one) => one.id === id)) return;
    this.#awaited.add(id);
    this.#desk.groups.unsubscribe(this.client, id, JSON.stringify({ unsub: id }));
  }

  /** Reads what was sent, unless it has stopped. */
  drain(): void {
    this.socket.drain();
    if (this.client.isFull && this.client.hasDrained()) this.#desk.groups.resume(this.client);
  }

  matches(address: string): boolean {
    const parameter = this.#desk.graph.find(address)!;
    return this.client.subscriptions.some(({ selection }) => selection.has(parameter));
  }

  /** What it is told of addresses that are not as in the graph. */
  differences(): string[] {
    return [...this.#desk.graph.parameters()].flatMap(({ address, type, value }) => {
      if (type === 'T' || value === undefined || !this.matches(address)) return [];
      const known = this.values.get(address);
      return known === numberOf(value) ? [] : [`${address} is ${numberOf(value)}, and told as ${known}`];
    });
  }

  #take({
    def = [],
    set = [],
    fired = [],
    lost = {},
    stale = [],
    fresh = [],
    end,
    rev,
    sub,
    unsub,
  }: ReceivedMessage): void {
    if (unsub !== undefined && this.#unanswered.get(unsub) === 0) this.#awaited.delete(unsub);
    if (sub !== undefined) this.#unanswered.set(sub, this.#unanswered.get(sub)! - 1);
    for (const [id, address] of def) this.#addresses.set(id, address);
    for (const [id, text] of set) {
      const address = this.#addressOf(id);
      const value = numberOf(text);
      const known = this.values.get(address) ?? 0;
      if (value < known) this.faults.push(`${address}: ${value} after ${known}`);
      this.values.set(address, value);
      this.#count(address, 1);
    }
    for (const id of stale) this.stale.add(this.#addressOf(id));
    for (const address of fresh.map((id) => this.#addressOf(id)))
      if (this.stale.delete(address)) this.atFresh.set(address, this.values.get(address));
    for (const id of fired) this.#count(this.#addressOf(id), 1);
    for (const [id, count] of Object.entries(lost)) this.#count(this.#addressOf(Number(id)), count);
    if (end !== undefined && this.#unanswered.get(end) === 0) {
      this.#awaited.delete(end);
      this.reported.clear();
      this.endedAt = rev!;
    }
    if (rev !== undefined) this.#keep(rev);
  }

  /** Everything up to a revision that it may keep has been told. */
  #keep(rev: number): void {
    if (rev < this.#lastRev) this.faults.push(`revision ${rev} after ${this.#lastRev}`);
    this.#lastRev = rev;
    if (!this.isComplete) return;
    const newest = new Map<string, number>();
    for (const { address, value, revision } of this.#desk.changes) if (revision <= rev) newest.set(address, value);
    for (const [address, value] of newest)
      if (
        this.#desk.graph.find(address)!.type !== 'T' &&
        this.matches(address) &&
        !(this.values.get(address)! >= value)
      )
        this.faults.push(`revision ${rev}: ${address} is ${value}, and told as ${this.values.get(address)}`);
  }

  #count(address: string, count: number): void {
    this.reported.set(address, (this.reported.get(address) ?? 0) + count);
  }

  #addressOf(id: number): string {
    const address = this.#addresses.get(id);
    if (address === undefined) this.faults.push(`${id} was used and not defined`);
    return address ?? `?${id}`;
  }
}
