// What outlives the hub: values, and what connections have under way. A store reads and writes it, the hub hands it out before
// anything runs, and connections tell what is under way.
import type { Observable } from 'rxjs';
import type { Change, Parameter } from '../model/parameter.ts';
import type { AuditKind } from '../model/reports/audit-entry.ts';
import type { LogEntry } from '../model/reports/log-entry.ts';
import type { Snapshot, SnapshotSelection } from '../model/reports/snapshot.ts';
import type { Durations } from '../model/time/duration.ts';
import type { Value, ValueType } from '../model/value.ts';

/** A value as it was kept; `time` is when it was set, in milliseconds since 1970. */
export interface KeptValue {
  readonly address: string;
  readonly value: Value;
  readonly time: number;
  /** Reads the change that has set it, with what had led to that; undefined: it is not known. */
  readonly readCause: () => Change | undefined;
}

/** Something that a connection had under way, by a name of its own, as data for JSON. */
export interface KeptMemory {
  readonly connection: string;
  readonly name: string;
  readonly memory: unknown;
}

/** The log of earlier runs of the hub. */
export interface KeptLog {
  /** Names the count of the entries. */
  readonly count: string;
  /** The newest ones, oldest first. */
  readonly entries: readonly LogEntry[];
  /** When the last run ended, as far as is known. */
  readonly endedAt: number;
  readonly isClean: boolean;
}

/** What a store has kept of an earlier run of the hub. */
export interface Kept {
  readonly values: readonly KeptValue[];
  readonly memories: readonly KeptMemory[];
  /** Nobody waits for it to start. It resolves to undefined when there is none, or it could not be read in time; it never rejects. */
  readonly log?: Promise<KeptLog | undefined>;
  /** What the connection finds as `left` when it runs, such as a database that is open. */
  readonly left?: unknown;
}

/** What was done with the hub itself, beside changes of parameters: a rule was switched, flow files were reloaded, its clock was set. */
export interface AuditEvent {
  readonly kind: 'rule' | 'connection' | 'reload' | 'sign-in' | 'clock' | 'lost' | 'stop';
  /** Who did it: a client, `api 10.0.0.3`. */
  readonly user: string;
  /** What it was done to: the name of a rule or a connection; empty: the hub. */
  readonly address: string;
  readonly before?: Value | undefined;
  readonly after?: Value | undefined;
  /** A sentence that says more. */
  readonly cause: string;
  /** How often it was done, when several are told as one; left out: once. */
  readonly count?: number | undefined;
}

/** What one connection has under way. Only a hub with a store has a memory. */
export interface Memory {
  /** What was under way when the hub ended, by name; empty unless the connection starts with the hub. */
  readonly recalled: ReadonlyMap<string, unknown>;
  /** Says that something is no longer as it was. `read` is called later, when it is kept: data for JSON; undefined forgets it. */
  changed(name: string, read: () => unknown): void;
  /** The time of day of a moment of the connection's clock: milliseconds since 1970. */
  timeOf(clockMs: number): number;
  /** The moment of the connection's clock at a time of day. */
  clockOf(timeMs: number): number;
}

/** What a store sees of the hub, beside its parameters. */
export interface PersistencePort {
  /** Whether a value of the parameter may be kept: others write it, and nothing outside of the hub knows better. */
  isKept(parameter: Parameter): boolean;
  /**
   * Whether a change came from outside of the hub: from a client, from a connection such as a keyboard, or from another hub that had
   * a parameter of this one written, also by its rules. What a device tells of itself first, default, computed and restored values and
   * what timers do are not.
   */
  isFromOutside(change: Change): boolean;
  /** What is done with the hub itself. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly auditEvents$: Observable<AuditEvent>;
  /** Tells the store what is done with the hub itself. */
  note(auditEvent: AuditEvent): void;
  /** Takes what has changed of all that is under way since it was taken last. */
  takeMemories(): readonly KeptMemory[];
  /** All that is under way counts as changed, as when it is kept for the first time. */
  renewMemories(): void;
  /**
   * Gives back what a store has that another hub had open before: to be called whenever it has been opened. Values that are newer than
   * those of this hub are told as changes, while no rule runs. false: nobody waits for it, and it is left.
   */
  giveBack(kept: Pick<Kept, 'values' | 'memories'>, store: string): boolean;
  /** What the hub is made of, as files. */
  installation(): Installation;
  /** What the running store can be asked for; undefined: the hub has none that runs. */
  readonly archive: Archive | undefined;
  /** A part of a store offers what it can be asked for, while it runs; returns what ends that. */
  offer(part: Archive): () => void;
}

// What a running store can be asked for: everything that it knows of earlier times. Gateways answer their clients with it.

/** Each part of a store offers what it can be asked for; what is left out, no part that runs has. */
export interface Archive {
  readonly storage?: StorageArchive;
  readonly values?: ValuesArchive;
  readonly history?: RecordedArchive;
  readonly audit?: RecordedArchive;
  readonly past?: PastArchive;
  readonly snapshots?: SnapshotArchive;
}

/** The files of a store, as a whole. */
interface StorageArchive {
  readonly folder: string;
  /** The same as it is told: `***` where the setting is a secret. */
  readonly shownFolder: string;
  /** How much room the databases may take. */
  readonly maxBytes: number;
  /** Makes a backup of this moment. Errors: `conflict` while another one is made; `unavailable` with the reason. */
  backUp(): Promise<Backup>;
}

/** A backup that is being made, an archive of tar. */
export interface Backup {
  /** How long it is. */
  readonly bytes: number;
  /** The next piece; undefined: it is whole. Errors: `unavailable`. */
  next(): Promise<Uint8Array | undefined>;
  /** Removes what it took to make it; to be called in any case. Never rejects. */
  end(): Promise<void>;
}

/** A part that writes what happens. */
interface WritingArchive {
  status(): WritingStatus;
}

export interface WritingStatus {
  /** How many rows were written in a second, over the last ten. */
  readonly perSecond: number;
  /** How old the oldest change is that is not on the disk yet, in milliseconds; 0: all of them are. */
  readonly lagMs: number;
  /** How many changes were not recorded since the hub started. */
  readonly lost: number;
  /** The time of the oldest row, in milliseconds since 1970; undefined: there is none, or it is not told. */
  readonly oldest?: number | undefined;
}

export interface ValuesArchive extends WritingArchive {
  /** How long writing took, until it was on the disk: of each transaction, also of one that failed. */
  readonly flushDurations: Durations;
  /** Resolves when everything that has changed up to now is on the disk, or after two seconds. */
  flush(): Promise<void>;
  /** Whether the value of a parameter is not kept, as who wrote it has used up its share of the room. */
  isLeftOut(parameter: Parameter): boolean;
}

/** A part whose database is read while it writes: what readers need of it. */
export interface RecordedArchive extends WritingArchive {
  /** Resolves when everything that has changed up to now can be read, or after two seconds. */
  flush(): Promise<void>;
  /** A reader has found that the database is damaged: if that is so, it is set aside, and another one takes its place. */
  check(): Promise<void>;
}

export interface SnapshotArchive {
  /** The Connection ID of the store, whose parameters save and recall them. */
  readonly connection: string;
  /** All selections with their snapshots. */
  list(): readonly SnapshotSelection[];
  /** A snapshot beside what is now. Errors: `not-found` with the nearest name. */
  compare(selection: string, name: string): Snapshot;
}

/** Answers questions about the past, ready to be sent. */
export interface PastArchive {
  /**
   * Whoever asks is named by `asker`: askers take turns. A question that nobody wants any more when its turn comes is refused.
   * Errors: `unknown-parameter` with the nearest address, `unavailable` when too many ask, it takes too long or the database
   * cannot be read.
   */
  ask(question: PastQuestion, asker: string, isWanted: () => boolean): Promise<ReadyAnswer>;
}

/** The bytes of an answer, and an ETag of them without its quotes. */
export interface ReadyAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

export type PastQuestion = HistoryQuestion | EventsQuestion | AuditQuestion;

/** The type is that which the hub knows; undefined: the parameter is of an earlier time. */
export interface AskedParameter {
  readonly address: string;
  readonly type: ValueType | undefined;
  /** true: whoever asks may not see it, and is answered as if nobody knew it. */
  readonly isHidden?: boolean;
}

/** The addresses that whoever asks may see, as globs; `deny` wins. */
export interface Sight {
  readonly read: readonly string[];
  readonly deny: readonly string[];
}

/** Times are milliseconds since 1970. */
export interface HistoryQuestion {
  readonly ask: 'history';
  /** undefined: all may be seen. */
  readonly sight?: Sight | undefined;
  /** Of one that nobody knows there is nothing to tell; if it is the only one, that is an error. */
  readonly parameters: readonly AskedParameter[];
  /** Whether the answer is a list: what else the list could have is not in `parameters` where `hasMore`. */
  readonly list: { readonly hasMore: boolean } | undefined;
  readonly from: number;
  readonly to: number;
  /** How many points each history has, about. */
  readonly points: number;
  readonly format: 'json' | 'csv';
}

/** A change among all changes of a parameter, in the order in which they were. */
export interface EventPlace {
  readonly time: number;
  readonly revision: number;
}

export interface EventsQuestion {
  readonly ask: 'events';
  readonly parameter: AskedParameter;
  /** undefined: all may be seen. */
  readonly sight?: Sight | undefined;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  /** Only what was before this change; undefined: the newest. */
  readonly before: EventPlace | undefined;
}

/** What of the audit is asked for. Times are milliseconds since 1970. */
export interface AuditQuestion {
  readonly ask: 'audit';
  readonly from: number;
  readonly to: number;
  /** A glob of addresses. */
  readonly address?: string | undefined;
  /** A part of the name of the user, however it is cased. */
  readonly user?: string | undefined;
  readonly kind?: AuditKind | undefined;
  /** A part of the address, the user, a value or the cause, however it is cased. */
  readonly text?: string | undefined;
  /** Only entries with a lower number. */
  readonly before?: number | undefined;
  readonly limit: number;
}

// What a hub was made of, as files: what a backup has beside the databases, and what nobody is served.

/** Flow files, and what their settings name. */
export interface Installation {
  /** The folder that the hub was started in. */
  readonly startedIn: string;
  /** Flow files and folders, as they were given at the start. */
  readonly paths: readonly string[];
  readonly files: readonly NamedFile[];
  /** What is never served, by its full path. */
  readonly privateFiles: readonly PrivateFiles[];
}

/** A file; with `names` the files in a folder whose names match, and where it `isDeep`, those in folders below it. */
export interface PrivateFiles {
  readonly path: string;
  readonly names?: RegExp;
  readonly isDeep?: boolean;
}

/** A file, or a folder whose files are meant; there may be none. */
export interface NamedFile {
  readonly path: string;
  /** Whether a setting names it by an absolute path, so that a copy of the installation would use it as well. */
  readonly isAbsolute: boolean;
}
