// The tables in the history database, `history.db`, for people and readers. Times are in milliseconds since 1970.

/** The lengths of the spans into which changes are aggregated, in milliseconds. */
export const minuteMs = 60_000;
export const hourMs = 3_600_000;

/** The length to which strings are truncated, in UTF-16 code units, because the history is not a document archive. */
export const maxTextUnits = 1024;

/** The reason for a gap after which a value is unknown until the next recorded change. */
export const downReason = 'the hub was down';
/** The reason for a gap during which the device was offline. */
export const awayReason = 'the device was offline';
/** The beginning of the reason for a gap during which a hub was unreachable; the name of the hub follows. */
export const noContact = 'no contact with hub ';

/** The SQL for tables that databases from earlier versions lack. The tables are created when a database is opened for writing. */
export const laterTables = `
CREATE TABLE IF NOT EXISTS jump (
  n INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, before INTEGER NOT NULL, after INTEGER NOT NULL, gap INTEGER NOT NULL,
  start INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS run (
  one INTEGER PRIMARY KEY CHECK (one = 1), epoch TEXT NOT NULL, base INTEGER NOT NULL, last INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS age (
  one INTEGER PRIMARY KEY CHECK (one = 1), ran INTEGER NOT NULL, wall INTEGER NOT NULL, pauses TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS hour_age (hour INTEGER PRIMARY KEY, ran INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS absence (
  connection TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, reason TEXT NOT NULL, sequence INTEGER NOT NULL,
  UNIQUE (connection, start)
) STRICT;`;

/**
 * The SQL for the two tables of changes, and for two views that show all changes to people. An earlier version had a single table,
 * `change`. An insert into the view adds a row to `change_row`.
 */
const changeViews = `
CREATE TABLE change_block (
  hour INTEGER NOT NULL, parameter INTEGER NOT NULL, time INTEGER NOT NULL, revision INTEGER NOT NULL,
  last_time INTEGER NOT NULL, last_revision INTEGER NOT NULL, count INTEGER NOT NULL,
  writer INTEGER NOT NULL, source INTEGER NOT NULL, cause INTEGER, changes TEXT NOT NULL, checksum INTEGER NOT NULL,
  PRIMARY KEY (hour, parameter, time, revision)
) STRICT, WITHOUT ROWID;
CREATE VIEW block_change AS
  SELECT hour, parameter, time + (one.value ->> 0) AS time, revision + (one.value ->> 1) AS revision, one.value ->> 2 AS value,
    coalesce(one.value ->> 5, writer) AS writer, coalesce(one.value ->> 6, source) AS source,
    nullif(coalesce(one.value ->> 7, cause), 0) AS cause_parameter,
    iif(coalesce(one.value ->> 7, cause, 0) = 0, NULL, time + (one.value ->> 0) - (one.value ->> 3)) AS cause_time,
    iif(coalesce(one.value ->> 7, cause, 0) = 0, NULL, revision + (one.value ->> 1) - (one.value ->> 4)) AS cause_revision
  FROM change_block, json_each(iif(json_valid(changes), changes, '[]')) AS one WHERE one.type = 'array';
CREATE VIEW change AS SELECT * FROM change_row UNION ALL SELECT * FROM block_change;
CREATE TRIGGER add_change INSTEAD OF INSERT ON change BEGIN
  INSERT INTO change_row VALUES (new.hour, new.parameter, new.time, new.revision, new.value, new.writer, new.source,
    new.cause_parameter, new.cause_time, new.cause_revision);
END;
CREATE VIEW event AS ${['change_row', 'block_change']
  .map(
    (changes) => `
  SELECT change.hour AS hour, parameter.address AS address, parameter.type AS type, change.time AS time,
    change.revision AS revision, change.value AS value, writer.kind || ' ' || writer.name AS writer,
    source.kind || ' ' || source.name AS source, cause.address AS cause, change.cause_time AS cause_time
  FROM ${changes} AS change
  JOIN parameter ON parameter.id = change.parameter
  JOIN writer ON writer.id = change.writer
  JOIN writer AS source ON source.id = change.source
  LEFT JOIN parameter AS cause ON cause.id = change.cause_parameter`,
  )
  .join(' UNION ALL')};`;

const blockStatistics = "('change_block', 'change_block', '1000000 5000 50 1 1')";

/** The SQL that converts a database from an earlier version. */
export const splitChanges = `
ANALYZE sqlite_schema;
DROP VIEW IF EXISTS event;
ALTER TABLE change RENAME TO change_row;
UPDATE sqlite_stat1 SET tbl = 'change_row', idx = 'change_row' WHERE tbl = 'change';
${changeViews}
INSERT INTO sqlite_stat1 VALUES ${blockStatistics};
ANALYZE sqlite_schema;`;

/**
 * - `change`: a view with one row for each recorded change. The value is a number, a string, 0 or 1; a fired trigger has the value 1.
 *   `source` is the writer of the first change in the chain of causes. The cause is the key of another row, if that row was recorded.
 * - `change_row`: the changes with their own rows. The key starts with the hour, so that inserts and deletes touch only a few pages.
 * - `change_block`: the changes that share a row with other changes to the same parameter, see `Packing`. A parameter's blocks never
 *   overlap.
 * - `minute`, `hour`: for numbers and booleans, the minimum, the maximum, the time-weighted mean over the part of the span in which the
 *   value was known, and the value at the end of the span; for strings and triggers, only the number of changes. A span without a change
 *   has no row, because the value remained the same. A row is written when its span is over.
 * - `gap`: nothing was recorded from `start` to `end`: the hub was down, the disk was full, or there were too many changes. A value that
 *   changed during the gap and is known afterwards has a row in `change`.
 * - `mark`: one row. Everything before `seen` is recorded; all spans that began before `minutes` and `hours` have their rows.
 * - `jump`: the clock jumped from `before` to `after`, because the clock was set or the machine slept. Changes with a `revision` of at
 *   least `sequence` are later than the jump, and the gaps up to the row `gap` are earlier. After the clock was set back, a time occurs
 *   twice and the later recording counts. From then on, starts of the hub have rows as well, with `start` set to 1.
 * - `run`: one row. The last recorded run of the hub, the base that is added to its revisions so that they increase across restarts, and
 *   the highest revision.
 * - `age`, `hour_age`: the state of the clock that determines ages, see `KeptAge`, and its time when each hour was last written.
 * - `absence`: a connection's values were stale from `start` to `end`; 0 means that they are still stale. `sequence` is the number of the
 *   change at the start of the absence.
 * - `event`: a view of all changes by name, for people.
 * - `sqlite_stat1`: SQLite's table of statistics, with expected table sizes, so that SQLite looks up the rows of an address hour by hour.
 */
export const historyTables = `
CREATE TABLE parameter (
  id INTEGER PRIMARY KEY, address TEXT NOT NULL, type TEXT NOT NULL, UNIQUE (address, type)
) STRICT;
CREATE TABLE writer (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL DEFAULT '', UNIQUE (kind, name, file)
) STRICT;
CREATE TABLE change_row (
  hour INTEGER NOT NULL, parameter INTEGER NOT NULL, time INTEGER NOT NULL, revision INTEGER NOT NULL, value ANY NOT NULL,
  writer INTEGER NOT NULL, source INTEGER NOT NULL,
  cause_parameter INTEGER, cause_time INTEGER, cause_revision INTEGER,
  PRIMARY KEY (hour, parameter, time, revision)
) STRICT, WITHOUT ROWID;
CREATE TABLE minute (
  parameter INTEGER NOT NULL, time INTEGER NOT NULL, min REAL, mean REAL, max REAL, last REAL, count INTEGER NOT NULL,
  PRIMARY KEY (parameter, time)
) STRICT, WITHOUT ROWID;
CREATE TABLE hour (
  parameter INTEGER NOT NULL, time INTEGER NOT NULL, min REAL, mean REAL, max REAL, last REAL, count INTEGER NOT NULL,
  PRIMARY KEY (parameter, time)
) STRICT, WITHOUT ROWID;
CREATE TABLE gap (start INTEGER NOT NULL, end INTEGER NOT NULL, lost INTEGER NOT NULL, reason TEXT NOT NULL) STRICT;
CREATE TABLE mark (seen INTEGER NOT NULL, minutes INTEGER NOT NULL, hours INTEGER NOT NULL) STRICT;
${changeViews}
${laterTables}
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES
  ('parameter', 'sqlite_autoindex_parameter_1', '10000 1 1'), ('writer', 'sqlite_autoindex_writer_1', '100 20 2 1'),
  ('change_row', 'change_row', '24000000 100000 100 2 1'), ${blockStatistics}, ('minute', 'minute', '10000000 1000 1'), ('hour', 'hour', '1000000 100 1');
ANALYZE sqlite_schema;`;
