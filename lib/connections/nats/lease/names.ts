// Where leases and claims are: streams of JetStream, and the subjects that lead into them.

import type { HubName } from '../link/subjects.ts';

export interface Place {
  readonly stream: string;
  readonly subject: string;
}

/**
 * The parts of the lease of a pair, any one of which is enough to go on. Servers that all start again elect a leader of each 4 to 9 s
 * later, more than 5 s later about every second time; so of this many one has a leader soon. The lease of any other hub ends nobody: it has
 * the first part alone.
 */
export const pairParts = [1, 2, 3, 4, 5, 6, 7];

/** A part of the lease on the name of a hub, counted from 1. No name of a domain or of a hub has a `+`. */
export function leasePlace({ domain, hub }: HubName, part: number): Place {
  const [inStream, inSubject] = part === 1 ? ['', ''] : [`+${part}`, `.${part}`];
  return { stream: `patchbay+${domain}+${hub}${inStream}`, subject: `patchbay.${domain}.${hub}.lease${inSubject}` };
}

/** The claims of all hubs of a domain. */
export function claimsPlace(domain: string): Place {
  return { stream: `patchbay+${domain}`, subject: `patchbay.${domain}.claims` };
}
