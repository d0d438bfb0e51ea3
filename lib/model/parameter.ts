// A parameter as the rooms outside the graph see it: its declaration, its present state and its changes.

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
}

export const originKinds = ['connection', 'rule', 'client', 'restored'] as const;

/**
 * Who wrote: a connection, a rule, a client of a gateway, or a store that gave back after a restart what it had kept. There is one
 * object for each writer, and it is compared by identity.
 */
export interface Origin {
  readonly kind: (typeof originKinds)[number];
  readonly name: string;
  /** The flow file of a rule. */
  readonly file?: string;
  /** The hub where it wrote; left out: this one. */
  readonly hub?: string;
  /** The hub that reports it: what it says of a writer, this hub cannot check. Left out: this hub knows the writer itself. */
  readonly reportedBy?: string;
  /** Which trace it follows, as W3C Trace Context writes it: `00-4bf9…-00f0…-01`; left out: none. Such an origin is of one request. */
  readonly traceparent?: string;
}

/** The hub that owns a mirrored parameter, for as long as that hub has not changed. */
export interface Remote {
  readonly hub: string;
  /** Since when nothing is heard of it, in milliseconds since 1970; undefined: the values are fresh. */
  readonly staleSince: number | undefined;
  /**
   * Has the owner write values, as one turn; resolves to what each of them became, or why it was refused. Never rejects: what is
   * not answered in time is refused as `unavailable`.
   */
  write(writes: readonly RemoteWrite[], by: RemoteCause): Promise<readonly (Value | Error)[]>;
}

export interface RemoteWrite {
  readonly parameter: Parameter;
  readonly input: unknown;
}

/** Who has a mirrored parameter written, and why. */
export interface RemoteCause {
  readonly origin: Origin;
  readonly cause: Change | undefined;
  /** How many changes led to it without a pause, on all hubs. */
  readonly hop: number;
}

/** A parameter as others see it. `value` is undefined while the state is unknown, and always for a trigger. */
export interface Parameter {
  readonly address: string;
  readonly type: ValueType;
  readonly access: Access;
  /** Replaces the conversion of D-02 for writes from outside; undefined: nothing does. */
  readonly accept?: ParameterDeclaration['accept'] | undefined;
  /** The hub that owns it; undefined: this one does. */
  readonly remote?: Remote | undefined;
  readonly value: Value | undefined;
  /** The change that set the present value. Of a trigger: its last fire. */
  readonly lastChange: Change | undefined;
  /** What the first gateway that tells its changes keeps of it: to find it in a table would be one more place in memory for each change. */
  channel?: { readonly keeper: object | undefined } | undefined;
}

/**
 * One change. `value` of a trigger is 1; `time` is milliseconds since 1970. Some destinations also receive writes of an equal
 * value: such a change has revision 0.
 */
export interface Change {
  readonly parameter: Parameter;
  readonly value: Value;
  /** The value before; undefined: unknown, a trigger, or equal. */
  readonly previous: Value | undefined;
  readonly origin: Origin;
  /** The change that led to it, in this turn or an earlier one; undefined: none did, or that one is forgotten. */
  readonly cause: Change | undefined;
  /** How many changes led to it, forgotten ones included; 0: it came from outside. */
  readonly depth: number;
  /** How many changes led to it within its turn. */
  readonly hop: number;
  readonly revision: number;
  readonly time: number;
}

/** A change as its owner tells it. */
export type MirroredChange = Pick<Change, 'value' | 'origin' | 'cause' | 'hop' | 'time'>;
