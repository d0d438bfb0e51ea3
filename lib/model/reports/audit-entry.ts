// The audit: changes from outside the hub, and actions of operators on the hub itself.

import type { Origin } from '../parameter.ts';
import type { Value } from '../value.ts';

/**
 * The kinds of entries: a change of a value, a fire of a trigger, a switched rule, a connection started or stopped by hand, a reload, a
 * sign-in or a refused one, a jump of the clock, a start and a stop of the hub, or entries that were lost.
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

/** One entry; `time` is in milliseconds since 1970. */
export interface AuditEntry {
  /** Grows with each entry; numbers may be skipped. */
  readonly n: number;
  readonly time: number;
  readonly kind: AuditKind;
  /** A client, `api 10.0.0.3`, or a connection, `keys`; `flow files` for a reload, `hub` for actions of the hub itself. */
  readonly user: string;
  /** The address of the parameter; for other kinds, the name of the rule or the connection. */
  readonly address?: string | undefined;
  /** Omitted if unknown. Texts are cut. */
  readonly before?: Value | undefined;
  /** Omitted for a trigger. Texts are cut. */
  readonly after?: Value | undefined;
  /** The number of changes that the entry covers: more than 1 only if very many arrived together. */
  readonly count: number;
  /** A sentence with details; omitted if there are none. */
  readonly cause?: string | undefined;
}

// Writes from outside a hub, as received.

export interface OutsideTurn {
  /** Milliseconds since the recording began. */
  readonly atMs: number;
  readonly writes: readonly RecordedWrite[];
  /** Events of devices other than values; omitted: none. */
  readonly devices?: readonly DeviceEvent[] | undefined;
}

/**
 * A connection whose values have become stale or fresh, by its ID; or the address of a parameter whose pending write was refused, or whose
 * value is no longer known.
 */
export type DeviceEvent = readonly [what: 'stale' | 'fresh' | 'refused' | 'unset', name: string];

export interface RecordedWrite {
  readonly address: string;
  /** The input, if the parameter has its own conversion; otherwise the converted value. */
  readonly value: Value;
  readonly origin: Origin;
}

/** A recording in progress. */
export interface Recording {
  /** When it began, in milliseconds since 1970. */
  readonly time: number;
  /** Returns the milliseconds since then. */
  elapsedMs(): number;
  stop(): void;
}
