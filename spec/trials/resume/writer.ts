// Writes random parameters of a hub, over a socket of its own, and records what it has written.

import { setTimeout as after } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Random } from '../../support/random.ts';

const tickMs = 2;
/** So many parameters change often, the others now and then. */
const busyCount = 200;
/** What the hub takes of a message. */
const maxWrites = 2000;

export class Writer {
  readonly #socket: WebSocket;
  readonly #log: WriteLog;
  readonly #random: Random;
  readonly #acks = new Map<number, () => void>();
  #isWriting = true;
  /** Resolves when those who came before are done. */
  #turn = Promise.resolve();

  /** Opens a writer. */
  static async open(port: number, log: WriteLog, random: Random): Promise<Writer> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, 'patchbay.v1');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.once('open', resolve);
    socket.once('error', reject);
    await promise;
    return new Writer(socket, log, random);
  }

  constructor(socket: WebSocket, log: WriteLog, random: Random) {
    this.#socket = socket;
    this.#log = log;
    this.#random = random;
    socket.on('message', (data) => {
      const { ack, errors = [] } = JSON.parse(String(data));
      if (errors.length > 0) throw new Error(`expected no error, got ${errors}`);
      this.#acks.get(ack)?.();
      this.#acks.delete(ack);
    });
  }

  /** Goes on writing so many times a second until it is ended. */
  async write(rate: number): Promise<void> {
    let lastMs = performance.now();
    while (this.#isWriting) {
      await after(tickMs);
      await this.#exclusively(async () => {
        const nowMs = performance.now();
        const count = Math.min(Math.ceil(((nowMs - lastMs) * rate) / 1000), maxWrites);
        lastMs = nowMs;
        await this.#send(Array.from({ length: count }, () => this.#log.write(this.#anAddress())));
      });
    }
  }

  /** Writes every parameter once. */
  async writeAll(): Promise<void> {
    const { addresses } = this.#log;
    await this.#exclusively(async () => {
      for (let first = 0; first < addresses.length; first += maxWrites)
        await this.#send(addresses.slice(first, first + maxWrites).map((address) => this.#log.write(address)));
    });
  }

  /** Does something while nothing is written. */
  hold(work: () => Promise<void>): Promise<void> {
    return this.#exclusively(work);
  }

  end(): void {
    this.#isWriting = false;
    this.#socket.terminate();
  }

  #anAddress(): string {
    const { addresses } = this.#log;
    return addresses[this.#random.below(this.#random.once(4) ? addresses.length : busyCount)]!;
  }

  async #exclusively(work: () => Promise<void>): Promise<void> {
    const before = this.#turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turn = promise;
    await before;
    await work().finally(resolve);
  }

  /** Sends a message; resolves when the hub has carried it out. */
  async #send(set: readonly (readonly [string, number])[]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const ack = this.#log.writes;
    this.#acks.set(ack, resolve);
    this.#socket.send(JSON.stringify({ set, ack }));
    await promise;
  }
}

export class WriteLog {
  readonly addresses: readonly string[];
  /** The address of each write; the first stands for none. */
  readonly #owners: string[] = [''];
  /** The hub's revision before the first write. */
  readonly #base: number;
  /** The last write that has been compared with the client. */
  #checked = 0;

  constructor(addresses: readonly string[], base: number) {
    this.addresses = addresses;
    this.#base = base;
  }

  get writes(): number {
    return this.#owners.length - 1;
  }

  /** Notes the next write. */
  write(address: string): readonly [address: string, value: number] {
    return [address, this.#owners.push(address) - 1];
  }

  /** A client has dropped values: everything must be compared again. */
  forget(): void {
    this.#checked = 0;
  }

  /** Returns the writes up to a revision that a client has not received; its values never go back. */
  missingAt(revision: number, values: ReadonlyMap<string, number>): string | undefined {
    const last = Math.min(revision - this.#base, this.writes);
    let missing = 0;
    let first = '';
    for (; this.#checked < last; this.#checked++) {
      const write = this.#checked + 1;
      const address = this.#owners[write]!;
      const value = values.get(address);
      if (value !== undefined && value >= write) continue;
      missing++;
      first ||= `${address} was set to ${write}, the client has ${value}`;
    }
    return missing === 0 ? undefined : `revision ${revision} was told, and ${missing} writes are missing: ${first}`;
  }
}
