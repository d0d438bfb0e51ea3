// Which Connection IDs a hub wants for itself: those of its connections that share a parameter.

import { merge, Subscription } from 'rxjs';
import type { HubPort } from '../../hub-port.ts';

export interface Wanted {
  /** The IDs at this moment. */
  ids(): ReadonlySet<string>;
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
    stop: () => following.unsubscribe(),
  };
}

function find(hub: HubPort, isShared: (address: string) => boolean): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { address } of hub.parameters()) {
    const id = address.slice(0, address.indexOf('/'));
    if (!ids.has(id) && !hub.mirroring.isLocal(id) && isShared(address)) ids.add(id);
  }
  return ids;
}
