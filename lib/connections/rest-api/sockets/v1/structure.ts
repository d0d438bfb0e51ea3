// Parameters that come and go while clients are there: they are told in the round in which it happens, and nobody can resume from
// before it.

import type { Channel } from '../channel.ts';
import { cut, defFrame, definition } from './frames.ts';
import type { Group } from './group.ts';

type Groups = ReadonlyMap<string, Pick<Group, 'matches' | 'flush' | 'sendToAll'>>;

export class Structure {
  readonly #hub: { readonly revision: number };
  readonly #groups: Groups;
  /** Of which clients do not know yet; bounded by what one reload swaps. */
  #came: Channel[] = [];
  #gone: Channel[] = [];
  /** The revisions at which parameters came and went last; -1: never since the start. */
  #cameAt = -1;
  #goneAt = -1;

  constructor(hub: { readonly revision: number }, groups: Groups) {
    this.#hub = hub;
    this.#groups = groups;
  }

  declare(channel: Channel): void {
    this.#cameAt = this.#hub.revision;
    if (this.#groups.size === 0) return;
    this.#tellSoon();
    this.#came.push(channel);
  }

  forget(channel: Channel): void {
    if (this.#goneAt < this.#hub.revision) this.#flush(); // what it was last
    this.#goneAt = this.#hub.revision;
    if (this.#groups.size === 0) return;
    this.#tellSoon();
    this.#gone.push(channel);
  }

  /** Whether a client that was at a revision can be brought up to date by what changed since. */
  canResume(revision: number): boolean {
    return revision <= this.#hub.revision && revision > this.#cameAt && revision > this.#goneAt;
  }

  /** Tells what is not told yet. */
  tell(): void {
    if (this.#came.length + this.#gone.length === 0) return;
    const came = this.#came;
    const gone = this.#gone;
    this.#came = [];
    this.#gone = [];
    for (const group of this.#groups.values()) {
      const isHeard = ({ parameter }: Channel) => group.matches(parameter);
      for (const ids of cut(gone.filter(isHeard).map(({ id }) => String(id)))) group.sendToAll(`{"undef":[${ids}]}`);
      for (const definitions of cut(came.filter(isHeard).map(definition))) group.sendToAll(defFrame(definitions));
    }
  }

  #tellSoon(): void {
    if (this.#came.length + this.#gone.length > 0) return;
    this.#flush(); // what changed before comes before
    setImmediate(() => this.tell());
  }

  #flush(): void {
    for (const group of this.#groups.values()) group.flush();
  }
}
