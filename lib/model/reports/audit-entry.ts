// Who did what: changes that came from outside of the hub, and what operators did with the hub itself.

import type { Origin } from '../parameter.ts';
import type { Value } from '../value.ts';

/**
 * What an entry tells: a change of a value, a fire of a trigger, a rule that was switched, a connection that was started or
 * stopped by hand, a reload, somebody who signed in or was refused, a jump of the clock, a start and a stop of the hub, or entries that
 * could not be kept.
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

/** One entry; `time` is milliseconds since 1970. */
export interface AuditEntry {
  /** Greater with each entry; numbers may be left out. */
  readonly n: number;
  readonly time: number;
  readonly kind: AuditKind;
  /** A client, `api 10.0.0.3`, or a connection, `keys`; `flow files` of a reload, `hub` of what the hub does by itself. */
  readonly user: string;
  /** The address of the parameter; of other kinds the name of the rule or the connection. */
  readonly address?: string | undefined;
  /** Left out when it was unknown. Texts are cut. */
  readonly before?: Value | undefined;
  /** Left out of a trigger. Texts are cut. */
  readonly after?: Value | undefined;
  /** How many changes are told as one: more than 1 only when very many came at once. */
  readonly count: number;
  /** A sentence that says more; left out when there is none. */
  readonly cause?: string | undefined;
}

// What came from outside of a hub, as it came.

export interface OutsideTurn {
  /** Milliseconds since the recording began. */
  readonly atMs: number;
  readonly writes: readonly RecordedWrite[];
}

export interface RecordedWrite {
  readonly address: string;
  /** What was written, where the parameter reads that in its own way; else what it became. */
  readonly value: Value;
  readonly origin: Origin;
}

/** A recording that goes on. */
export interface Recording {
  /** When it began, in milliseconds since 1970. */
  readonly time: number;
  /** Milliseconds since then. */
  elapsedMs(): number;
  stop(): void;
}
