// A question may take only so long: others wait for their answers.

import { HubError } from '../../../model/error.ts';

export class Deadline {
  readonly #endMs: number;

  constructor(limitMs: number) {
    this.#endMs = performance.now() + limitMs;
  }

  get isOver(): boolean {
    return this.leftMs <= 0;
  }

  get leftMs(): number {
    return this.#endMs - performance.now();
  }

  /** Errors: `unavailable` when it is over. */
  check(): void {
    if (this.isOver)
      throw new HubError('unavailable', 'that takes too long: ask for a shorter time, or for fewer points');
  }
}
