// What the hub's thread asks of the thread that writes the audit and the log, and what it is answered: one question at a time.
import type { AuditKind } from '../../../model/reports/audit-entry.ts';
import type { LogEntry } from '../../../model/reports/log-entry.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import type { KeptLog } from '../../persistence.ts';
import type { PackedRows } from '../packed-rows.ts';
import type { OpenedStored, Written } from '../thread/values/values-messages.ts';

/** An entry as it is written. Whoever makes it may count further changes in it, and have it written again. */
export interface AuditRow {
  /** 0 until it is handed over for the first time. */
  n: number;
  readonly time: number;
  readonly kind: AuditKind;
  readonly user: string;
  readonly address: string;
  /** Empty but for parameters. */
  readonly type: ValueType | '';
  readonly before: Value | undefined;
  after: Value | undefined;
  count: number;
  readonly cause: string;
}

export interface OpenAudit {
  readonly ask: 'open';
  readonly folder: string;
  /** How large the database may become, in bytes. */
  readonly maxBytes: number;
  /** Older entries are forgotten; Infinity: none are. */
  readonly keepMs: number;
  /** Whether the log of earlier runs is wanted. */
  readonly isRead: boolean;
  /** Whether the whole file is to be read for damage: somebody has found some. */
  readonly isSuspect: boolean;
}

/** To be written in one transaction. */
export interface AuditBatch {
  readonly rows: readonly AuditRow[];
  readonly log: readonly LogEntry[];
  readonly run: Run;
}

/** A batch on its way; its rows have the cells of `cellsOf`. */
export type PackedAuditBatch = Omit<AuditBatch, 'rows'> & { readonly rows: PackedRows };

/** What is known of the run of the hub. */
export interface Run {
  /** When it was last known to run, in milliseconds since 1970. */
  readonly seen: number;
  /** Whether it has ended cleanly then. */
  readonly isClean: boolean;
  /** The name of the count of the log. */
  readonly count: string;
}

export type AuditRequest =
  | OpenAudit
  | { readonly ask: 'write'; readonly batch: PackedAuditBatch }
  | { readonly ask: 'close' };

export type OpenedAudit = OpenedStored<HeldAudit>;

export interface HeldAudit {
  /** The greatest number of an entry, and of one of the log; 0: there is none. */
  readonly lastEntry: number;
  readonly lastLog: number;
  /** Undefined: no hub has written it yet. */
  readonly run: Run | undefined;
  /** The newest entries of the log; undefined: they were not asked for, or there are none. */
  readonly log: KeptLog | undefined;
}

export type AuditAnswer =
  | { readonly opened: OpenedAudit }
  | { readonly written: Written; readonly oldest?: number | undefined }
  | { readonly done: true };
