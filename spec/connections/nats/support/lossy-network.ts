// A network of subjects that loses, doubles and reorders messages, in virtual time. It has the shape of the link to a NATS server.

import type { VirtualTimeScheduler } from 'rxjs';
import type { Message, Transport } from '../../../../lib/connections/nats/link/transport.ts';

export interface Faults {
  /** How many of a hundred messages are lost, and how many are doubled. */
  readonly lost: number;
  readonly doubled: number;
  /** Each message takes up to so long. */
  readonly delayMs: number;
}

/** What is longer a server does not take. */
const maxBytes = 1024 * 1024;

type Take = (message: Message) => void;

export class LossyNetwork {
  readonly #scheduler: VirtualTimeScheduler;
  readonly #random: () => number;
  readonly #subscriptions = new Map<Take, { readonly owner: string; readonly pattern: RegExp }>();
  faults: Faults = { lost: 0, doubled: 0, delayMs: 0 };
  #inboxes = 0;

  constructor(scheduler: VirtualTimeScheduler, random: () => number) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  /** The network as one hub has it. */
  transportOf(owner: string): Transport {
    const subscribe: Transport['subscribe'] = (subject, take) => {
      const own: Take = (message) => {
        const steps = take(message);
        while (steps !== undefined && !steps.next().done);
      };
      const pattern = new RegExp(`^${subject.replaceAll('.', '\\.').replaceAll('*', '[^.]+')}$`);
      this.#subscriptions.set(own, { owner, pattern });
      return () => this.#subscriptions.delete(own);
    };
    return {
      publish: (subject, data) => this.#send(owner, subject, bytesOf(data), ''),
      subscribe,
      request: (subject, data, timeoutMs) =>
        new Promise((resolve, reject) => {
          if (!this.#isReachable(owner, subject)) throw new Error('no responders');
          const inbox = `inbox.${this.#inboxes++}`;
          const unsubscribe = subscribe(inbox, (message) => {
            unsubscribe();
            resolve(message.data);
            return undefined;
          });
          this.#scheduler.schedule(() => {
            unsubscribe();
            reject(new Error('timeout'));
          }, timeoutMs);
          this.#send(owner, subject, bytesOf(data), inbox);
        }),
    };
  }

  #isReachable(from: string, subject: string): boolean {
    return [...this.#subscriptions.values()].some(({ owner, pattern }) => owner !== from && pattern.test(subject));
  }

  #send(from: string, subject: string, data: Uint8Array, inbox: string): void {
    if (data.length > maxBytes) return;
    for (const [take, { owner, pattern }] of this.#subscriptions) {
      if (owner === from || !pattern.test(subject)) continue;
      const reply: Message['reply'] = (answer) => this.#send(owner, inbox, bytesOf(answer), '');
      const { lost, doubled, delayMs } = this.faults;
      if (this.#random() * 100 < lost) continue;
      for (let copies = this.#random() * 100 < doubled ? 2 : 1; copies > 0; copies--)
        this.#scheduler.schedule(() => take({ subject, data, reply }), Math.floor(this.#random() * delayMs));
    }
  }
}

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === 'string' ? new TextEncoder().encode(data) : data;
}
