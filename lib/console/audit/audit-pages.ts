// The entries of the audit that the page holds, made of the pages that the hub has told.

import type { AuditEntry, AuditPage } from '../../wire/http/past-shapes.ts';

/** How many entries the page holds at most. People see older ones when they say until when. */
export const maxHeld = 5000;

export interface HeldAudit {
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  /** What to ask for to get older ones; undefined: there are none. */
  readonly next: number | undefined;
}

export function addOlder(held: HeldAudit, { entries, next }: AuditPage): HeldAudit {
  const oldest = held.entries.at(-1)?.n ?? Number.POSITIVE_INFINITY;
  return { entries: [...held.entries, ...entries.filter(({ n }) => n < oldest)], next };
}

/**
 * Takes the newest page once more: what is new comes on top, and a newest entry may meanwhile count more. When more is new than a page
 * holds, or the list becomes too long, older ones are asked for again.
 */
export function refresh(held: HeldAudit | undefined, { entries, next }: AuditPage): HeldAudit {
  const oldest = entries.at(-1)?.n;
  const isWhole = oldest !== undefined && held?.entries.some(({ n }) => n === oldest);
  if (!held || !isWhole) return { entries, next };
  const older = held.entries.filter(({ n }) => n < oldest);
  if (entries.length + older.length > maxHeld) return { entries, next };
  return { entries: [...entries, ...older], next: older.length > 0 ? held.next : next };
}
