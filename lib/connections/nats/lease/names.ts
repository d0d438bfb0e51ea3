// Where leases and claims are: streams of JetStream, and the subjects that lead into them.

import type { HubName } from '../link/subjects.ts';

interface Place {
  readonly stream: string;
  readonly subject: string;
}

/** A part of the lease on the name of a hub, counted from 1. No name of a domain or of a hub has a `+`. */
export function leasePlace({ domain, hub }: HubName, part: number): Place {
  const [inStream, inSubject] = part === 1 ? ['', ''] : [`+${part}`, `.${part}`];
  return { stream: `patchbay+${domain}+${hub}${inStream}`, subject: `patchbay.${domain}.${hub}.lease${inSubject}` };
}

/** The claims of all hubs of a domain. */
export function claimsPlace(domain: string): Place {
  return { stream: `patchbay+${domain}`, subject: `patchbay.${domain}.claims` };
}
