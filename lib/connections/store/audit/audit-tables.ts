// The tables of audit.db: the audit and the log. Any SQLite tool can read these tables.
import type { Change, Origin } from '../../../model/parameter.ts';
import { beginningOf } from '../../../model/printable.ts';
import { describeEnd } from '../../../model/reports/log-entry.ts';
import type { Value } from '../../../model/value.ts';
import { describeTrace, writerName } from '../../../model/writer.ts';
import type { HubPort } from '../../hub-port.ts';
import type { AuditEvent } from '../../persistence.ts';
import type { Cell } from '../packed-rows.ts';
import type { AuditRow, HeldAudit } from './audit-messages.ts';
import { blockTable } from './entry-blocks.ts';

/**
 * - `entry`: a view of `entry_row` and of the entries in `entry_block`, see `packEntries`. An insert into the view adds a row to `entry_row`.
 *   `time` is in milliseconds since 1970; `type` is the type of a parameter; `before` and `after` are numbers, strings, or 0 and 1. There is
 *   no index by address, because it would cost five times as much as the rows, whereas a scan of a million rows takes 50 ms.
 * - `run`: one row. When the hub was last known to be running, whether it has since ended cleanly, and the identity of the numbering of
 *   `log`.
 * - `age`: one row. The state of the clock that determines the age of entries, see `KeptAge`; `pauses` is JSON. Entries up to the number
 *   `disordered` may be out of chronological order.
 * - `age_mark`: all entries up to `n` existed when this clock showed `ran`.
 */
export const tables = `
  CREATE TABLE IF NOT EXISTS entry_row (
    n INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind TEXT NOT NULL, user TEXT NOT NULL, address TEXT NOT NULL DEFAULT '',
    type TEXT NOT NULL DEFAULT '', before ANY, after ANY, count INTEGER NOT NULL DEFAULT 1, cause TEXT NOT NULL DEFAULT ''
  ) STRICT;
  CREATE INDEX IF NOT EXISTS entry_by_time ON entry_row (time);${blockTable}
  CREATE VIEW IF NOT EXISTS entry AS SELECT * FROM entry_row UNION ALL SELECT * FROM block_entry;
  CREATE TRIGGER IF NOT EXISTS add_entry INSTEAD OF INSERT ON entry BEGIN
    INSERT INTO entry_row VALUES (new.n, new.time, new.kind, new.user, coalesce(new.address, ''), coalesce(new.type, ''), new.before,
      new.after, coalesce(new.count, 1), coalesce(new.cause, ''));
  END;
  CREATE TABLE IF NOT EXISTS log (
    n INTEGER PRIMARY KEY, time INTEGER NOT NULL, level TEXT NOT NULL, connection TEXT, rule TEXT, message TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS run (
    one INTEGER PRIMARY KEY CHECK (one = 1), seen INTEGER NOT NULL, is_clean INTEGER NOT NULL, count TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS age (
    one INTEGER PRIMARY KEY CHECK (one = 1), ran INTEGER NOT NULL, wall INTEGER NOT NULL, pauses TEXT NOT NULL,
    disordered INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS age_mark (ran INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT;`;

/** The size in bytes at which the write-ahead log is emptied; the file keeps this size. */
export const logBytes = 512 * 1024;
/** The length to which strings in entries are truncated, in UTF-16 code units. */
const maxTextUnits = 500;
/** The number of log entries that the database keeps; older entries are deleted. */
export const keptLogEntries = 10_000;
/**
 * The number of log entries, counting back from the newest, that the hub loads at startup. The hub never shows more entries than this
 * number.
 */
export const readLogEntries = 2000;

// Creates the entries of the audit.

const nothing = { address: '', type: '', before: undefined, after: undefined } as const;

/** Creates the entry for a change to a value or the firing of a trigger. */
export function rowOf({ parameter: { address, type }, time, origin, previous, value }: Change): AuditRow {
  const user = cut(userOf(origin));
  const cause = describeTrace(origin);
  if (type === 'T')
    return { n: 0, time, kind: 'fire', user, address, type, before: undefined, after: undefined, count: 1, cause };
  return {
    n: 0,
    time,
    kind: 'change',
    user,
    address,
    type,
    before: cut(previous),
    after: cut(value),
    count: 1,
    cause,
  };
}

/**
 * Returns the name of the client or connection that made a change. If the change comes from another hub, the writer may also be a rule, as
 * reported by that hub.
 */
function userOf(origin: Origin): string {
  const { kind, name, reportedBy } = origin;
  if (reportedBy === undefined || kind === 'client' || kind === 'connection') return writerName(origin);
  return writerName({ ...origin, name: `${kind} ${name}` });
}

/** Creates the entry for an event in the hub, such as a sign-in or a reload. */
export function rowOfEvent(
  { kind, user, address, before, after, cause, count = 1 }: AuditEvent,
  time: number,
): AuditRow {
  return {
    n: 0,
    time,
    kind,
    user: cut(user),
    address: cut(address),
    type: '',
    before: cut(before),
    after: cut(after),
    count,
    cause: cut(cause),
  };
}

/** Creates the entry for a start of the hub, which also states how the previous run ended. */
export function rowOfStart(
  hub: Pick<HubPort, 'version' | 'startedAt'>,
  held: HeldAudit | undefined,
  isLost: boolean,
): AuditRow {
  const { run } = held ?? {};
  const before = run && describeEnd(run.seen, run.isClean);
  const cause = before ?? (isLost ? 'earlier entries are lost' : 'first start');
  const { version, startedAt: time } = hub;
  return { ...nothing, n: 0, time, kind: 'start', user: 'hub', after: version, count: 1, cause };
}

/** Creates the entry for a number of lost entries. */
export function rowOfLost(time: number, count: number): AuditRow {
  const cause = 'entries arrived faster than they could be written';
  return { ...nothing, n: 0, time, kind: 'lost', user: 'hub', count, cause };
}

/**
 * Creates the entry that counts the changes to a parameter that another hub reports within a second. An empty `hub` stands for all hubs
 * that are not counted separately.
 */
export function rowOfReported(change: Change, hub: string): AuditRow {
  return { ...rowOf(change), user: reporterOf(hub), cause: 'of one or more users, counted together' };
}

/**
 * Creates the entry that counts the changes that another hub reports within a second if there are too many changes to record them by
 * address.
 */
export function rowOfReportedLost(time: number, hub: string): AuditRow {
  const cause = 'more changes from this origin within a second than are stored';
  return { ...nothing, n: 0, time, kind: 'lost', user: reporterOf(hub), count: 1, cause };
}

function reporterOf(hub: string): string {
  return hub === '' ? 'further hubs' : `hub ${hub}`;
}

/** Returns the cells of an entry, which are packed and sent to another thread. */
export function cellsOf({
  n,
  time,
  kind,
  user,
  address,
  type,
  before,
  after,
  count,
  cause,
}: AuditRow): readonly Cell[] {
  return [n, time, kind, user, address, type, before, after, count, cause];
}

export function rowOfCells(cells: readonly Cell[]): AuditRow {
  const [n, time, kind, user, address, type, before, after, count, cause] = cells;
  return { n, time, kind, user, address, type, before, after, count, cause } as AuditRow;
}

/** Truncates a string that is too long for an entry; returns any other value unchanged. */
export function cut<Kind extends Value | undefined>(value: Kind): Kind {
  if (typeof value !== 'string' || value.length <= maxTextUnits) return value;
  return `${beginningOf(value, maxTextUnits)}…` as Kind;
}
