// The connections of this hub that another hub has. They do not run, and what they would own nobody writes here.

import type { HubPort } from '../../hub-port.ts';
import type { Refusals } from './claims.ts';
import { Vacancy } from './vacancy.ts';

export class RefusedConnections {
  readonly #port: Pick<HubPort, 'parameters' | 'mirroring'>;
  readonly #timeOfDay: () => number;
  /** By Connection ID. */
  readonly #vacancies = new Map<string, Vacancy>();

  constructor(port: Pick<HubPort, 'parameters' | 'mirroring'>, timeOfDay: () => number) {
    this.#port = port;
    this.#timeOfDay = timeOfDay;
  }

  /** Has those stand still that are refused, and no others; also to be called when parameters have come. */
  follow(refusals: Refusals): void {
    for (const [id, vacancy] of this.#vacancies) {
      const { reason, holder } = refusals.get(id) ?? {};
      if (reason === vacancy.reason && holder === vacancy.hub) continue;
      vacancy.end();
      this.#vacancies.delete(id);
    }
    for (const [id, { holder, reason }] of refusals) {
      const isFor = (connectionId: string) => connectionId === id;
      const vacancy = this.#vacancies.get(id) ?? new Vacancy({ port: this.#port, hub: holder, reason, isFor });
      this.#vacancies.set(id, vacancy);
      vacancy.begin(this.#timeOfDay());
    }
  }
}
