// The tables of audit.db: who did what, and the log. People read them with any tool.

/**
 * There is no index by address: it would cost five times as much as the rows, and a million of them are read through in 40 ms.
 * `time` is in milliseconds since 1970; `before` and `after` are numbers, texts, or 0 and 1.
 */
export const tables = `
  CREATE TABLE IF NOT EXISTS entry (
    n INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind TEXT NOT NULL, user TEXT NOT NULL, address TEXT NOT NULL DEFAULT '',
    before ANY, after ANY, count INTEGER NOT NULL DEFAULT 1, cause TEXT NOT NULL DEFAULT ''
  ) STRICT;
  CREATE INDEX IF NOT EXISTS entry_by_time ON entry (time);
  CREATE TABLE IF NOT EXISTS log (
    n INTEGER PRIMARY KEY, time INTEGER NOT NULL, level TEXT NOT NULL, connection TEXT, rule TEXT, message TEXT NOT NULL
  ) STRICT;`;
