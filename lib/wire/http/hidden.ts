// How those are told of changes who may not see everything.

import type { Origin } from '../../model/parameter.ts';

/** Stands for the address of a parameter that the reader may not see, and for who wrote it. No parameter has it. */
export const something = 'something';

/** A writer as those are told who may not see everything: rules are often named after what they read and write. */
export function originWithoutRule(origin: Origin): Origin {
  if (origin.kind !== 'rule') return origin;
  const { hub, reportedBy } = origin;
  return { kind: 'rule', name: something, ...(hub && { hub }), ...(reportedBy && { reportedBy }) };
}
