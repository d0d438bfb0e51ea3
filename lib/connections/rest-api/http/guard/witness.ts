// Tells who came in, who was refused and who went: to the audit of a store, and to the log where there is none.

import type { Log } from '../../../connection.ts';
import type { HubPort } from '../../../hub-port.ts';

export type Coming = 'in' | 'refused' | 'out' | 'invited' | 'revoked';

export class Witness {
  readonly #id: string;
  readonly #hub: Pick<HubPort, 'keeping'>;
  readonly #log: Log;

  /** `id` is the Connection ID of the REST API. */
  constructor(id: string, hub: Pick<HubPort, 'keeping'>, log: Log) {
    this.#id = id;
    this.#hub = hub;
    this.#log = log;
  }

  /** `user` may be what somebody claims to be. */
  note(user: string, address: string, after: Coming, cause: string): void {
    const { keeping } = this.#hub;
    const name = `${this.#id} ${user === '' ? '' : `${user.slice(0, 64)} `}${address}`;
    if (keeping.archive?.audit !== undefined) keeping.note({ kind: 'sign-in', user: name, address: '', after, cause });
    else this.#log.info({}, `sign-in: ${name}: ${after}${cause && `, ${cause}`}`, `sign-in ${after}`);
  }
}
