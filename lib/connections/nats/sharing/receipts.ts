// Checks whether the standby has received the messages from this active hub. The standby would take over with the state that it has
// received.

import type { SchedulerLike } from 'rxjs';
import { Pause, withinTicks } from '../../../model/time/wall-clock.ts';
import { type HubName, subjectOf } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';
import { type Receipt, read, receipt } from '../wire/domain-messages.ts';

/** The time after which a standby that does not answer is skipped until it answers again, in milliseconds. */
const answerMs = 300;
/**
 * The timeout of a request, in milliseconds. It is longer than `answerMs` because answers that arrived in time may still be unread if this
 * thread was busy. A confirmation (`Confirmation`) never waits longer than this timeout.
 */
const requestMs = 2000;
/** The pause before a lagging standby is asked again, in milliseconds. */
const retryMs = 10;

export class Receipts {
  readonly #subject: string;
  readonly #clock: SchedulerLike;
  #isSilent = false;
  #isAsking = false;

  constructor(name: HubName, clock: SchedulerLike) {
    this.#subject = subjectOf(name, 'receipt');
    this.#clock = clock;
  }

  /**
   * Resolves to true if the standby has received all data up to a revision or if no standby can be reached, and to false if the standby has
   * not received all data by `endMs`. Calls `remind` if data has not arrived. Never rejects.
   */
  async expect(
    transport: Transport,
    { epoch, rev }: NonNullable<Receipt>,
    endMs: number,
    remind: () => void,
  ): Promise<boolean> {
    if (this.#isSilent) {
      if (!this.#isAsking) void this.#ask(transport);
      return true;
    }
    for (let isReminded = false; ; ) {
      const state = await this.#ask(transport);
      if (state === null || (state.epoch === epoch && state.rev >= rev)) return true;
      if (this.#clock.now() >= endMs) return false;
      if (!isReminded) remind();
      isReminded = true;
      await new Pause(this.#clock).for(retryMs);
    }
  }

  /** Requests the standby's receipt. Resolves to `null` if there is no standby, or if it has received nothing yet or does not answer. */
  async #ask(transport: Transport): Promise<Receipt> {
    this.#isAsking = true;
    const state = await withinTicks(this.#answer(transport), (ms) => ms > answerMs, this.#clock);
    this.#isAsking = false;
    this.#isSilent = state === undefined;
    return state ?? null;
  }

  /** Requests a receipt. Also resolves to `null` if the server reports that nobody is listening or if no answer arrives. */
  async #answer(transport: Transport): Promise<Receipt> {
    try {
      return read(receipt, await transport.request(this.#subject, '', requestMs));
    } catch {
      return null;
    }
  }
}
