// The messages from clients of `patchbay.v1` (docs/protocol.md). Exactly one of the keys `sub`, `unsub`, `set` and `ping` identifies
// the kind of a message. lib/client/asyncapi.json describes them for machines.

import type { Value } from '../../model/value.ts';
import type { Pattern } from '../pattern.ts';

/** latest: the newest value of each parameter; all: every change, in order. */
export type Delivery = 'latest' | 'all';

/** `{"sub":1,"include":["desk/**"],"exclude":[],"rate":60,"delivery":"latest"}`: subscribes, or replaces subscription 1. */
export interface Subscribe extends SubscriptionRequest {
  readonly sub: number;
  /** The client's position when its link broke. Omitted: it needs everything. */
  readonly since?: Since | undefined;
}

/** The parameters and delivery of a subscription. */
export interface SubscriptionRequest {
  /** Omitted: `["**"]`. */
  readonly include?: readonly Pattern[] | undefined;
  /** The patterns of parameters to leave out; omitted: none. */
  readonly exclude?: readonly Pattern[] | undefined;
  /** The maximum number of updates per second, 0.1 to 1000; 0 or omitted: one per change. */
  readonly rate?: number | undefined;
  /** How the hub sends changes; omitted: `latest`. */
  readonly delivery?: Delivery | undefined;
}

/** `{"epoch":"1f0c…","rev":130}`: a run of the hub, and the revision up to which the client has received everything. */
export interface Since {
  readonly epoch: string;
  readonly rev: number;
}

/** `{"unsub":1}`: ends subscription 1. */
export interface Unsubscribe {
  readonly unsub: number;
}

/** `{"set":[["desk/lamp",true],[8,0.5]],"ack":5}`: writes in one turn; with `ack`, the hub answers when the turn is over. */
export interface Write {
  readonly set: readonly (readonly [target: Target, value: Value])[];
  readonly ack?: number | undefined;
  /** The trace of the write (W3C Trace Context). A malformed one is ignored. */
  readonly traceparent?: string | undefined;
}

/** A parameter by its address, or by the id that the hub has defined. */
export type Target = string | number;

/** `{"ping":1}` is answered with `{"pong":1}`; the client chooses the number. */
export interface Ping {
  readonly ping: number;
}
