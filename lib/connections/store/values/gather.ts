// Gathers what has changed since a revision: the hub keeps parameters in the order of their changes, so no change is listened to
// and nothing waits in a queue.

import type { Parameter } from '../../../model/parameter.ts';
import type { Parameters } from '../../hub-port.ts';
import type { ValueRow } from '../thread/values/messages.ts';
import type { CausesWriter } from './kept-causes.ts';

/** How much one transaction writes at most; what is left over comes with the next. */
const maxBatchValues = 10_000;
const maxBatchCharacters = 4 * 1024 * 1024;

export interface Gathered {
  readonly values: readonly ValueRow[];
  /** All changes up to this revision are in it. */
  readonly revision: number;
  /** Whether there is more. */
  readonly isFull: boolean;
}

/** Gathers the newest value of each parameter that changed after the revision with its causes, oldest change first. */
export function gather(
  hub: Parameters,
  since: number,
  isKept: (parameter: Parameter) => boolean,
  writer: CausesWriter,
): Gathered {
  const values: ValueRow[] = [];
  let characters = 0;
  for (const parameter of hub.changedSince(since)) {
    if (!isKept(parameter)) continue;
    const { address, type, value, lastChange } = parameter;
    if (isDefault(parameter)) continue;
    const causes = writer.write(lastChange!);
    values.push([address, type, value!, Math.trunc(lastChange!.time), causes]);
    characters += address.length + causes.length + (typeof value === 'string' ? value.length : 0);
    if (values.length >= maxBatchValues || characters >= maxBatchCharacters)
      return { values, revision: lastChange!.revision, isFull: true };
  }
  return { values, revision: hub.revision, isFull: false };
}

/** A default is not kept: when its author changes it, the new one holds. */
function isDefault({ address, lastChange }: Parameter): boolean {
  const { kind, name, reportedBy } = lastChange!.origin;
  return kind === 'connection' && reportedBy === undefined && address.startsWith(`${name}/`);
}
