// A parameter as seen by the layers outside the graph: its declaration, state and changes.

import type { Value, ValueType } from './value.ts';

export type Access = 'read-only' | 'write-only' | 'read-write';

/** The declaration of one parameter by its connection. When the hub declares the connection, it converts and sets the default value. */
export interface ParameterDeclaration {
  readonly id: string;
  readonly type: ValueType;
  readonly access: Access;
  readonly defaultValue?: Value;
  /** Replaces the conversion according to D-02 for writes from outside the connection. Errors: `HubError`. */
  readonly accept?: (input: unknown) => Value;
  /** Whether only the connection sets the parameter. Writes by others are pending until the connection reports the value. */
  readonly isConfirmed?: boolean;
  readonly about?: About;
  /**
   * The name of the device behind the connection, which may be offline independently of other devices. Omitted if the connection is a
   * single device.
   */
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
  /** All possible values of the parameter, keyed by name: `{ off: 0, on: 1 }`. */
  readonly choices?: Readonly<Record<string, Value>> | undefined;
  readonly description?: string | undefined;
  /** The class of the values. Meters are excluded from history and traces; undefined means a state. */
  readonly class?: (typeof valueClasses)[number] | undefined;
}

/** The state of a device. All parameters of the device share this object. */
export interface DeviceState {
  /** When the device went offline, in milliseconds since 1970; undefined if the device is online. */
  staleSince: number | undefined;
  /** Whether the device is one of several devices behind its connection. */
  readonly isPart?: boolean;
  /** The most recent offline periods of the device, oldest first. */
  readonly absences: readonly Absence[];
}

/**
 * An offline period of a device. Within the period's revisions, the device's parameters change only when the device reports its values
 * after reconnecting.
 */
export interface Absence {
  /** When the period began, in milliseconds since 1970. */
  readonly since: number;
  readonly fromRevision: number;
  /** The last revision of the period; undefined if the period has not ended. */
  readonly toRevision: number | undefined;
}

export const originKinds = ['connection', 'rule', 'client', 'restored'] as const;

/**
 * The author of a write: a connection, a rule, a gateway client, or a store that restored a value after a restart. Each author has one
 * object, which is compared by identity.
 */
export interface Origin {
  readonly kind: (typeof originKinds)[number];
  readonly name: string;
  /** The flow file that contains the rule, if the author is a rule. */
  readonly file?: string;
  /** The hub on which the write was made. Omitted for this hub. */
  readonly hub?: string;
  /** The hub that reports this origin, which this hub cannot verify. Omitted if this hub knows the author itself. */
  readonly reportedBy?: string;
  /**
   * The trace in W3C Trace Context format: `00-4bf9…-00f0…-01`. Omitted if there is no trace. An origin with a trace is used for one
   * request only.
   */
  readonly traceparent?: string;
}

/** The hub that owns a mirrored parameter, as a destination for writes. A new object means a new owner. */
export interface Remote {
  readonly hub: string;
  /** When this hub last received a message from the owner, in milliseconds since 1970; undefined if the values are fresh. */
  readonly staleSince: number | undefined;
  /**
   * Makes the owner write the values in one turn. Resolves to the converted value or the error for each write, in order, and never rejects.
   * If no response arrives in time, a write fails with `unavailable`.
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
  /** The number of changes that led to the write without a pause, counted over all hubs. */
  readonly hop: number;
}

/** A parameter as seen from outside the graph. `value` is undefined while the state is unknown, and always undefined for a trigger. */
export interface Parameter {
  readonly address: string;
  readonly type: ValueType;
  readonly access: Access;
  /** Replaces the conversion according to D-02 for writes from outside; undefined means that D-02 applies. */
  readonly accept?: ParameterDeclaration['accept'] | undefined;
  /** The hub that owns the parameter; undefined means this hub. */
  readonly remote?: Remote | undefined;
  /** The state of the parameter's device; undefined if there is no device. */
  readonly device?: DeviceState | undefined;
  /** The newest write that the connection has not confirmed yet; undefined if no write is pending. */
  readonly wanted?: Change | undefined;
  readonly about?: About | undefined;
  readonly value: Value | undefined;
  /** The change that set the current value, or the last firing of a trigger. */
  readonly lastChange: Change | undefined;
  /** Data kept here by the first gateway that sends the parameter's changes. A table lookup would cost another memory access per change. */
  channel?: { readonly keeper: object | undefined } | undefined;
}

/**
 * One change. For a trigger, `value` is 1. `time` is in milliseconds since 1970. Some destinations also receive writes that do not change
 * the value; such a change has revision 0.
 */
export interface Change {
  readonly parameter: Parameter;
  readonly value: Value;
  /** The previous value. Undefined if the previous value was unknown or equal, or if the parameter is a trigger. */
  readonly previous: Value | undefined;
  readonly origin: Origin;
  /**
   * The change that led to this change, in the same turn or an earlier turn. Undefined if no change led to it, or if the cause is no longer
   * stored.
   */
  readonly cause: Change | undefined;
  /**
   * The number of changes that led to this change, including changes that are no longer stored; 0 means that the change came from outside.
   */
  readonly depth: number;
  /** The number of changes that led to this change within its turn. */
  readonly hop: number;
  readonly revision: number;
  readonly time: number;
}

/** Returns when the value of a parameter became stale, in milliseconds since 1970, or undefined if the value is fresh. */
export function staleSinceOf({ remote, device }: Parameter): number | undefined {
  return remote?.staleSince ?? device?.staleSince;
}

/** Returns the offline period of a device after which the device reported this change, or undefined if the device was online. */
export function absenceBefore({ parameter, origin, revision }: Change): Absence | undefined {
  if (origin.kind !== 'connection') return undefined;
  return parameter.device?.absences.find(
    ({ fromRevision, toRevision = Number.POSITIVE_INFINITY }) => revision > fromRevision && revision <= toRevision,
  );
}

/** A change to a mirrored parameter, as reported by the hub that owns the parameter. */
export type MirroredChange = Pick<Change, 'value' | 'origin' | 'cause' | 'hop' | 'time'>;
