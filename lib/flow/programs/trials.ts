// The threads in which flows are tried: one for the load that is under way, and one that is ready for the next.

import { Trial, type Tried } from './trial.ts';

export class Trials {
  #present: Trial | undefined;
  #spare: Trial | undefined;

  /** Tries a flow, its file by its full path and its name. Errors: `TrialError`. */
  async run(path: string, name: string): Promise<Tried> {
    this.#present ??= this.#takeSpare() ?? new Trial();
    try {
      return await this.#present.run(path, name);
    } catch (error) {
      this.#present = undefined;
      throw error;
    }
  }

  /** A newer save waits: a flow that takes long is not waited for. */
  hurry(): void {
    if (this.#present === undefined) return;
    this.#present.hurry();
    this.prepare();
  }

  /** Makes a thread ready for the next load. */
  prepare(): void {
    this.#spare ??= new Trial();
  }

  /** The load is over: what was tried must not be there for the next load. */
  end(): void {
    this.#present?.end();
    this.#present = undefined;
  }

  close(): void {
    this.end();
    this.#takeSpare()?.end();
  }

  #takeSpare(): Trial | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare;
  }
}
