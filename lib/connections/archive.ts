// What a running store can be asked for: everything that it knows of earlier times. Gateways answer their clients with it.

import type { Parameter } from '../model/parameter.ts';
import type { AuditKind } from '../model/reports/audit-entry.ts';
import type { Snapshot, SnapshotSelection } from '../model/reports/snapshot.ts';
import type { Durations } from '../model/time/duration.ts';
import type { ValueType } from '../model/value.ts';

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
export interface StorageArchive {
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
export interface WritingArchive {
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
