// The content and place of a lease register, and the times of a lease.

import { z } from 'zod';
import type { HubName } from '../link/subjects.ts';

/**
 * The greatest term; its successor could not be counted. No correct hub gets there. A hub that writes it blocks nobody, because the terms
 * restart after it.
 */
export const maxTerm = 2 ** 48;
const term = z.int().positive().max(maxTerm);
const id = z.string().max(200);

/** The content of a lease register. Each holder has a greater term than the one before. */
const leaseRecord = z.object({
  term,
  holder: id,
  name: z.string().max(1000),
  isReleased: z.boolean(),
  /** Grows with each record that the holder writes into this register. */
  renewal: z.int().nonnegative().optional(),
  /** How many registers the lease is on. */
  parts: z.int().positive().optional(),
  /** The term in which the holder began, and which it reports. Omitted: that of the record, or it has not begun. */
  begun: term.optional(),
  /**
   * The previous holder, which may continue with this register because no hub has begun since; a release returns the register to it.
   * Omitted: there is none.
   */
  before: z.object({ holder: id, term }).optional(),
  /** Set in a released part: the hub that takes it has the whole lease. */
  isWhole: z.boolean().optional(),
});
export type LeaseRecord = z.infer<typeof leaseRecord>;

/** Parses the content of a register. Errors: the expected content. */
export function parseLease(data: unknown): LeaseRecord {
  return leaseRecord.parse(data);
}

/** Where leases and claims are stored: JetStream streams, and the subjects that lead into them. */
export interface Place {
  readonly stream: string;
  readonly subject: string;
}

/**
 * The parts of the lease of a pair, any one of which is enough to continue. When all servers restart, each stream has a leader 4 to 9 s
 * later, about every second one after more than 5 s; with seven streams one has a leader soon. The lease of any other hub ends nothing: it
 * has only the first part.
 */
export const pairParts = [1, 2, 3, 4, 5, 6, 7];

/** Returns the place of a part of a hub's lease, counted from 1. No name of a domain or of a hub contains a `+`. */
export function leasePlace({ domain, hub }: HubName, part: number): Place {
  const [inStream, inSubject] = part === 1 ? ['', ''] : [`+${part}`, `.${part}`];
  return { stream: `patchbay+${domain}+${hub}${inStream}`, subject: `patchbay.${domain}.${hub}.lease${inSubject}` };
}

/** Returns the place of the claims of all hubs of a domain. */
export function claimsPlace(domain: string): Place {
  return { stream: `patchbay+${domain}`, subject: `patchbay.${domain}.claims` };
}

/** The durations of leases, in milliseconds. */
export const leaseTimes = {
  renewMs: 1000,
  fenceMs: 3000,
  expiryMs: 4000,
  /** How often other hubs look at the register. */
  lookMs: 500,
  /** The time that the holder has for a renewal after the servers answer again, before another hub takes its lease. */
  graceMs: 1500,
  /** The time after its last renewal for which a holder that answers keeps its claim. */
  patienceMs: 7000,
  /** The pause before servers that did not answer are asked again. */
  retryMs: 200,
  /** How long servers may be silent before that is reported. */
  problemAfterMs: 2000,
} as const;
