// Messages between the hub's thread and the thread that writes the history: one request at a time.
import type { ClockJump } from '../../../model/time/wall-clock.ts';
import type { ValueType } from '../../../model/value.ts';
import type { LeftOut } from '../thread/values/values-messages.ts';
import type { HandedColumns } from './columns.ts';
import type { HistoryRule } from './history-rules.ts';

/** The maximum sizes of the history on disk. */
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
  /** Whether the database is opened for the first time in this run, so that there is a gap between the last recording and now. */
  readonly isFirst: boolean;
}

/** A parameter with its number in the columns; `rule` is the index of its rule, or -1 if the parameter appears only as a cause. */
export type ParameterRow = readonly [number: number, address: string, type: ValueType, rule: number];

/** A writer. The number of a writer is its position in the list, starting at 1. */
export type WriterRow = readonly [kind: string, name: string, file: string];

/** A clock jump after the change with this revision; if undefined, the jump precedes all changes in the message. */
export interface JumpRow extends ClockJump {
  readonly revision: number | undefined;
}

/** A connection's values have been stale since `start`, until `end` if that is set. `revision` is the hub's revision at the start. */
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
  /** The parameters that earlier messages did not contain. */
  readonly parameters: readonly ParameterRow[];
  readonly writers: readonly WriterRow[];
  /** The time before which no further changes follow, except late ones. */
  readonly until: number;
  /** The clock jumps since the previous message, in order. */
  readonly jumps?: readonly JumpRow[];
  /** The absences that have begun or ended since the previous message, in order. */
  readonly absences?: readonly AbsenceRow[];
}

export type HistoryRequest =
  | OpenHistory
  | { readonly ask: 'write'; readonly changes: Changes }
  /** Tries again to write the pending changes. */
  | { readonly ask: 'go on' }
  /** Checks the whole file, because a reader has found damage in it. */
  | { readonly ask: 'check' }
  | { readonly ask: 'close' };

/** The result of a request. While `trouble` is set, the hub sends only `open` or `go on`, and no new changes. */
export interface HistoryAnswer {
  /** One sentence per loss, with its reason. Each loss is reported once. */
  readonly losses: readonly string[];
  /** `full`: the disk or the database is full; `closed`: the database must be reopened. */
  readonly trouble: { readonly state: 'full' | 'closed'; readonly reason: string } | undefined;
  /** The time up to which everything had been recorded when the database was opened; undefined if it was empty. */
  readonly seen: number | undefined;
  /** The refused rows; undefined if no rows were refused. */
  readonly leftOut: LeftOut | undefined;
  /** The number of rows written. */
  readonly rows: number;
  /** The start of the oldest hour with changes; undefined if there is none. */
  readonly oldest: number | undefined;
  /** Buffers for reuse. */
  readonly buffers: readonly ArrayBuffer[];
}
