// The snapshots that a client lacks, and the parameters that they may have.

import type { Parameter } from '../../../../../model/parameter.ts';
import type { HubPort } from '../../../../hub-port.ts';
import { isTrigger } from '../frames.ts';
import { listedParameters } from '../listed.ts';
import type { Subscription } from '../subscription.ts';

/** A subscription of which everything that changed after `from` is to be sent; `isNew`: its definitions as well. */
export interface Snapshot {
  readonly subscription: Subscription;
  readonly from: number;
  readonly isNew: boolean;
}

/** Adds a snapshot of each further subscription: of what changed after a revision. */
export function withOthers(
  snapshots: readonly Snapshot[],
  subscriptions: readonly Subscription[],
  from: number,
): Snapshot[] {
  const others = subscriptions.filter((one) => !snapshots.some(({ subscription }) => subscription === one));
  return [...snapshots, ...others.map((subscription) => ({ subscription, from, isNew: false }))];
}

/** The parameters that snapshots may have: all of the hub, or those whose addresses are listed. */
export function parametersOf(hub: HubPort, snapshots: readonly Snapshot[]): Iterator<Parameter> {
  return (listed(hub, snapshots) ?? hub.parameters())[Symbol.iterator]();
}

/** Oldest change first, the parameters that snapshots may have and that changed after the revision. */
export function changedSince(hub: HubPort, snapshots: readonly Snapshot[], revision: number): Iterator<Parameter> {
  const parameters = listed(hub, snapshots);
  if (parameters === undefined) return hub.changedSince(revision)[Symbol.iterator]();
  const changed = [...parameters]
    .filter((parameter) => !isTrigger(parameter) && parameter.value !== undefined)
    .map((parameter) => ({ parameter, revision: parameter.lastChange!.revision }))
    .filter((change) => change.revision > revision)
    .sort((one, other) => one.revision - other.revision);
  return unmoved(changed);
}

/** Leaves out what has changed since the list was made: it comes later, in its new place. */
function* unmoved(changed: readonly { parameter: Parameter; revision: number }[]): Generator<Parameter> {
  for (const { parameter, revision } of changed) if (parameter.lastChange!.revision === revision) yield parameter;
}

function listed(hub: HubPort, snapshots: readonly Snapshot[]): Set<Parameter> | undefined {
  return listedParameters(
    snapshots.map(({ subscription }) => subscription),
    (address) => hub.find(address),
  );
}
