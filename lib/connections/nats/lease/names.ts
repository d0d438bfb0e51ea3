// Where leases and claims are: streams of JetStream, and the subjects that lead into them.

import type { HubName } from '../link/subjects.ts';

interface Place {
  readonly stream: string;
  readonly subject: string;
}

/** The lease on the name of a hub. No name of a domain or of a hub has a `+`. */
export function leasePlace({ domain, hub }: HubName): Place {
  return { stream: `patchbay+${domain}+${hub}`, subject: `patchbay.${domain}.${hub}.lease` };
}

/** The claims of all hubs of a domain. */
export function claimsPlace(domain: string): Place {
  return { stream: `patchbay+${domain}`, subject: `patchbay.${domain}.claims` };
}
