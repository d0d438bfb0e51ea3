// What is written into the cell of a lease, where that cell is, and how long a lease is held.

import { z } from 'zod';
import type { HubName } from '../link/subjects.ts';

/**
 * The greatest term: of a greater one the next could not be counted. No honest hub gets there; whoever has written it keeps nobody from
 * the lease, as terms begin anew after it.
 */
export const maxTerm = 2 ** 48;
const term = z.int().positive().max(maxTerm);
const id = z.string().max(200);

/** What the cell of a lease holds. Each holder has a greater term than the one before. */
const leaseRecord = z.object({
  term,
  holder: id,
  name: z.string().max(1000),
  isReleased: z.boolean(),
  /** Grows with each record that its holder writes into this cell. */
  renewal: z.int().nonnegative().optional(),
  /** How many cells the lease is on. */
  parts: z.int().positive().optional(),
  /** The term in which its holder has begun, and which it tells; left out: that of the record, or it has not begun. */
  begun: term.optional(),
  /** Who had it last and may still go on by it, as nobody has begun since: released, it is given back to that one. Left out: nobody may. */
  before: z.object({ holder: id, term }).optional(),
  /** Of a part that was released: who takes it has the whole lease. */
  isWhole: z.boolean().optional(),
});
export type LeaseRecord = z.infer<typeof leaseRecord>;

/** Reads what a cell holds. Errors: what it is not. */
export function parseLease(data: unknown): LeaseRecord {
  return leaseRecord.parse(data);
}

/** Where leases and claims are: streams of JetStream, and the subjects that lead into them. */
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

/** How long leases are held, and how long they are waited for, in milliseconds. */
export const leaseTimes = {
  renewMs: 1000,
  fenceMs: 3000,
  expiryMs: 4000,
  /** How often the others look. */
  lookMs: 500,
  /** When the servers answer again, the holder has this long to renew before its lease is taken. */
  graceMs: 1500,
  /** A holder that is there has so long from its last renewal on. */
  patienceMs: 7000,
  /** The pause before servers that did not answer are asked again. */
  retryMs: 200,
  /** Servers that have not answered for this long are in trouble. */
  troubleMs: 2000,
} as const;
