// Whether the hub that stands by has what this one, which runs, has told: it would take over with that.

import type { SchedulerLike } from 'rxjs';
import { type HubName, subjectOf } from '../link/subjects.ts';
import type { Transport } from '../link/transport.ts';
import { pause } from '../pause.ts';
import { type Receipt, read, receipt } from '../wire/messages.ts';

/** Who does not answer for so long is not waited for until it answers again. */
const answerMs = 300;
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
      const told = await this.#ask(transport);
      if (told === null || (told.epoch === epoch && told.rev >= rev)) return true;
      if (this.#clock.now() >= endMs) return false;
      if (!isReminded) remind();
      isReminded = true;
      await pause(this.#clock, againMs);
    }
  }

  /** `null`: nobody stands by, or it has nothing yet, or does not answer. */
  async #ask(transport: Transport): Promise<Receipt> {
    const askedMs = this.#clock.now();
    this.#isAsking = true;
    try {
      const answer = read(receipt, await transport.request(this.#subject, '', answerMs));
      this.#isSilent = false;
      return answer;
    } catch {
      this.#isSilent = this.#clock.now() - askedMs > answerMs / 2; // else the server has said that nobody listens
      return null;
    } finally {
      this.#isAsking = false;
    }
  }
}
