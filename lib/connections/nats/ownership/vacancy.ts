// What stands in for the owner of parameters of this hub while it may not run their connections: the values stay, and nobody takes
// a write.

import { connectionIdOf } from '../../../model/address.ts';
import { HubError } from '../../../model/error.ts';
import type { Parameter, Remote } from '../../../model/parameter.ts';
import { wallClock } from '../../../model/time/wall-clock.ts';
import type { HubPort } from '../../hub-port.ts';

export interface VacancyOptions {
  readonly port: Pick<HubPort, 'parameters' | 'mirroring'>;
  /** Who has them, or would have. */
  readonly hub: string;
  /** Why nobody takes a write. */
  readonly reason: string;
  /** Whose parameters it stands in for. */
  readonly isFor: (connectionId: string) => boolean;
}

export class Vacancy implements Remote {
  readonly hub: string;
  readonly reason: string;
  #staleSince: (() => number) | undefined;
  readonly #options: VacancyOptions;

  constructor(options: VacancyOptions) {
    this.hub = options.hub;
    this.reason = options.reason;
    this.#options = options;
  }

  get staleSince(): number | undefined {
    return this.#staleSince?.();
  }

  async write(writes: readonly { readonly parameter: Parameter }[]): Promise<readonly HubError[]> {
    return writes.map(({ parameter }) => new HubError('unavailable', `${parameter.address}: ${this.reason}`));
  }

  /** Takes over the parameters that no other hub has. */
  begin(timeMs: number): void {
    const { port, isFor } = this.#options;
    const coming: Parameter[] = [];
    let hasNone = true;
    for (const parameter of port.parameters()) {
      if (parameter.remote === this) hasNone = false;
      else if (parameter.remote === undefined && isFor(connectionIdOf(parameter.address))) coming.push(parameter);
    }
    if (hasNone) this.#staleSince = wallClock.pin(timeMs);
    for (const parameter of coming) port.mirroring.entrust(parameter, this);
    port.mirroring.tell();
  }

  /** Gives them back. */
  end(): void {
    const { port } = this.#options;
    for (const parameter of port.parameters())
      if (parameter.remote === this) port.mirroring.entrust(parameter, undefined);
    this.#staleSince = undefined; // until here it is what tells that they were stale
    port.mirroring.tell();
  }
}
