// The content and storage of a lease register, and the times of a lease.

import { z } from 'zod';
import type { HubName } from '../link/subjects.ts';

/**
 * The highest possible term, which no correct hub reaches. A hub that writes this term does not block other hubs, because terms then start
 * again.
 */
export const maxTerm = 2 ** 48;
const term = z.int().positive().max(maxTerm);
const id = z.string().max(200);

/** The content of a lease register. Each holder has a greater term than the previous holder. */
const leaseRecord = z.object({
  term,
  holder: id,
  name: z.string().max(1000),
  isReleased: z.boolean(),
  /** A number that grows with each record that the holder writes into this register. */
  renewal: z.int().nonnegative().optional(),
  /** The number of registers that the lease consists of. */
  parts: z.int().positive().optional(),
  /** The term in which the holder began, and which it reports. If omitted, this is the term of the record, or the holder has not begun. */
  begun: term.optional(),
  /**
   * The previous holder, which may continue with this register because no hub has begun since then; a release returns the register to this
   * holder. Omitted if there is none.
   */
  before: z.object({ holder: id, term }).optional(),
  /** Whether the hub that takes this released part then has the whole lease. */
  isWhole: z.boolean().optional(),
});
export type LeaseRecord = z.infer<typeof leaseRecord>;

/** Parses the content of a register. Errors: a message about the expected content. */
export function parseLease(data: unknown): LeaseRecord {
  return leaseRecord.parse(data);
}

/** The place where a lease or the claims are stored: a JetStream stream and its subject. */
export interface Place {
  readonly stream: string;
  readonly subject: string;
}

/**
 * The parts of a pair's lease, any one of which is enough to continue. When all servers restart, each stream gets a leader 4 to 9 s later,
 * about half of the streams after more than 5 s; with seven streams, at least one gets a leader soon. The lease of a hub without a pair has
 * only the first part, because losing that lease ends nothing.
 */
export const pairParts = [1, 2, 3, 4, 5, 6, 7];

/** Returns where a part of a hub's lease is stored, counted from 1. No name of a domain or hub contains a `+`. */
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
  /** The interval at which other hubs read the register. */
  lookMs: 500,
  /** The time that the holder has for a renewal after the servers answer again, before another hub takes the lease. */
  graceMs: 1500,
  /** How long after its last renewal a holder that answers keeps its claim to the lease. */
  patienceMs: 7000,
  /** The pause before a retry if the servers have not answered. */
  retryMs: 200,
  /** The time for which the servers may be silent before a problem is reported. */
  problemAfterMs: 2000,
} as const;
