// The tables of audit.db: who did what, and the log. People read them with any tool.
import type { Change, Origin } from '../../../model/parameter.ts';
import { beginningOf } from '../../../model/printable.ts';
import { describeEnd } from '../../../model/reports/log-entry.ts';
import type { Value } from '../../../model/value.ts';
import { describeTrace, writerName } from '../../../model/writer.ts';
import type { HubPort } from '../../hub-port.ts';
import type { AuditEvent } from '../../persistence.ts';
import type { Cell } from '../packed-rows.ts';
import type { AuditRow, HeldAudit } from './audit-messages.ts';

/**
 * `entry`: `time` is in milliseconds since 1970; `type` is that of a parameter; `before` and `after` are numbers, texts, or 0 and 1.
 * There is no index by address: it would cost five times as much as the rows, and a million of them are read through in 50 ms.
 * `run`: one row. When the hub was last known to run, whether it has ended cleanly since, and the name of the count of `log`.
 * `age`: one row. What the clock shows by which the age of entries is judged, as `KeptAge` says; `pauses` is JSON. `disordered`: up to
 * which number entries may stand in another order than their times.
 * `age_mark`: all entries up to `n` were there when that clock showed `ran`.
 */
export const tables = `
  CREATE TABLE IF NOT EXISTS entry (
    n INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind TEXT NOT NULL, user TEXT NOT NULL, address TEXT NOT NULL DEFAULT '',
    type TEXT NOT NULL DEFAULT '', before ANY, after ANY, count INTEGER NOT NULL DEFAULT 1, cause TEXT NOT NULL DEFAULT ''
  ) STRICT;
  CREATE INDEX IF NOT EXISTS entry_by_time ON entry (time);
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

/** The log before the database is emptied when it is so large, and stays so. */
export const logBytes = 512 * 1024;
/** Texts of entries are cut at so many UTF-16 code units. */
const maxTextUnits = 500;
/** How many entries of the log are kept. */
export const keptLogEntries = 10_000;
/** How many of them the hub is given at its start: so many it shows. */
export const readLogEntries = 2000;

// What the entries of the audit say.

const nothing = { address: '', type: '', before: undefined, after: undefined } as const;

/** A change of a value, or a fire of a trigger. */
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

/** Clients and connections by their names; of another hub also rules, which it says are what wrote here. */
function userOf(origin: Origin): string {
  const { kind, name, reportedBy } = origin;
  if (reportedBy === undefined || kind === 'client' || kind === 'connection') return writerName(origin);
  return writerName({ ...origin, name: `${kind} ${name}` });
}

/** Something that was done with the hub itself. */
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

/** A start of the hub, and how it had ended before. */
export function rowOfStart(
  hub: Pick<HubPort, 'version' | 'startedAt'>,
  held: HeldAudit | undefined,
  isLost: boolean,
): AuditRow {
  const { run } = held ?? {};
  const before = run && describeEnd(run.seen, run.isClean);
  const cause = before ?? (isLost ? 'what was before is lost' : 'for the first time');
  const { version, startedAt: time } = hub;
  return { ...nothing, n: 0, time, kind: 'start', user: 'hub', after: version, count: 1, cause };
}

/** So many entries were lost. */
export function rowOfLost(time: number, count: number): AuditRow {
  const cause = 'more came than could be written';
  return { ...nothing, n: 0, time, kind: 'lost', user: 'hub', count, cause };
}

/** The first of many changes of a parameter within a second that a hub reports; empty: one of many hubs. */
export function rowOfReported(change: Change, hub: string): AuditRow {
  return { ...rowOf(change), user: reporterOf(hub), cause: 'of one or more users, counted together' };
}

/** Too much came from a hub within a second to be noted one by one. */
export function rowOfReportedLost(time: number, hub: string): AuditRow {
  const cause = 'more came from there within a second than is kept';
  return { ...nothing, n: 0, time, kind: 'lost', user: reporterOf(hub), count: 1, cause };
}

function reporterOf(hub: string): string {
  return hub === '' ? 'further hubs' : `hub ${hub}`;
}

/** An entry as cells, to be handed to another thread. */
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

/** Cuts texts that are too long. */
export function cut<Kind extends Value | undefined>(value: Kind): Kind {
  if (typeof value !== 'string' || value.length <= maxTextUnits) return value;
  return `${beginningOf(value, maxTextUnits)}…` as Kind;
}
