// The data that outlives the hub: values and the connections' work in progress. A store reads and writes this data, the hub distributes it
// before any connection is running, and connections report their work in progress.
import type { Observable } from 'rxjs';
import type { Change, Parameter } from '../model/parameter.ts';
import type { AuditKind } from '../model/reports/audit-entry.ts';
import type { LogEntry } from '../model/reports/log-entry.ts';
import type { Snapshot, SnapshotSelection } from '../model/reports/snapshot.ts';
import type { Durations } from '../model/time/duration.ts';
import type { Value, ValueType } from '../model/value.ts';

/** A stored value; `time` is when the value was set, in milliseconds since 1970. */
export interface KeptValue {
  readonly address: string;
  readonly value: Value;
  readonly time: number;
  /** Reads the change that set the value, with its causes. Returns undefined if the change is not known. */
  readonly readCause: () => Change | undefined;
}

/** An item in a connection's work in progress, as JSON data under a name that the connection has chosen. */
export interface KeptMemory {
  readonly connection: string;
  readonly name: string;
  readonly memory: unknown;
}

/** The log of earlier runs of the hub. */
export interface KeptLog {
  /** Identifies the numbering of the entries. */
  readonly count: string;
  /** The newest entries, oldest first. */
  readonly entries: readonly LogEntry[];
  /** When the last run ended, if known. */
  readonly endedAt: number;
  readonly isClean: boolean;
}

/** The data that a store has kept from an earlier run of the hub. */
export interface Kept {
  readonly values: readonly KeptValue[];
  readonly memories: readonly KeptMemory[];
  /**
   * The log of earlier runs, without which the hub starts. Resolves to undefined if there is no log, and after a timeout; never rejects.
   */
  readonly log?: Promise<KeptLog | undefined>;
  /** The value of `left` for the running connection, such as an open database. */
  readonly left?: unknown;
}

/**
 * An action on the hub itself, as opposed to a change of a parameter, such as switching a rule, reloading flow files or setting the clock.
 */
export interface AuditEvent {
  readonly kind: 'rule' | 'connection' | 'reload' | 'sign-in' | 'clock' | 'lost' | 'stop';
  /** The actor, such as the client `api 10.0.0.3`. */
  readonly user: string;
  /** The name of the rule or connection; empty if the event concerns the hub. */
  readonly address: string;
  readonly before?: Value | undefined;
  readonly after?: Value | undefined;
  /** A sentence with details. */
  readonly cause: string;
  /** The number of events that this event represents; 1 if omitted. */
  readonly count?: number | undefined;
}

/**
 * The work in progress of one connection. A connection of an external type has a memory only in a hub with a store; a connection of any
 * other type also passes its memory to its copy in shadow.
 */
export interface Memory {
  /** Whether a store currently keeps the work. If it does not, each item has to be reported only once. */
  readonly isKept: boolean;
  /** The work that was in progress when the hub ended, by name; empty unless the connection starts together with the hub. */
  readonly recalled: ReadonlyMap<string, unknown>;
  /**
   * Reports that an item has changed. `read` is called later, when the item is stored, and returns JSON data, or undefined if the item must
   * be forgotten.
   */
  changed(name: string, read: () => unknown): void;
  /** Converts a time on the connection's clock to the time of day, in milliseconds since 1970. */
  timeOf(clockMs: number): number;
  /** Converts a time of day to a time on the connection's clock. */
  clockOf(timeMs: number): number;
}

/** What a store sees of the hub, apart from the parameters. */
export interface PersistencePort {
  /** Returns whether the parameter's value may be kept: clients or rules write it, and nothing outside the hub has a better value. */
  isKept(parameter: Parameter): boolean;
  /**
   * Returns whether a change came from outside the hub: from a client, from a connection such as a keyboard, or from another hub, including
   * its rules. The following do not count: a device's first report; default, computed and restored values; and changes by timers.
   */
  isFromOutside(change: Change): boolean;
  /** The actions on the hub itself. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly auditEvents$: Observable<AuditEvent>;
  /** Reports an action on the hub itself to the store. */
  note(auditEvent: AuditEvent): void;
  /** Returns the changes in the work in progress since the last call. */
  takeMemories(): readonly KeptMemory[];
  /** Marks all work in progress as changed, for example before it is stored for the first time. */
  renewMemories(): void;
  /**
   * Restores the data from a store that another hub had open before. Call `giveBack` whenever the store has been opened. Values that are
   * newer than this hub's values become changes, but no rule runs. Returns false if no gateway is waiting for the data, which is then
   * dropped.
   */
  giveBack(kept: Pick<Kept, 'values' | 'memories'>, store: string): boolean;
  /** Returns the files that make up the installation. */
  installation(): Installation;
  /** The queries that the running store answers; undefined if no store is running. */
  readonly archive: Archive | undefined;
  /** Adds the queries that part of a store answers while it is running. Returns a function that removes them. */
  offer(part: Archive): () => void;
}

// The queries about the past that a running store answers. Gateways use these queries to answer their clients.

/** The queries that the store's parts provide. A query is omitted if no running part provides it. */
export interface Archive {
  readonly storage?: StorageArchive;
  readonly values?: ValuesArchive;
  readonly history?: RecordedArchive;
  readonly audit?: RecordedArchive;
  readonly past?: PastArchive;
  readonly snapshots?: SnapshotArchive;
}

/** The files of a store as a whole. */
interface StorageArchive {
  readonly folder: string;
  /** The folder as displayed; `***` if the setting is a secret. */
  readonly shownFolder: string;
  /** The maximum disk space of the databases. */
  readonly maxBytes: number;
  /** Makes a backup of the current state. Errors: `conflict` while another backup is being made; `unavailable` with the reason. */
  backUp(): Promise<Backup>;
}

/** A backup in progress, which is a tar archive. */
export interface Backup {
  /** The size of the archive. */
  readonly bytes: number;
  /** Returns the next piece, or undefined if the backup is complete. Errors: `unavailable`. */
  next(): Promise<Uint8Array | undefined>;
  /** Removes the backup's temporary files. Must always be called. Never rejects. */
  end(): Promise<void>;
}

/** A part of a store that records events. */
interface WritingArchive {
  status(): WritingStatus;
}

export interface WritingStatus {
  /** The number of rows written per second, over the last ten seconds. */
  readonly perSecond: number;
  /** The age of the oldest change that is not on disk yet, in milliseconds; 0 if all changes are on disk. */
  readonly lagMs: number;
  /** The number of changes that were not recorded since the hub started. */
  readonly lost: number;
  /** The time of the oldest row, in milliseconds since 1970; undefined if there are no rows or the time is not known. */
  readonly oldest?: number | undefined;
}

export interface ValuesArchive extends WritingArchive {
  /** The time until writes were on disk, per transaction, including failed transactions. */
  readonly flushDurations: Durations;
  /** Resolves when all changes so far are on disk, or after two seconds. */
  flush(): Promise<void>;
  /** Returns whether a parameter's value is not kept because its writer has used up its share of the space. */
  isLeftOut(parameter: Parameter): boolean;
}

/** A part of a store whose database is read while it is being written. */
export interface RecordedArchive extends WritingArchive {
  /** Resolves when all changes so far can be read, or after two seconds. */
  flush(): Promise<void>;
  /**
   * Checks a database that a reader has reported as damaged. If the damage is confirmed, the database is set aside and replaced with a new
   * one.
   */
  check(): Promise<void>;
}

export interface SnapshotArchive {
  /** The Connection ID of the store, whose parameters save and recall snapshots. */
  readonly connection: string;
  /** Returns all selections with their snapshots. */
  list(): readonly SnapshotSelection[];
  /** Compares a snapshot with the current values. Errors: `not-found` with the nearest name. */
  compare(selection: string, name: string): Snapshot;
}

/** Answers queries about the past. The answers are ready to send. */
export interface PastArchive {
  /**
   * Answers a query. `asker` identifies the client, because clients take turns. A query that is no longer wanted when its turn comes is
   * rejected. Errors: `unknown-parameter` with the nearest address; `unavailable` if there are too many queries, the query takes too long,
   * or the database cannot be read.
   */
  ask(question: PastQuestion, asker: string, isWanted: () => boolean): Promise<ReadyAnswer>;
}

/** The bytes of an answer, with the ETag without quotes. */
export interface ReadyAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

export type PastQuestion = HistoryQuestion | EventsQuestion | AuditQuestion;

/** The type known to the hub; undefined if the parameter no longer exists. */
export interface AskedParameter {
  readonly address: string;
  readonly type: ValueType | undefined;
  /** Whether the client may not see the parameter and gets the same answer as for an unknown parameter. */
  readonly isHidden?: boolean;
}

/** The addresses that a client may see, as globs; `deny` takes precedence. */
export interface Sight {
  readonly read: readonly string[];
  readonly deny: readonly string[];
}

/** A query for histories. Times are in milliseconds since 1970. */
export interface HistoryQuestion {
  readonly ask: 'history';
  /** What the client may see; undefined means everything. */
  readonly sight?: Sight | undefined;
  /** The parameters. Unknown parameters are skipped, unless the only parameter is unknown, which is an error. */
  readonly parameters: readonly AskedParameter[];
  /** Whether the answer is a list; with `hasMore`, `parameters` contains only the first part. */
  readonly list: { readonly hasMore: boolean } | undefined;
  readonly from: number;
  readonly to: number;
  /** The approximate number of points in each history. */
  readonly points: number;
  readonly format: 'json' | 'csv';
}

/** The position of a change among all changes of a parameter. */
export interface EventPlace {
  readonly time: number;
  readonly revision: number;
}

export interface EventsQuestion {
  readonly ask: 'events';
  readonly parameter: AskedParameter;
  /** What the client may see; undefined means everything. */
  readonly sight?: Sight | undefined;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  /** Only changes before this position are returned; undefined means the newest changes. */
  readonly before: EventPlace | undefined;
}

/** A query for audit entries. Times are in milliseconds since 1970. */
export interface AuditQuestion {
  readonly ask: 'audit';
  readonly from: number;
  readonly to: number;
  /** A glob that matches addresses. */
  readonly address?: string | undefined;
  /** Part of the user's name, ignoring case. */
  readonly user?: string | undefined;
  readonly kind?: AuditKind | undefined;
  /** A part of the address, the user, a value or the cause, ignoring case. */
  readonly text?: string | undefined;
  /** Only entries with a lower number are returned. */
  readonly before?: number | undefined;
  readonly limit: number;
}

// The files of an installation: files that a backup contains in addition to the databases, and files that must not be served.

/** Flow files, and the files that their settings name. */
export interface Installation {
  /** The folder in which the hub was started. */
  readonly startedIn: string;
  /** Flow files and folders, as specified at the start. */
  readonly paths: readonly string[];
  readonly files: readonly NamedFile[];
  /** The files that must never be served, by absolute path. */
  readonly privateFiles: readonly PrivateFiles[];
}

/** A file or, with `names`, the files in a folder whose names match; with `isDeep`, also the matching files in subfolders. */
export interface PrivateFiles {
  readonly path: string;
  readonly names?: RegExp;
  readonly isDeep?: boolean;
}

/** A file, or a folder that stands for all its files. It need not exist. */
export interface NamedFile {
  readonly path: string;
  /** Whether a setting names the file by an absolute path, so that a copy of the installation would use the same file. */
  readonly isAbsolute: boolean;
}
