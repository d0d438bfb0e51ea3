// Subscriptions that all differ, over many parameters: each hears of a few parameters, and of the first parameter only the first.

import { connectionId } from '../../../spec/support/load/many-parameters.ts';

/** The pattern of a subscription, as a regular expression and as a glob, for 0..9999. */
export function filteredGroup(index: number): { readonly regex: string; readonly glob: string } {
  const start = `${connectionId}/group-${index % 10}/sensor-${Math.floor(index / 10)}`;
  return { regex: `^${start}`, glob: `${start}*` };
}
