// Messages between the hub's thread and the thread that writes the history: one request at a time.
import type { ClockJump } from '../../../model/time/wall-clock.ts';
import type { ValueType } from '../../../model/value.ts';
import type { LeftOut } from '../thread/values/values-messages.ts';
import type { HandedColumns } from './columns.ts';
import type { HistoryRule } from './history-rules.ts';

/** The bounds of the history on disk. */
export interface HistoryRoom {
  readonly databaseBytes: number;
  readonly logBytes: number;
}

export interface OpenHistory {
  readonly ask: 'open';
  readonly folder: string;
  readonly room: HistoryRoom;
  readonly rules: readonly HistoryRule[];
  /** Identifies this run of the hub. */
  readonly epoch: string;
  /** When the hub started. */
  readonly startedAt: number;
  readonly now: number;
  /** Whether this is the first opening in this run: then there is a gap from the last recording to now. */
  readonly isFirst: boolean;
}

/** A parameter with its number in columns; `rule` is the index of its entry in the list; -1 if it appears only as a cause. */
export type ParameterRow = readonly [number: number, address: string, type: ValueType, rule: number];

/** A writer. Its number is its position in the list, from 1. */
export type WriterRow = readonly [kind: string, name: string, file: string];

/** A jump of the clock after this revision; undefined means before all changes of the message. */
export interface JumpRow extends ClockJump {
  readonly revision: number | undefined;
}

/**
 * The values of a connection have been stale since `start`; with `end`, they are fresh again. `revision` is that of the hub at the start.
 */
export interface AbsenceRow {
  readonly connection: string;
  readonly start: number;
  readonly end: number | undefined;
  readonly reason: string;
  readonly revision: number;
}

/** Changes to write, oldest first. */
export interface Changes {
  readonly columns: readonly HandedColumns[];
  /** Parameters that earlier messages did not contain. */
  readonly parameters: readonly ParameterRow[];
  readonly writers: readonly WriterRow[];
  /** No older changes follow, except late ones. */
  readonly until: number;
  /** The jumps of the clock since the previous message, in order. */
  readonly jumps?: readonly JumpRow[];
  /** Absences that have begun or ended since the previous message, in order. */
  readonly absences?: readonly AbsenceRow[];
}

export type HistoryRequest =
  | OpenHistory
  | { readonly ask: 'write'; readonly changes: Changes }
  /** Tries again to write the pending changes. */
  | { readonly ask: 'go on' }
  /** Checks the whole file, because a reader has found damage. */
  | { readonly ask: 'check' }
  | { readonly ask: 'close' };

/** The result of a request. While `trouble` is set, the hub sends no new changes, only `open` or `go on`. */
export interface HistoryAnswer {
  /** One sentence per loss, with its reason. Each loss is reported once. */
  readonly losses: readonly string[];
  /** full: the disk or the database is full; closed: it must be opened again. */
  readonly trouble: { readonly state: 'full' | 'closed'; readonly reason: string } | undefined;
  /** The time up to which everything was recorded when it was opened; undefined if it was empty. */
  readonly seen: number | undefined;
  /** The refused rows; undefined if there is none. */
  readonly leftOut: LeftOut | undefined;
  /** The number of rows written. */
  readonly rows: number;
  /** The start of the oldest hour with changes; undefined if there is none. */
  readonly oldest: number | undefined;
  /** Buffers for reuse. */
  readonly buffers: readonly ArrayBuffer[];
}
