// Messages between the hub's thread and the thread that writes the audit and the log: one request at a time.
import type { AuditKind } from '../../../model/reports/audit-entry.ts';
import type { LogEntry } from '../../../model/reports/log-entry.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import type { KeptLog } from '../../persistence.ts';
import type { PackedRows } from '../packed-rows.ts';
import type { OpenedStored, Written } from '../thread/values/values-messages.ts';

/** An audit entry. The queue may count further changes in an entry, which is then written again. */
export interface AuditRow {
  /** The number of the entry; 0 until the entry is first sent to the thread. */
  n: number;
  readonly time: number;
  readonly kind: AuditKind;
  readonly user: string;
  readonly address: string;
  /** The type of the parameter; empty for an entry without a parameter. */
  readonly type: ValueType | '';
  readonly before: Value | undefined;
  after: Value | undefined;
  count: number;
  readonly cause: string;
  /** Whether the entry may count further changes and be written again. */
  readonly isCounting?: boolean;
}

/**
 * Many entries in one row. `entries` is UTF-8 encoded JSON; `n` and `time` belong to the first entry, `last` and `lastTime` to the last
 * entry.
 */
export interface EntryBlock {
  readonly n: number;
  readonly last: number;
  readonly time: number;
  readonly lastTime: number;
  readonly count: number;
  readonly entries: Uint8Array<ArrayBuffer>;
}

export interface OpenAudit {
  readonly ask: 'open';
  readonly folder: string;
  /** The maximum size of the database, in bytes. */
  readonly maxBytes: number;
  /** The age, in milliseconds, from which the thread deletes entries; Infinity to keep all entries. */
  readonly keepMs: number;
  /** Whether to return the newest entries of the log from earlier runs. */
  readonly isRead: boolean;
  /** Whether to check the whole file because a reader has found damage in it. */
  readonly isSuspect: boolean;
}

/** The entries that are written in one transaction. */
export interface AuditBatch {
  readonly rows: readonly AuditRow[];
  readonly blocks?: readonly EntryBlock[];
  readonly log: readonly LogEntry[];
  readonly run: Run;
}

/** A batch on its way to the thread. Its rows are packed, as cells from `cellsOf`. */
export type PackedAuditBatch = Omit<AuditBatch, 'rows'> & { readonly rows: PackedRows };

/** The last recorded run of the hub. */
export interface Run {
  /** The last time at which the hub was known to be running, in milliseconds since 1970. */
  readonly seen: number;
  /** Whether the run ended with a shutdown of the hub. */
  readonly isClean: boolean;
  /** Identifies the numbering of the log entries. */
  readonly count: string;
}

export type AuditRequest =
  | OpenAudit
  | { readonly ask: 'write'; readonly batch: PackedAuditBatch }
  | { readonly ask: 'close' };

export type OpenedAudit = OpenedStored<HeldAudit>;

export interface HeldAudit {
  /** The highest number of an audit entry, and the highest number of a log entry; 0 if there are no entries. */
  readonly lastEntry: number;
  readonly lastLog: number;
  /** The last recorded run; undefined if no run has been recorded yet. */
  readonly run: Run | undefined;
  /** The newest entries of the log; undefined if the log was not requested or is empty. */
  readonly log: KeptLog | undefined;
}

export type AuditAnswer =
  | { readonly opened: OpenedAudit }
  | { readonly written: Written; readonly oldest?: number | undefined }
  | { readonly done: true };
