// The replacements for addresses and names that a client may not see, because it lacks the right to see everything.

import type { Origin } from '../../model/parameter.ts';

/**
 * The replacement for the address of a parameter that the reader may not see, and for the name of the writer of this parameter. No
 * parameter has this address.
 */
export const something = 'something';

/** Returns a writer without the name of its rule, because rules are often named after the parameters that they read and write. */
export function originWithoutRule(origin: Origin): Origin {
  if (origin.kind !== 'rule') return origin;
  const { hub, reportedBy } = origin;
  return { kind: 'rule', name: something, ...(hub && { hub }), ...(reportedBy && { reportedBy }) };
}
