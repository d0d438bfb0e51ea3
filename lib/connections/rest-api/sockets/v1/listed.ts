// The parameters of subscriptions that list addresses and have no other patterns.

import type { Parameter } from '../../../../model/parameter.ts';
import type { Subscription } from './subscription.ts';

/**
 * The parameters that subscriptions list, without those that they do not select: whatever counts the parameters would tell of ones that the
 * client may not see. undefined: a subscription has other patterns, so it may have any parameter.
 */
export function listedParameters(
  subscriptions: Iterable<Pick<Subscription, 'addresses' | 'selection'>>,
  find: (address: string) => Parameter | undefined,
): Set<Parameter> | undefined {
  const listed = new Set<Parameter>();
  for (const { addresses, selection } of subscriptions) {
    if (addresses === undefined) return undefined;
    for (const address of addresses) {
      const parameter = find(address);
      if (parameter !== undefined && selection.has(parameter)) listed.add(parameter);
    }
  }
  return listed;
}
