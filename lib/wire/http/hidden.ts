// The replacements for hidden addresses and names, for clients without the right to see everything.

import type { Origin } from '../../model/parameter.ts';

/**
 * Replaces the address of a parameter that the reader may not see, and the name of the parameter's writer. No parameter has this address.
 */
export const something = 'something';

/** Returns a writer without the name of its rule, because rules are often named after the parameters that they read and write. */
export function originWithoutRule(origin: Origin): Origin {
  if (origin.kind !== 'rule') return origin;
  const { hub, reportedBy } = origin;
  return { kind: 'rule', name: something, ...(hub && { hub }), ...(reportedBy && { reportedBy }) };
}
