// Which Connection IDs a hub wants for itself: those of its connections that share a parameter.

import { merge, Subscription } from 'rxjs';
import { connectionIdOf } from '../../../model/address.ts';
import type { HubPort } from '../../hub-port.ts';

export interface Wanted {
  /** The IDs at this moment. */
  ids(): ReadonlySet<string>;
  /** Whether a connection that is no gateway shares a parameter, also while it is being started. */
  isShared(id: string): boolean;
  stop(): void;
}

/** Finds out which connections share a parameter, anew after parameters were added or taken out; `onChange` is told then. */
export function createWanted(hub: HubPort, isShared: (address: string) => boolean, onChange: () => void): Wanted {
  let known: ReadonlySet<string> | undefined;
  const next = () => {
    if (known === undefined) return;
    known = undefined;
    onChange();
  };
  const following = new Subscription();
  following.add(merge(hub.declared$, hub.removed$).subscribe({ next, error: () => {} }));
  return {
    ids: () => {
      known ??= find(hub, isShared);
      return known;
    },
    isShared: (id) => [...hub.parameters()].some((one) => connectionIdOf(one.address) === id && isShared(one.address)),
    stop: () => following.unsubscribe(),
  };
}

function find(hub: HubPort, isShared: (address: string) => boolean): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const parameter of hub.parameters()) {
    const { address } = parameter;
    const id = connectionIdOf(address);
    if (!ids.has(id) && !hub.mirroring.isLocal(id) && isShared(address)) ids.add(id);
  }
  return ids;
}
