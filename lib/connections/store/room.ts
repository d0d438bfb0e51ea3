// How the room on the disk is shared: half of it is for the history, a quarter each for values and for the audit.

import { logBytes as auditLogBytes } from './audit/tables.ts';
import type { HistoryRoom } from './history/messages.ts';

export interface Room {
  /** The bound of the database of values: its copy, a copy that is being made, and its log may be as large each. */
  readonly valuesBytes: number;
  readonly history: HistoryRoom;
  /** The bound of the database of the audit: its copy, and a copy that is being made, may be as large each. */
  readonly auditBytes: number;
}

/** What the log before a large database takes at most. */
const mostLogBytes = 32_000_000;
/** For what stands beside the databases: locks, and how threads share a log. */
const spareBytes = 500_000;

export function roomOf(maxSize: number): Room {
  const historyBytes = maxSize / 2 - spareBytes;
  const logBytes = Math.floor(Math.min(historyBytes / 4, mostLogBytes));
  return {
    valuesBytes: Math.floor(maxSize / 4 / 5),
    auditBytes: Math.floor((maxSize / 4 - auditLogBytes) / 3),
    history: { databaseBytes: Math.floor(historyBytes - logBytes), logBytes },
  };
}
