// A parameter as seen by the layers outside the graph: its declaration, state and changes.

import type { Value, ValueType } from './value.ts';

export type Access = 'read-only' | 'write-only' | 'read-write';

/** Declares one parameter of a connection. The hub converts and sets its default value when it declares the connection. */
export interface ParameterDeclaration {
  readonly id: string;
  readonly type: ValueType;
  readonly access: Access;
  readonly defaultValue?: Value;
  /** Replaces the conversion of D-02 for writes from outside the connection. Errors: `HubError`. */
  readonly accept?: (input: unknown) => Value;
  /** Whether only its connection sets it. Writes by others are pending until the connection reports the value. */
  readonly isConfirmed?: boolean;
  readonly about?: About;
  /** The device behind the connection, which may be offline independently of others; omitted if the connection is one device. */
  readonly device?: string;
}

export const valueClasses = ['state', 'meter', 'event'] as const;

/** Metadata of a parameter, for people and widgets. */
export interface About {
  readonly label?: string | undefined;
  readonly unit?: string | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly step?: number | undefined;
  /** All values by name: `{ off: 0, on: 1 }`. */
  readonly choices?: Readonly<Record<string, Value>> | undefined;
  readonly description?: string | undefined;
  /** Meters are excluded from history and traces; undefined means a state. */
  readonly class?: (typeof valueClasses)[number] | undefined;
}

/** The state of a device; all its parameters share the object. */
export interface DeviceState {
  /** When it went offline, in milliseconds since 1970; undefined if it is online. */
  staleSince: number | undefined;
  /** Whether it is one of several devices behind its connection. */
  readonly isPart?: boolean;
  /** The newest offline periods. */
  readonly absences: readonly Absence[];
}

/** An offline period of a device. Within these revisions, only the reports after its reconnect change its parameters. */
export interface Absence {
  /** In milliseconds since 1970. */
  readonly since: number;
  readonly fromRevision: number;
  /** undefined: it has not ended. */
  readonly toRevision: number | undefined;
}

export const originKinds = ['connection', 'rule', 'client', 'restored'] as const;

/**
 * The author of a write: a connection, a rule, a client of a gateway, or a store that restored a value after a restart. Each author has one
 * object, which is compared by identity.
 */
export interface Origin {
  readonly kind: (typeof originKinds)[number];
  readonly name: string;
  /** The flow file of a rule. */
  readonly file?: string;
  /** The hub where the write was made; omitted: this one. */
  readonly hub?: string;
  /** The hub that reports this origin; this hub cannot check it. Omitted: this hub knows the author itself. */
  readonly reportedBy?: string;
  /**
   * The trace, in the notation of W3C Trace Context: `00-4bf9…-00f0…-01`; omitted if there is none. Such an origin is used for one request
   * only.
   */
  readonly traceparent?: string;
}

/** The hub that owns a mirrored parameter. A new object means a new owner. */
export interface Remote {
  readonly hub: string;
  /** When this hub last received anything from it, in milliseconds since 1970; undefined if the values are fresh. */
  readonly staleSince: number | undefined;
  /**
   * Makes the owner write values, as one turn. Resolves to the converted value or the error of each write, and never rejects: without an
   * answer in time, a write fails with `unavailable`.
   */
  write(writes: readonly RemoteWrite[], by: RemoteCause): Promise<readonly (Value | Error)[]>;
}

export interface RemoteWrite {
  readonly parameter: Parameter;
  readonly input: unknown;
}

/** The origin and cause of a write to a mirrored parameter. */
export interface RemoteCause {
  readonly origin: Origin;
  readonly cause: Change | undefined;
  /** How many changes led to it without a pause, over all hubs. */
  readonly hop: number;
}

/** A parameter as seen from outside the graph. `value` is undefined while the state is unknown, and always for a trigger. */
export interface Parameter {
  readonly address: string;
  readonly type: ValueType;
  readonly access: Access;
  /** Replaces the conversion of D-02 for writes from outside; undefined means that that conversion applies. */
  readonly accept?: ParameterDeclaration['accept'] | undefined;
  /** The hub that owns it; undefined means this one. */
  readonly remote?: Remote | undefined;
  /** The device; undefined if there is none. */
  readonly device?: DeviceState | undefined;
  /** The newest write that its connection has not confirmed yet; undefined if none is pending. */
  readonly wanted?: Change | undefined;
  readonly about?: About | undefined;
  readonly value: Value | undefined;
  /** The change that set the current value; for a trigger, the last fire. */
  readonly lastChange: Change | undefined;
  /** Data of the first gateway that sends its changes. A table lookup would cost one more memory access per change. */
  channel?: { readonly keeper: object | undefined } | undefined;
}

/**
 * One change. `value` of a trigger is 1, `time` is in milliseconds since 1970. Some destinations also receive writes of an equal value;
 * such a change has revision 0.
 */
export interface Change {
  readonly parameter: Parameter;
  readonly value: Value;
  /** The previous value; undefined if unknown, a trigger, or equal. */
  readonly previous: Value | undefined;
  readonly origin: Origin;
  /** The change that led to it, in this turn or an earlier one; undefined if there was none, or it has been forgotten. */
  readonly cause: Change | undefined;
  /** How many changes led to it, including forgotten ones; 0 means that it came from outside. */
  readonly depth: number;
  /** How many changes led to it within its turn. */
  readonly hop: number;
  readonly revision: number;
  readonly time: number;
}

/** Returns when the value of a parameter became stale, in milliseconds since 1970; undefined if it is fresh. */
export function staleSinceOf({ remote, device }: Parameter): number | undefined {
  return remote?.staleSince ?? device?.staleSince;
}

/** Returns the offline period of the device after which it reported a change; undefined if the device was online. */
export function absenceBefore({ parameter, origin, revision }: Change): Absence | undefined {
  if (origin.kind !== 'connection') return undefined;
  return parameter.device?.absences.find(
    ({ fromRevision, toRevision = Number.POSITIVE_INFINITY }) => revision > fromRevision && revision <= toRevision,
  );
}

/** A change as reported by the owner of its parameter. */
export type MirroredChange = Pick<Change, 'value' | 'origin' | 'cause' | 'hop' | 'time'>;
