// A client of patchbay.v1 as a reader of docs/protocol.md would write it: a plain WebSocket, the values received, by address, and one
// number, the highest revision that it may store. A naive client stores any revision, even while the end of a subscription is still
// pending.

import { WebSocket } from 'ws';
import type { V1Message } from '../../support/load/v1-socket.ts';

/** A subscription. */
export interface Wish {
  readonly include: readonly string[];
  readonly rate: number;
  readonly delivery: 'latest' | 'all';
  /** Whether it matches an address. */
  has(address: string): boolean;
}

/** The events of the client. */
interface Listener {
  /** A message has been processed. */
  took(isEnd: boolean): void;
  /** The client would resume from another revision now. */
  kept(rev: number, values: ReadonlyMap<string, number>): void;
  /** Values were dropped, as a subscription begins anew. */
  dropped(): void;
  /** The hub closed the link, or refused a message. */
  broke(reason: string): void;
}

export class Client {
  readonly values = new Map<string, number>();
  rev = 0;
  readonly #url: string;
  readonly #wishes: readonly Wish[];
  readonly #listener: Listener;
  /** Subscriptions whose end has come, on this link or an earlier one of the same epoch. */
  readonly #had = new Set<number>();
  readonly #isNaive: boolean;
  #epoch = '';
  #link = new Link([], []);

  constructor(port: number, wishes: readonly Wish[], isNaive: boolean, listener: Listener) {
    this.#isNaive = isNaive;
    this.#url = `ws://127.0.0.1:${port}/ws`;
    this.#wishes = wishes;
    this.#listener = listener;
  }

  /** Whether no end is waited for on this link. */
  get isComplete(): boolean {
    return this.#link.awaited.size === 0;
  }

  /** Connects, and subscribes in this order: to all at once, or to each one after the end of the one before. */
  connect(order: readonly number[], isGradual: boolean): void {
    const link = new Link(isGradual ? order.slice(0, 1) : order, isGradual ? order.slice(1) : []);
    const socket = new WebSocket(this.#url, 'patchbay.v1');
    this.#link = link;
    link.socket = socket;
    const isPresent = () => link === this.#link;
    socket.on('close', (code) => isPresent() && this.#listener.broke(`the hub closed the link with ${code}`));
    socket.on('error', ({ message }) => isPresent() && this.#listener.broke(message));
    socket.on('message', (data) => isPresent() && this.#take(link, JSON.parse(String(data))));
  }

  /** Cuts the link, without a goodbye. */
  cut(): void {
    const { socket } = this.#link;
    this.#link = new Link([], []);
    socket?.terminate();
  }

  /** Resolves when the hub has answered what was sent so far. */
  sync(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#link.onPong = resolve;
    this.#link.send({ ping: 1 });
    return promise;
  }

  #take(link: Link, { hello, sub, mode, def = [], set = [], rev, end, pong, error }: V1Message): void {
    if (error !== undefined) this.#listener.broke(error);
    if (hello !== undefined) this.#greet(link, hello.epoch);
    if (sub !== undefined && mode === 'snapshot') this.#begin(sub);
    for (const [id, address] of def) link.addresses.set(id, address);
    for (const [id, value] of set) this.values.set(link.addresses.get(id)!, value);
    if (end !== undefined) {
      this.#had.add(end);
      link.awaited.delete(end);
    }
    if (rev !== undefined && (this.#isNaive || this.isComplete)) this.#keep(rev);
    if (end !== undefined) for (const next of link.later.splice(0, 1)) this.#subscribe(link, next);
    if (pong !== undefined) link.onPong();
    this.#listener.took(end !== undefined);
  }

  #greet(link: Link, epoch: string): void {
    if (epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.rev = 0;
      this.#had.clear();
    }
    for (const sub of link.first) this.#subscribe(link, sub);
  }

  #subscribe(link: Link, sub: number): void {
    const { include, rate, delivery } = this.#wishes[sub]!;
    const since = this.#had.has(sub) ? { epoch: this.#epoch, rev: this.rev } : undefined;
    link.send({ sub, include, rate, delivery, since });
  }

  /** A subscription is sent whole: what is its own begins anew. */
  #begin(sub: number): void {
    this.#had.delete(sub);
    const others = this.#wishes.filter((_, other) => other !== sub);
    for (const address of this.values.keys())
      if (this.#wishes[sub]!.has(address) && !others.some((other) => other.has(address))) this.values.delete(address);
    this.#listener.dropped();
  }

  #keep(rev: number): void {
    this.rev = Math.max(this.rev, rev);
    this.#listener.kept(this.rev, this.values);
  }
}

/** One connection. */
class Link {
  socket: WebSocket | undefined;
  readonly addresses = new Map<number, string>();
  /** What is subscribed to at first, and later. */
  readonly first: readonly number[];
  readonly later: number[];
  /** Subscriptions whose end has not come. */
  readonly awaited: Set<number>;
  onPong = () => {};

  constructor(first: readonly number[], later: readonly number[]) {
    this.first = first;
    this.later = [...later];
    this.awaited = new Set([...first, ...later]);
  }

  send(message: object): void {
    this.socket?.send(JSON.stringify(message));
  }
}
