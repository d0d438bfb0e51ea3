// The tables of audit.db: who did what, and the log. People read them with any tool.

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
export const maxTextUnits = 500;
/** How many entries of the log are kept. */
export const keptLogEntries = 10_000;
/** How many of them the hub is given at its start: so many it shows. */
export const readLogEntries = 2000;
