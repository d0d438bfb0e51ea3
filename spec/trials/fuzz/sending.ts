// Many inputs that are sent at the same time, until one of them does what none may do.

import { messageOf } from '../../../lib/model/error.ts';
import { type Counts, type Input, Sender } from './deliver.ts';
import type { FuzzedHub } from './fuzzed-hub.ts';

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
