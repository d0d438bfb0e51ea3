// The data that outlives a run of the hub: parameter values and the connections' work in progress. A store reads and writes this data, the
// hub distributes it before any connection is running, and the connections report their work in progress.
import type { Observable } from 'rxjs';
import type { Change, Parameter } from '../model/parameter.ts';
import type { AuditKind } from '../model/reports/audit-entry.ts';
import type { LogEntry } from '../model/reports/log-entry.ts';
import type { Snapshot, SnapshotSelection } from '../model/reports/snapshot.ts';
import type { Durations } from '../model/time/duration.ts';
import type { Value, ValueType } from '../model/value.ts';

/** A stored value. `time` is the time at which the value was set, in milliseconds since 1970. */
export interface KeptValue {
  readonly address: string;
  readonly value: Value;
  readonly time: number;
  /** Reads the change that set the value, together with its causes. Returns undefined if the change is unknown. */
  readonly readCause: () => Change | undefined;
}

/** An item in a connection's work in progress: JSON data under a name that the connection has chosen. */
export interface KeptMemory {
  readonly connection: string;
  readonly name: string;
  readonly memory: unknown;
}

/** The log entries from earlier runs of the hub. */
export interface KeptLog {
  /** The identifier of the sequence in which the entries are numbered. */
  readonly count: string;
  /** The newest log entries from earlier runs, oldest first. */
  readonly entries: readonly LogEntry[];
  /** The time at which the last run ended, in milliseconds since 1970, as far as it is known. */
  readonly endedAt: number;
  readonly isClean: boolean;
}

/** The data that a store has kept from an earlier run of the hub. */
export interface Kept {
  readonly values: readonly KeptValue[];
  readonly memories: readonly KeptMemory[];
  /**
   * The log from earlier runs, for which the start of the hub does not wait. Resolves to undefined if there is no log or after a timeout.
   * Never rejects.
   */
  readonly log?: Promise<KeptLog | undefined>;
  /** The value of `left` for the running connection, such as an open database. */
  readonly left?: unknown;
}

/** A parameter that a reload moves to another address, where it keeps its value and its history. */
export interface Rename {
  readonly from: string;
  readonly to: string;
}

/** An action on the hub itself rather than a change to a parameter, such as switching a rule, reloading flow files or setting the clock. */
export interface AuditEvent {
  readonly kind: 'rule' | 'connection' | 'reload' | 'sign-in' | 'clock' | 'lost' | 'stop';
  /** The user or client that performed the action, such as `api 10.0.0.3`. */
  readonly user: string;
  /** The name of the rule or connection; '' if the action concerns the whole hub. */
  readonly address: string;
  readonly before?: Value | undefined;
  readonly after?: Value | undefined;
  /** A sentence with details about the action. */
  readonly cause: string;
  /** The number of actions that this event represents. The default is 1. */
  readonly count?: number | undefined;
}

/**
 * The work in progress of a connection. A connection of an external type has a memory only in a hub with a store. Any other connection also
 * passes its memory to its copy in shadow.
 */
export interface Memory {
  /** Whether a store currently saves the work. If it does not, each item needs to be reported only once. */
  readonly isKept: boolean;
  /** The items that were in progress when the hub ended, keyed by name. Empty unless the connection starts together with the hub. */
  readonly recalled: ReadonlyMap<string, unknown>;
  /**
   * Reports that an item has changed. `read` is called later, when the item is stored. It returns JSON data, or undefined if the item must
   * be deleted.
   */
  changed(name: string, read: () => unknown): void;
  /** Converts a time on the connection's clock to a time of day, in milliseconds since 1970. */
  timeOf(clockMs: number): number;
  /** Converts a time of day, in milliseconds since 1970, to a time on the connection's clock. */
  clockOf(timeMs: number): number;
}

/** The hub from the point of view of a store, apart from the parameters. */
export interface PersistencePort {
  /**
   * Returns whether a store may keep the value of a parameter: clients or rules write it, and nothing outside the hub has a better value.
   */
  isKept(parameter: Parameter): boolean;
  /**
   * Returns whether a change came from outside the hub: from a client, from a connection such as a keyboard, or from another hub, including
   * its rules. The following do not count: the first report from a device; default, computed and restored values; and changes by timers.
   */
  isFromOutside(change: Change): boolean;
  /** Emits the actions on the hub itself. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly auditEvents$: Observable<AuditEvent>;
  /** Reports an action on the hub itself to the store. */
  note(auditEvent: AuditEvent): void;
  /** Emits the renamed parameters, before they are declared. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly renamed$: Observable<Rename>;
  /** Returns the items of work in progress that have changed since the last call. */
  takeMemories(): readonly KeptMemory[];
  /** Marks all items of work in progress as changed, for example before they are stored for the first time. */
  renewMemories(): void;
  /**
   * Restores the data from a store that another hub had open before. Must be called whenever the store has been opened. Values that are
   * newer than this hub's values become changes, but no rule runs. Returns false if no gateway is waiting for the data, which is then
   * discarded.
   */
  giveBack(kept: Pick<Kept, 'values' | 'memories'>, store: string): boolean;
  /** Returns the files that the installation consists of. */
  installation(): Installation;
  /** The queries that the running store answers; undefined if no store is running. */
  readonly archive: Archive | undefined;
  /** Adds the queries that a part of a store answers while it is running. Returns a function that removes these queries. */
  offer(part: Archive): () => void;
}

// The queries about the past that a running store answers. Gateways use these queries for their clients.

/** The queries that the parts of a store answer. A query is missing if no running part answers it. */
export interface Archive {
  readonly storage?: StorageArchive;
  readonly values?: ValuesArchive;
  readonly history?: RecordedArchive;
  readonly audit?: RecordedArchive;
  readonly past?: PastArchive;
  readonly snapshots?: SnapshotArchive;
}

/** Access to the files of a store. */
interface StorageArchive {
  readonly folder: string;
  /** The path of the store's folder in a form suitable for display; `***` if the setting is a secret. */
  readonly shownFolder: string;
  /** The maximum disk space for the databases, in bytes. */
  readonly maxBytes: number;
  /**
   * Creates a backup of the current state. Errors: `conflict` while another backup is being created; `unavailable`, which states the
   * reason.
   */
  backUp(): Promise<Backup>;
}

/** A backup that is being created, as a tar archive. */
export interface Backup {
  /** The size of the archive, in bytes. */
  readonly bytes: number;
  /** Returns the next part of the archive, or undefined if the archive is complete. Errors: `unavailable`. */
  next(): Promise<Uint8Array | undefined>;
  /** Deletes the temporary files of the backup. Must always be called. Never rejects. */
  end(): Promise<void>;
}

/** A part of a store that records changes or other events. */
interface WritingArchive {
  status(): WritingStatus;
}

export interface WritingStatus {
  /** The number of rows written per second, averaged over the last ten seconds. */
  readonly perSecond: number;
  /** The age of the oldest change that is not on disk yet, in milliseconds; 0 if all changes are on disk. */
  readonly lagMs: number;
  /** The number of changes that could not be recorded since the hub started. */
  readonly lost: number;
  /** The time of the oldest row, in milliseconds since 1970; undefined if there are no rows or the time is unknown. */
  readonly oldest?: number | undefined;
}

export interface ValuesArchive extends WritingArchive {
  /** The time that each transaction, including failed transactions, took until its writes were on disk. */
  readonly flushDurations: Durations;
  /** Resolves when all changes so far are on disk, or after two seconds at the latest. */
  flush(): Promise<void>;
  /** Returns whether a parameter's value is not kept because the writer of the value has used up its share of the space. */
  isLeftOut(parameter: Parameter): boolean;
}

/** A part of a store whose database can be read while it is being written to. */
export interface RecordedArchive extends WritingArchive {
  /** Resolves when all changes so far can be read, or after two seconds at the latest. */
  flush(): Promise<void>;
  /**
   * Checks a database that a reader has reported as damaged. If the damage is confirmed, the database is set aside and replaced by a new
   * database.
   */
  check(): Promise<void>;
}

export interface SnapshotArchive {
  /** The Connection ID of the store whose parameters save and recall snapshots. */
  readonly connection: string;
  /** Returns all selections, each with its snapshots. */
  list(): readonly SnapshotSelection[];
  /** Compares a snapshot with the current values. Errors: `not-found`, which suggests the most similar name. */
  compare(selection: string, name: string): Snapshot;
}

/** Answers queries about the past. The answers are encoded and can be sent to clients as they are. */
export interface PastArchive {
  /**
   * Answers a query. `asker` identifies the client, because clients take turns. A query is rejected if it is no longer wanted when its turn
   * comes. Errors: `unknown-parameter`, which suggests the most similar address; `unavailable` if there are too many queries, the query
   * takes too long, or the database cannot be read.
   */
  ask(question: PastQuestion, asker: string, isWanted: () => boolean): Promise<ReadyAnswer>;
}

/** An encoded answer and its ETag, which contains no quotation marks. */
export interface ReadyAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

export type PastQuestion = HistoryQuestion | EventsQuestion | AuditQuestion;

/** The current value type of the parameter; undefined if the parameter no longer exists. */
export interface AskedParameter {
  readonly address: string;
  readonly type: ValueType | undefined;
  /** Whether the client may not see the parameter. In this case, the answer is the same as for an unknown parameter. */
  readonly isHidden?: boolean;
}

/** The addresses that a client may see, as globs. `deny` takes precedence. */
export interface Sight {
  readonly read: readonly string[];
  readonly deny: readonly string[];
}

/** A query for the histories of parameters. Times are in milliseconds since 1970. */
export interface HistoryQuestion {
  readonly ask: 'history';
  /** The addresses that the client may see; undefined stands for all addresses. */
  readonly sight?: Sight | undefined;
  /** The parameters. Unknown parameters are skipped. If there is only one parameter, an unknown parameter is an error. */
  readonly parameters: readonly AskedParameter[];
  /** Whether the answer is a list. `hasMore` means that `parameters` contains only the first part of the list. */
  readonly list: { readonly hasMore: boolean } | undefined;
  readonly from: number;
  readonly to: number;
  /** The approximate number of points in each history. */
  readonly points: number;
  readonly format: 'json' | 'csv';
}

/** The position of a change among all changes to a parameter. */
export interface EventPlace {
  readonly time: number;
  readonly revision: number;
}

export interface EventsQuestion {
  readonly ask: 'events';
  readonly parameter: AskedParameter;
  /** The addresses that the client may see; undefined stands for all addresses. */
  readonly sight?: Sight | undefined;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  /** Only changes before this position are returned. Undefined stands for the position after the newest change. */
  readonly before: EventPlace | undefined;
}

/** A query for audit entries. Times are in milliseconds since 1970. */
export interface AuditQuestion {
  readonly ask: 'audit';
  readonly from: number;
  readonly to: number;
  /** A glob that an entry's address must match. */
  readonly address?: string | undefined;
  /** A part of the user's name. Case is ignored. */
  readonly user?: string | undefined;
  readonly kind?: AuditKind | undefined;
  /** A part of the address, the user's name, a value or the cause. Case is ignored. */
  readonly text?: string | undefined;
  /** Only entries with a lower number than this number are returned. */
  readonly before?: number | undefined;
  readonly limit: number;
}

// The files of an installation: the files that a backup contains in addition to the databases, and the files that must not be served

/** The flow files of an installation, and the files that their settings name. */
export interface Installation {
  /** The folder in which the hub was started. */
  readonly startedIn: string;
  /** The flow files and flow folders, as specified when the hub was started. */
  readonly paths: readonly string[];
  readonly files: readonly NamedFile[];
  /** The files that must never be served, identified by absolute paths. */
  readonly privateFiles: readonly PrivateFiles[];
}

/**
 * A file that must not be served. With `names`, the path is a folder, and all files in this folder whose names match must not be served.
 * With `isDeep`, files in subfolders are included.
 */
export interface PrivateFiles {
  readonly path: string;
  readonly names?: RegExp;
  readonly isDeep?: boolean;
}

/** A file that a setting names, or a folder, which stands for all files in it. The file or folder need not exist. */
export interface NamedFile {
  readonly path: string;
  /** Whether the setting contains an absolute path. A copy of the installation would then use the same file. */
  readonly isAbsolute: boolean;
}
