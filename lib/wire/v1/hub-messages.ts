// The messages from the hub to `patchbay.v1` clients (docs/protocol.md). The keys of a message identify its kind. lib/client/asyncapi.json
// is the machine-readable description.

import type { About, Access } from '../../model/parameter.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { Delivery, Target } from './client-messages.ts';

/** The first message from the hub, with the greeting. */
export interface Hello {
  readonly hello: Greeting;
}

/** The contents of the first message: `{"epoch":"1f0c…","hub":"patchbay 1.0.0","limits":{…}}`. */
export interface Greeting {
  /** Identifies a run of the REST API connection for this client. IDs and revisions are valid only within one epoch. */
  readonly epoch: string;
  /** The name and version of the program. */
  readonly hub: string;
  /** The limits for messages from this client. */
  readonly limits: {
    /** The maximum size of a message, in bytes. */
    readonly messageBytes: number;
    readonly subscriptions: number;
    /** The maximum number of patterns per subscription. */
    readonly patterns: number;
    readonly regexes: number;
    /** The highest rate of a subscription, in updates per second. */
    readonly rate: number;
  };
}

/**
 * `{"sub":1,"mode":"snapshot","rate":60,"delivery":"latest"}`: the hub has accepted subscription 1, with a rate that may be lower than
 * requested.
 */
export interface Subscribed {
  readonly sub: number;
  /** `snapshot`: the hub sends everything that matches; `resume`: the hub sends the changes since the position in the request. */
  readonly mode: 'snapshot' | 'resume';
  readonly rate: number;
  readonly delivery: Delivery;
}

/** `{"unsub":1}`: subscription 1 has ended. */
export interface Unsubscribed {
  readonly unsub: number;
}

/** `{"def":[[7,"desk/lamp","B","rw"]]}`: the hub defines parameters before it first uses their IDs. */
export interface Definitions {
  readonly def: readonly Definition[];
}

export type Definition = readonly [id: number, address: string, type: ValueType, access: AccessCode];

/** `{"undef":[7]}`: the hub has removed these parameters. */
export interface Removals {
  readonly undef: readonly number[];
}

/** `{"set":[[7,true],[8,-3.5]],"rev":130}`: the hub sends values, in order. The list may be empty. */
export interface Values {
  readonly set: readonly (readonly [id: number, value: Value])[];
  readonly rev?: number | undefined;
}

/** `{"fired":[9,9],"rev":131}`: triggers have fired, in this order. A trigger that fired twice is listed twice. */
export interface Fires {
  readonly fired: readonly number[];
  readonly rev?: number | undefined;
}

/** `{"end":1,"rev":130}`: the client has received everything for subscription 1. */
export interface Complete {
  readonly end: number;
  readonly rev: number;
}

/**
 * `{"lost":{"9":3}}`: the number of changes or firings, keyed by ID, that the client will not receive because it did not read fast enough,
 * or because this hub never received them from another hub.
 */
export interface Losses {
  readonly lost: Readonly<Record<string, number>>;
}

/** `{"stale":[7,9],"ageMs":3012}`: the hub or device that these parameters belong to has been silent for this long, in milliseconds. */
export interface Stale {
  readonly stale: readonly number[];
  readonly ageMs: number;
}

/** `{"fresh":[7,9]}`: these parameters are up to date again. */
export interface Fresh {
  readonly fresh: readonly number[];
}

/** `{"wanted":[[7,3],[9,null]]}`: the written values that a device has not confirmed yet; null if no value is pending any more. */
export interface Pending {
  readonly wanted: readonly (readonly [id: number, value: Value | null])[];
}

/** `{"about":[[7,{"label":"Mic 1","unit":"dB"}]]}`: the metadata of parameters; null if a parameter no longer has metadata. */
export interface Metadata {
  readonly about: readonly (readonly [id: number, about: About | null])[];
}

/** `{"ack":5,"errors":[["desk/x","unknown parameter"]]}`: the hub has carried out write 5, except for the items with these errors. */
export interface Acknowledgement extends Mistakes {
  readonly ack: number;
}

/** `{"errors":[["desk/x","unknown parameter"]]}`: the errors of a write without `ack`. */
export interface Mistakes {
  readonly errors: readonly Mistake[];
}

/** The error for one item in a write: the target as named in the message, and the reason as a sentence. */
export type Mistake = readonly [target: Target, reason: string];

/** `{"pong":1}`: the answer to `{"ping":1}`. */
export interface Pong {
  readonly pong: number;
}

/** `{"error":"include[0]: expected …, got …","sub":1}`: a message was invalid, and had no effect. */
export interface Refusal {
  readonly error: string;
  /** The number of the subscription to which the invalid message refers. */
  readonly sub?: number | undefined;
  /** The `ack` of the invalid message. */
  readonly ack?: number | undefined;
}

/** `{"bye":{"code":1001,"reason":"the hub is shutting down","retry":true}}`: the hub is about to close the socket with this code. */
export interface Goodbye {
  readonly bye: {
    /** The close code, one of `closeCodes` in lib/wire/protocol.ts. */
    readonly code: number;
    readonly reason: string;
    /** Whether the client should connect again after the socket has been closed. */
    readonly retry: boolean;
  };
}

export type HubMessage =
  | Hello
  | Subscribed
  | Unsubscribed
  | Definitions
  | Removals
  | Values
  | Fires
  | Complete
  | Losses
  | Stale
  | Fresh
  | Pending
  | Metadata
  | Acknowledgement
  | Mistakes
  | Pong
  | Refusal
  | Goodbye;

/** A message as a client reads it. The message may have any of these keys, and further keys that the client does not know. */
export type ReceivedMessage = { readonly [Key in KeyOf<HubMessage>]?: ValueOf<HubMessage, Key> | undefined };

type KeyOf<Message> = Message extends unknown ? keyof Message : never;
type ValueOf<Message, Key> = Message extends unknown ? (Key extends keyof Message ? Message[Key] : never) : never;

// The access of a parameter as encoded in `patchbay.v1`.

export const accessCodes = { 'read-write': 'rw', 'read-only': 'r', 'write-only': 'w' } as const satisfies Record<
  Access,
  string
>;

export type AccessCode = (typeof accessCodes)[Access];

const accesses = Object.fromEntries(Object.entries(accessCodes).map(([access, code]) => [code, access]));

export function accessOf(code: AccessCode): Access {
  return accesses[code] as Access;
}
