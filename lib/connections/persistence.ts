// The data that outlives the hub: values, and the work in progress of connections. A store reads and writes it; the hub distributes it
// before anything runs; connections report their work in progress.
import type { Observable } from 'rxjs';
import type { Change, Parameter } from '../model/parameter.ts';
import type { AuditKind } from '../model/reports/audit-entry.ts';
import type { LogEntry } from '../model/reports/log-entry.ts';
import type { Snapshot, SnapshotSelection } from '../model/reports/snapshot.ts';
import type { Durations } from '../model/time/duration.ts';
import type { Value, ValueType } from '../model/value.ts';

/** A stored value; `time` is when it was set, in milliseconds since 1970. */
export interface KeptValue {
  readonly address: string;
  readonly value: Value;
  readonly time: number;
  /** Reads the change that set the value, with its causes; undefined if it is not known. */
  readonly readCause: () => Change | undefined;
}

/** An item of a connection's work in progress, under a name chosen by the connection, as JSON data. */
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
  /** The time at which the last run ended, if known. */
  readonly endedAt: number;
  readonly isClean: boolean;
}

/** The data that a store has kept from an earlier run of the hub. */
export interface Kept {
  readonly values: readonly KeptValue[];
  readonly memories: readonly KeptMemory[];
  /** The log of earlier runs; the hub starts without it. Resolves to undefined without a log, and after a timeout; never rejects. */
  readonly log?: Promise<KeptLog | undefined>;
  /** The value of `left` for the running connection, such as an open database. */
  readonly left?: unknown;
}

/** An action on the hub itself, as opposed to a change of parameters: a rule was switched, flow files were reloaded, the clock was set. */
export interface AuditEvent {
  readonly kind: 'rule' | 'connection' | 'reload' | 'sign-in' | 'clock' | 'lost' | 'stop';
  /** The actor, such as the client `api 10.0.0.3`. */
  readonly user: string;
  /** The name of the rule or connection; empty means the hub. */
  readonly address: string;
  readonly before?: Value | undefined;
  readonly after?: Value | undefined;
  /** A sentence with details. */
  readonly cause: string;
  /** The number of events that this one represents; omitted: one. */
  readonly count?: number | undefined;
}

/**
 * The work in progress of one connection. A connection of an external type has one only in a hub with a store; a connection of any other
 * type also passes it to its copy in shadow.
 */
export interface Memory {
  /** Whether a store keeps it now: otherwise, an item has to be reported only once. */
  readonly isKept: boolean;
  /** The work that was in progress when the hub ended, by name; empty unless the connection starts with the hub. */
  readonly recalled: ReadonlyMap<string, unknown>;
  /**
   * Reports that an item has changed. `read` is called later, when the item is stored, and returns JSON data; undefined means forget the
   * item.
   */
  changed(name: string, read: () => unknown): void;
  /** Converts a moment of the connection's clock to the time of day, in milliseconds since 1970. */
  timeOf(clockMs: number): number;
  /** Converts a time of day to a moment of the connection's clock. */
  clockOf(timeMs: number): number;
}

/** The hub as seen by a store, apart from its parameters. */
export interface PersistencePort {
  /** Whether a value of the parameter may be kept: others write it, and nothing outside the hub has a better value. */
  isKept(parameter: Parameter): boolean;
  /**
   * Whether a change came from outside the hub: from a client, from a connection such as a keyboard, or from another hub, including its
   * rules. The following are not from outside: the first report of a device; default, computed and restored values; and changes by timers.
   */
  isFromOutside(change: Change): boolean;
  /** Actions on the hub itself. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly auditEvents$: Observable<AuditEvent>;
  /** Reports an action on the hub itself to the store. */
  note(auditEvent: AuditEvent): void;
  /** Returns the changes of the work in progress since the last call. */
  takeMemories(): readonly KeptMemory[];
  /** Marks everything in progress as changed, for example when it is stored for the first time. */
  renewMemories(): void;
  /**
   * Restores the data of a store that another hub had open before. Call it whenever the store has been opened. Values that are newer than
   * those of this hub become changes while no rule runs. Returns false if no gateway waits for the data, which is then dropped.
   */
  giveBack(kept: Pick<Kept, 'values' | 'memories'>, store: string): boolean;
  /** The files that make up the installation. */
  installation(): Installation;
  /** The queries that the running store answers; undefined if no store runs. */
  readonly archive: Archive | undefined;
  /** Adds the queries that a part of a store answers while it runs; returns a function that removes them. */
  offer(part: Archive): () => void;
}

// The queries about the past that a running store answers. Gateways use them to answer their clients.

/** Each part of a store provides its queries; a query is omitted if no running part provides it. */
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
  /** The folder as displayed: `***` if the setting is a secret. */
  readonly shownFolder: string;
  /** The maximum disk space of the databases. */
  readonly maxBytes: number;
  /** Makes a backup of the current state. Errors: `conflict` while another one is being made; `unavailable` with the reason. */
  backUp(): Promise<Backup>;
}

/** A backup in progress, a tar archive. */
export interface Backup {
  /** The length. */
  readonly bytes: number;
  /** Returns the next piece; undefined if it is complete. Errors: `unavailable`. */
  next(): Promise<Uint8Array | undefined>;
  /** Removes its temporary files. Always call it. Never rejects. */
  end(): Promise<void>;
}

/** A part that records events. */
interface WritingArchive {
  status(): WritingStatus;
}

export interface WritingStatus {
  /** Rows written per second, over the last ten seconds. */
  readonly perSecond: number;
  /** The age of the oldest change that is not on disk yet, in milliseconds; 0 if all are on disk. */
  readonly lagMs: number;
  /** The number of changes that were not recorded since the hub started. */
  readonly lost: number;
  /** The time of the oldest row, in milliseconds since 1970; undefined if there is none, or it is not known. */
  readonly oldest?: number | undefined;
}

export interface ValuesArchive extends WritingArchive {
  /** How long it took until writes were on disk, per transaction, including failed ones. */
  readonly flushDurations: Durations;
  /** Resolves when all changes up to now are on disk, or after two seconds. */
  flush(): Promise<void>;
  /** Whether the value of a parameter is not kept because its writer has used up its share of the space. */
  isLeftOut(parameter: Parameter): boolean;
}

/** A part whose database is read while it writes. */
export interface RecordedArchive extends WritingArchive {
  /** Resolves when all changes up to now can be read, or after two seconds. */
  flush(): Promise<void>;
  /**
   * Checks a database that a reader has reported as damaged. If this is confirmed, the database is set aside and replaced with a new one.
   */
  check(): Promise<void>;
}

export interface SnapshotArchive {
  /** The Connection ID of the store, whose parameters save and recall snapshots. */
  readonly connection: string;
  /** All selections with their snapshots. */
  list(): readonly SnapshotSelection[];
  /** Compares a snapshot with the current values. Errors: `not-found` with the nearest name. */
  compare(selection: string, name: string): Snapshot;
}

/** Answers queries about the past, ready to send. */
export interface PastArchive {
  /**
   * `asker` identifies the client: clients take turns. A query that is no longer wanted when its turn comes is refused. Errors:
   * `unknown-parameter` with the nearest address; `unavailable` if there are too many queries, the query takes too long, or the database
   * cannot be read.
   */
  ask(question: PastQuestion, asker: string, isWanted: () => boolean): Promise<ReadyAnswer>;
}

/** The bytes of an answer, and their ETag without quotes. */
export interface ReadyAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

export type PastQuestion = HistoryQuestion | EventsQuestion | AuditQuestion;

/** The type known to the hub; undefined if the parameter no longer exists. */
export interface AskedParameter {
  readonly address: string;
  readonly type: ValueType | undefined;
  /** true: the client may not see it, and gets the same answer as for an unknown parameter. */
  readonly isHidden?: boolean;
}

/** The addresses that a client may see, as globs; `deny` takes precedence. */
export interface Sight {
  readonly read: readonly string[];
  readonly deny: readonly string[];
}

/** Times are milliseconds since 1970. */
export interface HistoryQuestion {
  readonly ask: 'history';
  /** undefined: the client may see everything. */
  readonly sight?: Sight | undefined;
  /** Unknown parameters are skipped; a query whose only parameter is unknown is an error. */
  readonly parameters: readonly AskedParameter[];
  /** Whether the answer is a list; with `hasMore`, `parameters` is only the first part of it. */
  readonly list: { readonly hasMore: boolean } | undefined;
  readonly from: number;
  readonly to: number;
  /** The approximate number of points of each history. */
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
  /** undefined: the client may see everything. */
  readonly sight?: Sight | undefined;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  /** Only changes before this one; undefined means the newest. */
  readonly before: EventPlace | undefined;
}

/** A query of the audit. Times are milliseconds since 1970. */
export interface AuditQuestion {
  readonly ask: 'audit';
  readonly from: number;
  readonly to: number;
  /** A glob of addresses. */
  readonly address?: string | undefined;
  /** Part of the user's name, ignoring case. */
  readonly user?: string | undefined;
  readonly kind?: AuditKind | undefined;
  /** Part of the address, the user, a value or the cause, ignoring case. */
  readonly text?: string | undefined;
  /** Only entries with a lower number. */
  readonly before?: number | undefined;
  readonly limit: number;
}

// The files of an installation: those that a backup contains besides the databases, and those that must not be served.

/** Flow files, and the files that their settings name. */
export interface Installation {
  /** The folder in which the hub was started. */
  readonly startedIn: string;
  /** Flow files and folders, as given at the start. */
  readonly paths: readonly string[];
  readonly files: readonly NamedFile[];
  /** Files that are never served, by full path. */
  readonly privateFiles: readonly PrivateFiles[];
}

/** A file; with `names` the files in a folder with matching names, and with `isDeep` also those in folders below it. */
export interface PrivateFiles {
  readonly path: string;
  readonly names?: RegExp;
  readonly isDeep?: boolean;
}

/** A file, or a folder that stands for its files; it may not exist. */
export interface NamedFile {
  readonly path: string;
  /** Whether a setting names it by an absolute path, so a copy of the installation would use the same file. */
  readonly isAbsolute: boolean;
}
