// Gathers what has changed since a revision: the hub keeps parameters in the order of their changes, so no change is listened to
// and nothing waits in a queue.

import type { Parameter } from '../../../model/parameter.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import type { HubPort } from '../../hub-port.ts';

/** How much one transaction writes at most; what is left over comes with the next. */
export const maxBatchValues = 10_000;
export const maxBatchCharacters = 4 * 1024 * 1024;

export interface Gathered {
  readonly values: readonly (readonly [address: string, type: ValueType, value: Value, time: number])[];
  /** All changes up to this revision are in it. */
  readonly revision: number;
  /** Whether there is more. */
  readonly isFull: boolean;
}

/** Gathers the newest value of each parameter that changed after the revision, oldest change first. */
export function gather(
  hub: Pick<HubPort, 'changedSince' | 'revision'>,
  since: number,
  isKept: (parameter: Parameter) => boolean,
): Gathered {
  const values: [string, ValueType, Value, number][] = [];
  let characters = 0;
  for (const parameter of hub.changedSince(since)) {
    if (!isKept(parameter)) continue;
    const { address, type, value, lastChange } = parameter;
    if (isDefault(parameter)) continue;
    values.push([address, type, value!, lastChange!.time]);
    characters += address.length + (typeof value === 'string' ? value.length : 0);
    if (values.length >= maxBatchValues || characters >= maxBatchCharacters)
      return { values, revision: lastChange!.revision, isFull: true };
  }
  return { values, revision: hub.revision, isFull: false };
}

/** A default is not kept: when its author changes it, the new one holds. */
function isDefault({ address, lastChange }: Parameter): boolean {
  const { kind, name } = lastChange!.origin;
  return kind === 'connection' && address.startsWith(`${name}/`);
}
