// Sends writes and handles their acknowledgements (docs/protocol.md "Writing"). No write is kept for later: while the link is down, a write
// is refused immediately, so that no command reaches a machine minutes late.

import type { Value } from '../model/value.ts';
import { maxMessageBytes } from '../wire/limits.ts';
import type { Write } from '../wire/v1/client-messages.ts';
import type { Mistake } from '../wire/v1/hub-messages.ts';
import type { Link } from './link/link.ts';

/**
 * The maximum number of writes that wait for an acknowledgement, and the maximum number of bytes that wait for the network. Further writes
 * are refused.
 */
const maxWaiting = 10_000;
const maxUnsentBytes = 4 * 1024 * 1024;

/**
 * The error for a write that the hub has not carried out completely. Addresses that are not in `mistakes` have been written, unless
 * `mistakes` is empty.
 */
export class WriteError extends Error {
  /** The errors, keyed by address; empty if nothing was sent, or if the result is unknown. */
  readonly mistakes: readonly { readonly address: string; readonly reason: string }[];

  constructor(message: string, mistakes: WriteError['mistakes'] = []) {
    super(message);
    this.name = 'WriteError';
    this.mistakes = mistakes;
  }
}

export type Entries = Readonly<Record<string, Value>> | Iterable<readonly [address: string, value: Value]>;

interface Waiting {
  resolve(): void;
  reject(error: WriteError): void;
}

export class Writes {
  readonly #waiting = new Map<number, Waiting>();
  #nextAck = 1;

  /** Sends entries to the hub, which writes them in one turn. Resolves when the hub has acknowledged the write. Errors: `WriteError`. */
  write(link: Link, given: Entries): Promise<void> {
    const entries = Symbol.iterator in given ? [...given] : Object.entries(given);
    const ack = this.#nextAck;
    const text = JSON.stringify({ set: entries, ack } satisfies Write);
    const refusal = whatIsWrong(entries) ?? this.#whyNot(link, text);
    if (refusal !== undefined) return Promise.reject(new WriteError(refusal));
    this.#nextAck++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(ack, { resolve, reject });
      link.send(text);
    });
  }

  acknowledged(ack: number, errors: readonly Mistake[]): void {
    const waiting = this.#waiting.get(ack);
    this.#waiting.delete(ack);
    if (errors.length === 0) {
      waiting?.resolve();
      return;
    }
    const mistakes = errors.map(([address, reason]) => ({ address: String(address), reason }));
    waiting?.reject(new WriteError(mistakes.map(sentenceOf).join('; '), mistakes));
  }

  /** Rejects a write that the hub has refused as a whole. */
  refused(ack: number, reason: string): void {
    this.#waiting.get(ack)?.reject(new WriteError(reason));
    this.#waiting.delete(ack);
  }

  down(): void {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of all)
      reject(
        new WriteError(
          'the connection to the hub was lost before the answer arrived: the write may or may not have taken effect',
        ),
      );
  }

  #whyNot(link: Link, text: string): string | undefined {
    const { state } = link;
    if (!link.isUp)
      return `not written: the connection to the hub is ${state.name}${'reason' in state ? `, ${state.reason}` : ''}`;
    if (this.#waiting.size >= maxWaiting)
      return `not written: ${maxWaiting} writes are still waiting for acknowledgement`;
    if (link.unsentBytes > maxUnsentBytes) return `not written: ${link.unsentBytes} bytes are waiting to be sent`;
    const bytes = text.length * 3 > maxMessageBytes ? new TextEncoder().encode(text).length : 0;
    return bytes > maxMessageBytes ? `not written: expected at most ${maxMessageBytes} bytes, got ${bytes}` : undefined;
  }
}

/** Formats the error for an address as a sentence. The reason may already begin with the address. */
function sentenceOf({ address, reason }: { readonly address: string; readonly reason: string }): string {
  return reason.startsWith(`${address}: `) ? reason : `${address}: ${reason}`;
}

/**
 * Returns a sentence about an invalid entry, if any. The hub would refuse the whole message because of such an entry, without naming the
 * address.
 */
function whatIsWrong(entries: readonly (readonly unknown[])[]): string | undefined {
  const wrong = entries.find(
    ([address, value]) => typeof address !== 'string' || !['string', 'number', 'boolean'].includes(typeof value),
  );
  return wrong && `not written: expected an address with text, a number or a boolean, got ${JSON.stringify(wrong)}`;
}
