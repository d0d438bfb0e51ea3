// Whether the hub that stands by has what this one, which runs, has told: it would take over with that.

import type { SchedulerLike } from 'rxjs';
import { Pause, withinTicks } from '../../../model/time/wall-clock.ts';
import { type HubName, subjectOf } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';
import { type Receipt, read, receipt } from '../wire/domain-messages.ts';

/** Who does not answer for so long is not waited for until it answers again. */
const answerMs = 300;
/**
 * A request lasts for longer: when this thread was busy meanwhile, what has been answered in time is still to be read. It lasts as long as
 * a confirmation at most (`Confirmation`), which is not given past that.
 */
const requestMs = 2000;
/** Who is behind is asked again so soon. */
const againMs = 10;

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
   * Resolves to whether who stands by has all up to a revision, or nobody does who can be reached; false: it has not by then. `remind` is
   * called where something has not come. Never rejects.
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
      await new Pause(this.#clock).for(againMs);
    }
  }

  /** `null`: nobody stands by, or it has nothing yet, or does not answer. */
  async #ask(transport: Transport): Promise<Receipt> {
    this.#isAsking = true;
    const state = await withinTicks(this.#answer(transport), (ms) => ms > answerMs, this.#clock);
    this.#isAsking = false;
    this.#isSilent = state === undefined;
    return state ?? null;
  }

  /** `null` also when the server says that nobody listens, or nothing comes. */
  async #answer(transport: Transport): Promise<Receipt> {
    try {
      return read(receipt, await transport.request(this.#subject, '', requestMs));
    } catch {
      return null;
    }
  }
}
