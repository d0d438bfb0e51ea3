// Tells who came in, who was refused, who went, and whose rights were changed: to the audit of a store, and to the log where there is none.
// Whoever guesses passwords floods neither: those of a network within a minute are one entry after the first.

import { createLogGate, type LogGate } from '../../../../model/log-gate.ts';
import type { Log } from '../../../connection.ts';
import type { HubPort } from '../../../hub-port.ts';
import { networkOf } from '../../limits/network.ts';

export type Coming = 'in' | 'refused' | 'out' | 'invited' | 'revoked';

const gatedMs = 60_000;

export class Witness {
  readonly #id: string;
  readonly #hub: Pick<HubPort, 'keeping'>;
  readonly #log: Log;
  readonly #gate: LogGate;

  /** `id` is the Connection ID of the REST API. */
  constructor(id: string, hub: Pick<HubPort, 'keeping'>, log: Log, intervalMs = gatedMs) {
    this.#id = id;
    this.#hub = hub;
    this.#log = log;
    this.#gate = createLogGate(
      (count) => this.#tell(`${id} many addresses`, 'refused', 'of those that guess most', count),
      intervalMs,
    );
  }

  /** `user` may be what somebody claims to be. */
  note(user: string, address: string, after: Coming, cause: string): void {
    const name = `${this.#id} ${user === '' ? '' : `${user.slice(0, 64)} `}${address}`;
    if (after === 'refused') this.#gate(networkOf(address), (count) => this.#tell(name, after, cause, count));
    else this.#tell(name, after, cause);
  }

  /** Somebody has saved flow files with other users: what has changed, a sentence for each of them. */
  noteUsers(changes: readonly string[]): void {
    for (const change of changes) this.#tell(`${this.#id} flow files`, 'changed', change);
  }

  #tell(user: string, after: string, cause: string, count = 1): void {
    const { keeping } = this.#hub;
    if (keeping.archive?.audit !== undefined) {
      keeping.note({ kind: 'sign-in', user, address: '', after, cause, count });
      return;
    }
    const times = count > 1 ? ` (${count} times within a minute)` : '';
    this.#log.info({}, `sign-in: ${user}: ${after}${cause && `, ${cause}`}${times}`, `sign-in ${after} ${user}`);
  }
}
