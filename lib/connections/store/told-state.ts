// The state of a part of the store, or of all of them, which is told when it is another one.

import type { ConnectionEvent } from '../connection.ts';

export class ToldState {
  readonly #tell: (event: ConnectionEvent) => void;
  #told: string | undefined;

  constructor(tell: (event: ConnectionEvent) => void) {
    this.#tell = tell;
  }

  /** Takes over all that is wrong: a sentence each, undefined: this is not. */
  set(...reasons: readonly (string | undefined)[]): void {
    const reason = reasons.filter((text) => text !== undefined).join('; ');
    if (reason === this.#told) return;
    this.#told = reason;
    this.#tell(reason === '' ? { state: 'running' } : { state: 'degraded', reason });
  }
}
