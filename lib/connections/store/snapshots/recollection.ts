// What a snapshot means for the parameters that there are now: what a recall writes, what it leaves out, and what differs.

import { messageOf } from '../../../model/error.ts';
import type { Parameter } from '../../../model/parameter.ts';
import type { Snapshot, SnapshotValue } from '../../../model/reports/snapshot.ts';
import type { Value } from '../../../model/value.ts';
import type { Parameters } from '../../hub-port.ts';
import { expectedValue, readContents } from './saved-value.ts';
import type { Kept } from './shelf.ts';

type Find = Parameters;

export interface Recollection {
  /** What each parameter becomes, in listed order. */
  readonly expected: ReadonlyMap<Parameter, Value>;
  /** Addresses, each with the reason why nothing is written there. */
  readonly leftOut: readonly string[];
}

/** Reads a snapshot for the listed parameters. */
export function recollect({ contents, parameters }: Kept, listed: Iterable<Parameter>, hub: Find): Recollection {
  const saved = new Map(readContents(contents).map(([address, , value]) => [address, value]));
  const expected = new Map<Parameter, Value>();
  const leftOut: string[] = [];
  if (saved.size < parameters)
    leftOut.push(`${parameters - saved.size} values that cannot be read: values.db was edited`);
  for (const parameter of listed) {
    const { address } = parameter;
    const value = saved.get(address);
    if (value === undefined) continue;
    saved.delete(address);
    try {
      expected.set(parameter, expectedValue(parameter, value));
    } catch (error) {
      leftOut.push(`${address} (${messageOf(error)})`);
    }
  }
  for (const address of saved.keys())
    leftOut.push(`${address} (${hub.find(address) ? 'it is no longer selected' : 'there is no such parameter'})`);
  return { expected, leftOut };
}

/** Puts every value that was saved beside the present one. */
export function compare(snapshot: Kept, listed: Iterable<Parameter>, hub: Find): Snapshot {
  const { selection, name, time, contents } = snapshot;
  const saved = new Map(readContents(contents).map((one) => [one[0], one]));
  const values: SnapshotValue[] = [];
  for (const [{ address, type, value: present }, expected] of recollect(snapshot, listed, hub).expected) {
    const [, , value] = saved.get(address)!;
    values.push({ parameter: address, type, value, present, differs: present !== expected });
    saved.delete(address);
  }
  for (const [parameter, type, value] of saved.values())
    values.push({ parameter, type, value, present: hub.find(parameter)?.value, differs: false });
  return { selection, name, time, values };
}
