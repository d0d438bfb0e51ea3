// The contents of lease registers, the streams that store them, and the durations that govern leases.

import { z } from 'zod';
import type { HubName } from '../link/subjects.ts';

/**
 * The highest possible term, which no correct hub reaches. A hub that writes this term does not block other hubs, because the terms then
 * start over.
 */
export const maxTerm = 2 ** 48;
const term = z.int().positive().max(maxTerm);
const id = z.string().max(200);

/** The schema for the content of a lease register. Each holder has a greater term than the previous holder. */
const leaseRecord = z.object({
  term,
  holder: id,
  name: z.string().max(1000),
  isReleased: z.boolean(),
  /** The number of the record among the records that the holder has written into this register. */
  renewal: z.int().nonnegative().optional(),
  /** The number of registers that make up the lease. */
  parts: z.int().positive().optional(),
  /**
   * The term in which the holder began and which it reports to other hubs. If it is omitted, the term is the term of the record, or the
   * holder has not begun.
   */
  begun: term.optional(),
  /**
   * The previous holder, which may continue with this register because no hub has begun since then. A release returns the register to this
   * holder. Omitted if there is no such holder.
   */
  before: z.object({ holder: id, term }).optional(),
  /** Whether the hub that takes this released part then holds the whole lease. */
  isWhole: z.boolean().optional(),
});
export type LeaseRecord = z.infer<typeof leaseRecord>;

/** Parses the content of a lease register. Errors: `Error` with a message about the expected content. */
export function parseLease(data: unknown): LeaseRecord {
  return leaseRecord.parse(data);
}

/** Where a lease or the claims are stored: a JetStream stream and its subject. */
export interface Place {
  readonly stream: string;
  readonly subject: string;
}

/**
 * The numbers of the parts of a pair's lease, any one of which is sufficient to continue. When all servers restart, each stream gets a
 * leader 4 to 9 s later, and about half of the streams need more than 5 s; with seven streams, at least one gets a leader soon. The lease
 * of a hub without a pair has only the first part, because nothing ends when such a lease is lost.
 */
export const pairParts = [1, 2, 3, 4, 5, 6, 7];

/** Returns where a part of a hub's lease is stored. Parts are numbered from 1. Names of domains and hubs never contain a `+`. */
export function leasePlace({ domain, hub }: HubName, part: number): Place {
  const [inStream, inSubject] = part === 1 ? ['', ''] : [`+${part}`, `.${part}`];
  return { stream: `patchbay+${domain}+${hub}${inStream}`, subject: `patchbay.${domain}.${hub}.lease${inSubject}` };
}

/** Returns where the claims of all hubs in a domain are stored. */
export function claimsPlace(domain: string): Place {
  return { stream: `patchbay+${domain}`, subject: `patchbay.${domain}.claims` };
}

/** The durations of leases, in milliseconds. */
export const leaseTimes = {
  renewMs: 1000,
  fenceMs: 3000,
  expiryMs: 4000,
  /** The interval at which other hubs read a register, in milliseconds. */
  lookMs: 500,
  /** The time after the servers answer again during which the holder may renew the lease before another hub takes it, in milliseconds. */
  graceMs: 1500,
  /** The time after its last renewal for which a holder that answers keeps its claim to the lease, in milliseconds. */
  patienceMs: 7000,
  /** The pause before a retry after the servers have not answered, in milliseconds. */
  retryMs: 200,
  /** How long the servers may be silent before a problem is reported, in milliseconds. */
  problemAfterMs: 2000,
} as const;
