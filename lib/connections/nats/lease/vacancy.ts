// What stands in for the owner of a hub's parameters while nobody runs its connections: the values stay, and nobody takes a write.

import { HubError } from '../../../model/error.ts';
import type { Parameter, Remote } from '../../../model/parameter.ts';
import type { HubPort } from '../../hub-port.ts';

export class Vacancy implements Remote {
  readonly hub: string;
  staleSince: number | undefined;
  readonly #port: HubPort;

  constructor(hub: string, port: HubPort) {
    this.hub = hub;
    this.#port = port;
  }

  async write(writes: readonly { readonly parameter: Parameter }[]): Promise<readonly HubError[]> {
    const why = `no hub runs the connections of "${this.hub}" at the moment`;
    return writes.map(({ parameter }) => new HubError('unavailable', `${parameter.address}: ${why}`));
  }

  /** Takes over the hub's own parameters, but for those that another hub of its name has. */
  begin(timeMs: number): void {
    this.staleSince = timeMs;
    for (const parameter of this.#own())
      if (parameter.remote === undefined) this.#port.mirroring.entrust(parameter, this);
  }

  /** Gives them back. */
  end(): void {
    for (const parameter of this.#own())
      if (parameter.remote === this) this.#port.mirroring.entrust(parameter, undefined);
  }

  *#own(): Iterable<Parameter> {
    const { mirroring } = this.#port;
    for (const parameter of this.#port.parameters())
      if (!mirroring.isLocal(parameter.address.slice(0, parameter.address.indexOf('/')))) yield parameter;
  }
}
