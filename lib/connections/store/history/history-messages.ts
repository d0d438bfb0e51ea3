// Messages between the hub's thread and the thread that writes the history: one request at a time.

import type { ClockJump } from '../../../model/time/wall-clock.ts';
import type { ValueType } from '../../../model/value.ts';
import type { Rename } from '../../persistence.ts';
import type { LeftOut } from '../thread/values/values-messages.ts';
import type { HandedColumns } from './columns.ts';
import type { HistoryRule } from './history-rules.ts';

/** The maximum sizes of the history database and of its write-ahead log, in bytes. */
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
  /** The time at which the hub started, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly now: number;
  /** Whether the database is opened for the first time in this run, in which case there is a gap between the last recording and now. */
  readonly isFirst: boolean;
}

/** A parameter, with its number in the columns. `rule` is the index of its rule, or -1 if the parameter appears only as a cause. */
export type ParameterRow = readonly [number: number, address: string, type: ValueType, rule: number];

/** A writer of changes. Its number in the columns is its position in the list, starting at 1. */
export type WriterRow = readonly [kind: string, name: string, file: string];

/** A clock jump, which came after the change with the given revision; without a revision, the jump precedes all changes in the message. */
export interface JumpRow extends ClockJump {
  readonly revision: number | undefined;
}

/**
 * A period in which the values of a connection were stale, from `start` to `end`; `end` is undefined if the values are still stale.
 * `revision` is the hub's revision at the start.
 */
export interface AbsenceRow {
  readonly connection: string;
  readonly start: number;
  readonly end: number | undefined;
  readonly reason: string;
  readonly revision: number;
}

/** Changes to write, oldest first, with the names and events that belong to them. */
export interface Changes {
  readonly columns: readonly HandedColumns[];
  /** The parameters that earlier messages did not contain. */
  readonly parameters: readonly ParameterRow[];
  readonly writers: readonly WriterRow[];
  /** The time before which no changes follow in later messages, except late changes; in milliseconds since 1970. */
  readonly until: number;
  /** The parameters that were renamed since the previous message. */
  readonly renames?: readonly Rename[];
  /** The clock jumps since the previous message, in the order in which they happened. */
  readonly jumps?: readonly JumpRow[];
  /** The beginnings and ends of absences since the previous message, in the order in which they happened. */
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

/** The result of a request. While `trouble` is set, the hub sends only `open` or `go on`, but no new changes. */
export interface HistoryAnswer {
  /** One sentence per loss, with its reason. Each loss is reported once. */
  readonly losses: readonly string[];
  /** The reason why the changes could not be written. `full`: the disk or the database is full; `closed`: the database must be reopened. */
  readonly trouble: { readonly state: 'full' | 'closed'; readonly reason: string } | undefined;
  /**
   * The time up to which everything had been recorded when the database was opened, in milliseconds since 1970; undefined if the database
   * was empty.
   */
  readonly seen: number | undefined;
  /** The rows that the database refused; undefined if there are none. */
  readonly leftOut: LeftOut | undefined;
  /** The number of rows that were written. */
  readonly rows: number;
  /** The start of the oldest hour with changes, in milliseconds since 1970; undefined if there is none. */
  readonly oldest: number | undefined;
  /** The buffers that the hub can reuse. */
  readonly buffers: readonly ArrayBuffer[];
}
