// What the hub's thread asks of the thread that writes the history, and what it is answered: one question at a time.
import type { ClockJump } from '../../../model/time/wall-clock.ts';
import type { ValueType } from '../../../model/value.ts';
import type { LeftOut } from '../thread/values/values-messages.ts';
import type { HandedColumns } from './columns.ts';
import type { HistoryRule } from './history-rules.ts';

/** How much room the history has, in bytes. */
export interface HistoryRoom {
  readonly databaseBytes: number;
  readonly logBytes: number;
}

export interface OpenHistory {
  readonly ask: 'open';
  readonly folder: string;
  readonly room: HistoryRoom;
  readonly rules: readonly HistoryRule[];
  /** Names this run of the hub. */
  readonly epoch: string;
  /** When the hub started. */
  readonly startedAt: number;
  readonly now: number;
  /** Whether it was not open before in this run: then nothing was recorded from when it was last seen to now. */
  readonly isFirst: boolean;
}

/** A parameter by the number that stands for it in columns; `rule` is the place of its entry in the list, -1: it only caused others. */
export type ParameterRow = readonly [number: number, address: string, type: ValueType, rule: number];

/** A writer; its number is its place in the list, from 1. */
export type WriterRow = readonly [kind: string, name: string, file: string];

/** The clock has jumped when the hub had come to this revision; undefined: before all changes that come with it. */
export interface JumpRow extends ClockJump {
  readonly revision: number | undefined;
}

/** Changes to be written, oldest first. */
export interface Changes {
  readonly columns: readonly HandedColumns[];
  /** Parameters that no earlier changes had. */
  readonly parameters: readonly ParameterRow[];
  readonly writers: readonly WriterRow[];
  /** No older changes will come, but for late ones. */
  readonly until: number;
  /** When the clock has jumped since the changes before, in this order. */
  readonly jumps?: readonly JumpRow[];
}

export type HistoryRequest =
  | OpenHistory
  | { readonly ask: 'write'; readonly changes: Changes }
  /** Tries again to write what could not be written. */
  | { readonly ask: 'go on' }
  /** Reads all of the file for damage, as a reader has found some. */
  | { readonly ask: 'check' }
  | { readonly ask: 'close' };

/** What it came to. As long as there is a reason, nothing new is to be handed over, and it wants to be opened or to go on. */
export interface HistoryAnswer {
  /** What was lost, and why, a sentence each: each is told once. */
  readonly losses: readonly string[];
  /** full: the disk or the room is; closed: it has to be opened again. */
  readonly trouble: { readonly state: 'full' | 'closed'; readonly reason: string } | undefined;
  /** Everything before was recorded when it was opened; undefined: there was nothing. */
  readonly seen: number | undefined;
  /** Rows that could not be written, and why the first one; undefined: all could. */
  readonly leftOut: LeftOut | undefined;
  /** How many rows were written. */
  readonly rows: number;
  /** The beginning of the oldest hour of which changes are kept; undefined: there are none. */
  readonly oldest: number | undefined;
  /** Buffers that may be used again. */
  readonly buffers: readonly ArrayBuffer[];
}
