// The tables of the history, `history.db`, as people and readers find them. Times are in milliseconds since 1970.

/** How long the spans are that changes are put together to. */
export const minuteMs = 60_000;
export const hourMs = 3_600_000;

/** Texts are cut at so many UTF-16 code units: the history tells what happened, it is no archive of documents. */
export const maxTextUnits = 1024;

/** The reason of a gap behind which a value is not known until something is recorded of it. */
export const downReason = 'the hub was down';

/** Tables that an earlier version did not have: a database gets them when it is opened to write. */
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
CREATE TABLE IF NOT EXISTS hour_age (hour INTEGER PRIMARY KEY, ran INTEGER NOT NULL) STRICT;`;

/**
 * - `change`: one row for each recorded change, sorted by hour first, so that what comes and what goes stays in few places. The
 *   value is a number, a text, 0 or 1; 1 for a fire of a trigger. `source` wrote the first change of the chain of causes: it is who
 *   did it. The cause is the key of another row, where that one is recorded.
 * - `minute`, `hour`: for numbers and booleans the least, the greatest, the time-weighted mean over the part of the span in which
 *   the value was known, and the value at its end; for texts and triggers only the count of changes. A span without a change has
 *   no row: the value held. The row of a span is written when the span is over.
 * - `gap`: nothing was recorded from `start` to `end`: the hub was down, the disk was full, too many changes came. What changed in it
 *   and is known afterwards has a row in `change`.
 * - `mark`: one row. Everything before `seen` is recorded; all spans that began before `minutes` and `hours` have their rows.
 * - `jump`: the clock went from `before` to `after`: it was set, or the machine slept. Changes with a `revision` of at least `sequence`
 *   came after it, and the gaps up to the row `gap` before it. Where it was set back a time comes twice: what came later holds. From
 *   then on starts of the hub are there as well, with `start` 1.
 * - `run`: one row. The run of the hub that was recorded last, what is added to its revisions, so that they grow over restarts, and
 *   the greatest one.
 * - `age`, `hour_age`: the clock by which ages are judged, as `KeptAge` says, and what it showed when an hour was last written to.
 * - `event`: all of it by name, for people.
 * - `sqlite_stat1`, a table of SQLite, says how large tables become: so it finds the rows of one address hour by hour.
 */
export const historyTables = `
CREATE TABLE parameter (
  id INTEGER PRIMARY KEY, address TEXT NOT NULL, type TEXT NOT NULL, UNIQUE (address, type)
) STRICT;
CREATE TABLE writer (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL DEFAULT '', UNIQUE (kind, name, file)
) STRICT;
CREATE TABLE change (
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
CREATE VIEW event AS
  SELECT change.hour AS hour, parameter.address AS address, parameter.type AS type, change.time AS time,
    change.revision AS revision, change.value AS value, writer.kind || ' ' || writer.name AS writer,
    source.kind || ' ' || source.name AS source, cause.address AS cause, change.cause_time AS cause_time
  FROM change
  JOIN parameter ON parameter.id = change.parameter
  JOIN writer ON writer.id = change.writer
  JOIN writer AS source ON source.id = change.source
  LEFT JOIN parameter AS cause ON cause.id = change.cause_parameter;
${laterTables}
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES
  ('parameter', 'sqlite_autoindex_parameter_1', '10000 1 1'), ('writer', 'sqlite_autoindex_writer_1', '100 20 2 1'),
  ('change', 'change', '24000000 100000 100 2 1'), ('minute', 'minute', '10000000 1000 1'), ('hour', 'hour', '1000000 100 1');
ANALYZE sqlite_schema;`;
