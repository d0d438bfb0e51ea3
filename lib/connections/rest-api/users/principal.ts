// A principal is an admitted client: a user, a device of a user, or any client if no credentials are required.

import type { HubPort } from '../../hub-port.ts';
import type { Rights } from './rights.ts';
import { BoundedView, openView, type View } from './view.ts';

export interface Principal {
  /** The name of the user; empty if there is no user. */
  readonly name: string;
  /** The ID of the device from whose token the principal was recognized; undefined if the principal did not sign in on a device. */
  readonly device: string | undefined;
  /** The rights of the principal; undefined if the hub is open and every client may do everything. */
  readonly rights: Rights | undefined;
  /**
   * The key of the filter for readable parameters. Principals with the same key may read the same parameters, and can therefore share the
   * changes.
   */
  readonly key: string;
  readonly view: View;
  /** Whether the principal has lost access, because its rights have changed or it was signed out. */
  readonly hasLeft: boolean;
  /** Calls `cut` when the principal loses access; returns a function that cancels the call. */
  onLeave(cut: () => void): () => void;
}

/** Creates the principal of all clients of an open hub. */
export function openPrincipal(hub: HubPort): Principal {
  return {
    name: '',
    device: undefined,
    rights: undefined,
    key: '',
    view: openView(hub),
    hasLeft: false,
    onLeave: () => () => {},
  };
}

/** A principal whose rights are restricted: a user, a device of a user, or a client without credentials. */
export class SignedInUser implements Principal {
  readonly name: string;
  readonly device: string | undefined;
  readonly rights: Rights;
  readonly key: string;
  readonly view: BoundedView;
  hasLeft = false;
  /** The functions to call when the principal loses access; they cut its answers and sockets. */
  readonly #cuts = new Set<() => void>();

  constructor(name: string, device: string | undefined, rights: Rights, hub: HubPort) {
    this.name = name;
    this.device = device;
    this.rights = rights;
    this.key = rights.key;
    this.view = new BoundedView(hub, rights);
  }

  /** Revokes the principal's access immediately. */
  leave(): void {
    this.hasLeft = true;
    this.view.end();
    for (const cut of this.#cuts) cut();
    this.#cuts.clear();
  }

  onLeave(cut: () => void): () => void {
    this.#cuts.add(cut);
    return () => this.#cuts.delete(cut);
  }
}
