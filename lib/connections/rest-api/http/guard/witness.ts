// Tells who came in, who was refused, who went, and whose rights were changed: to the audit of a store, and to the log where there is none.
// Whoever guesses passwords floods neither: those of a network within a minute are one entry after the first.

import { createLogGate, type LogGate } from '../../../../model/log-gate.ts';
import type { ConnectionContext } from '../../../connection.ts';
import type { HubPort } from '../../../hub-port.ts';
import { networkOf } from '../../limits/network.ts';
import { shownAddress } from '../../proxies/address.ts';

export type Coming = 'in' | 'refused' | 'out' | 'invited' | 'revoked';

const gatedMs = 60_000;

type Context = Pick<ConnectionContext<unknown>, 'id' | 'log' | 'withoutSecrets'>;

export class Witness {
  readonly #context: Context;
  readonly #hub: Pick<HubPort, 'keeping'>;
  readonly #gate: LogGate;

  /** The context is that of the REST API. */
  constructor(context: Context, hub: Pick<HubPort, 'keeping'>, intervalMs = gatedMs) {
    this.#context = context;
    this.#hub = hub;
    this.#gate = createLogGate(
      (count) => this.#tell(`${context.id} many addresses`, 'refused', 'of those that guess most', count),
      intervalMs,
    );
  }

  /** `user` may be what somebody claims to be: also a token, where one was expected to be a name. */
  note(user: string, address: string, after: Coming, cause: string): void {
    const { id, withoutSecrets } = this.#context;
    const tell = (count?: number) => {
      const name = withoutSecrets(user).slice(0, 64);
      this.#tell(`${id} ${name === '' ? '' : `${name} `}${shownAddress(address)}`, after, withoutSecrets(cause), count);
    };
    if (after === 'refused') this.#gate(networkOf(address), tell);
    else tell();
  }

  /** Somebody has saved flow files with other users: what has changed, a sentence for each of them. */
  noteUsers(changes: readonly string[]): void {
    for (const change of changes) this.#tell(`${this.#context.id} flow files`, 'changed', change);
  }

  #tell(user: string, after: string, cause: string, count = 1): void {
    const { keeping } = this.#hub;
    if (keeping.archive?.audit !== undefined) {
      keeping.note({ kind: 'sign-in', user, address: '', after, cause, count });
      return;
    }
    const times = count > 1 ? ` (${count} times within a minute)` : '';
    const sentence = `sign-in: ${user}: ${after}${cause && `, ${cause}`}${times}`;
    this.#context.log.info({}, sentence, after === 'changed' ? sentence : `sign-in ${after} ${user}`); // a reload changes several at once
  }
}
