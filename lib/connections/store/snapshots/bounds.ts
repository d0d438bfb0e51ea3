// What snapshots may cost.

/** How many selections a store has. */
export const maxSelections = 64;
/** How many snapshots a selection has. */
export const maxSnapshots = 100;
/** How many parameters a snapshot has. */
export const maxParameters = 20_000;
/** How large a snapshot is, in bytes. */
export const maxSnapshotBytes = 4 * 1024 * 1024;
/** How large all snapshots of a store together are, in bytes; and at most a quarter of the database. */
export const maxBytesOfAll = 64 * 1024 * 1024;
/** How long a name is, in characters. */
export const maxNameLength = 64;
