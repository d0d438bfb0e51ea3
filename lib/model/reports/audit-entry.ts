// The audit: changes from outside the hub, and actions by operators on the hub itself.

import type { Origin } from '../parameter.ts';
import type { Value } from '../value.ts';

/**
 * The kinds of entries: value changes, fired triggers, rules switched on or off, connections started or stopped manually, reloads, sign-ins
 * (including refused ones), clock jumps, starts and stops of the hub, and lost entries.
 */
export const auditKinds = [
  'change',
  'fire',
  'rule',
  'connection',
  'reload',
  'sign-in',
  'clock',
  'start',
  'stop',
  'lost',
] as const;

export type AuditKind = (typeof auditKinds)[number];

/** An entry in the audit. `time` is in milliseconds since 1970. */
export interface AuditEntry {
  /** The number of the entry, which increases with each entry. Numbers may be skipped. */
  readonly n: number;
  readonly time: number;
  readonly kind: AuditKind;
  /**
   * The author: a client such as `api 10.0.0.3`, a connection such as `keys`, `flow files` for a reload, or `hub` for actions of the hub
   * itself.
   */
  readonly user: string;
  /** The address of the parameter. For entries of other kinds, the name of the rule or connection. */
  readonly address?: string | undefined;
  /** The value before the change. Omitted if unknown. Long strings are truncated. */
  readonly before?: Value | undefined;
  /** The value after the change. Omitted for a trigger. Long strings are truncated. */
  readonly after?: Value | undefined;
  /** The number of changes that the entry covers, which is more than 1 only if very many changes arrived together. */
  readonly count: number;
  /** A sentence with details about the entry. Omitted if there are no details. */
  readonly cause?: string | undefined;
}

// Writes from outside a hub, as the hub received them.

export interface OutsideTurn {
  /** The time of the turn in milliseconds since the recording began. */
  readonly atMs: number;
  readonly writes: readonly RecordedWrite[];
  /** Device events other than values. Omitted if there are none. */
  readonly devices?: readonly DeviceEvent[] | undefined;
}

/**
 * The ID of a connection whose values have become stale or fresh, or the address of a parameter whose pending write was refused or whose
 * value is no longer known.
 */
export type DeviceEvent = readonly [what: 'stale' | 'fresh' | 'refused' | 'unset', name: string];

export interface RecordedWrite {
  readonly address: string;
  /** The input if the parameter has its own conversion, otherwise the converted value. */
  readonly value: Value;
  readonly origin: Origin;
}

/** A recording of writes from outside that is in progress. */
export interface Recording {
  /** When the recording began, in milliseconds since 1970. */
  readonly time: number;
  /** Returns the milliseconds since the recording began. */
  elapsedMs(): number;
  stop(): void;
}
