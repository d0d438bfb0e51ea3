// The messages from `patchbay.v1` clients (docs/protocol.md). Exactly one of the keys `sub`, `unsub`, `set` and `ping` identifies the kind
// of message. lib/client/asyncapi.json is the machine-readable description.

import type { Value } from '../../model/value.ts';
import type { Pattern } from '../pattern.ts';

/** How changes are delivered. `latest`: the newest value of each parameter; `all`: every change, in order. */
export type Delivery = 'latest' | 'all';

/** `{"sub":1,"include":["desk/**"],"exclude":[],"rate":60,"delivery":"latest"}`: subscribes, or replaces subscription 1. */
export interface Subscribe extends SubscriptionRequest {
  readonly sub: number;
  /** The client's position when its connection was lost; if omitted, the client needs everything. */
  readonly since?: Since | undefined;
}

/** The patterns, rate and delivery of a subscription. */
export interface SubscriptionRequest {
  /** The patterns for parameters to include; by default `["**"]`. */
  readonly include?: readonly Pattern[] | undefined;
  /** The patterns for parameters to exclude; by default none. */
  readonly exclude?: readonly Pattern[] | undefined;
  /** The maximum number of updates per second, from 0.1 to 1000. If 0 or omitted, the hub sends one update per change. */
  readonly rate?: number | undefined;
  /** How the hub delivers changes; by default `latest`. */
  readonly delivery?: Delivery | undefined;
}

/** `{"epoch":"1f0c…","rev":130}`: an epoch of the hub, and the revision up to which the client has received everything. */
export interface Since {
  readonly epoch: string;
  readonly rev: number;
}

/** `{"unsub":1}`: ends subscription 1. */
export interface Unsubscribe {
  readonly unsub: number;
}

/** `{"set":[["desk/lamp",true],[8,0.5]],"ack":5}`: writes values in one turn. With `ack`, the hub answers when the turn is over. */
export interface Write {
  readonly set: readonly (readonly [target: Target, value: Value])[];
  readonly ack?: number | undefined;
  /** The trace to which the write belongs (W3C Trace Context). A malformed trace is ignored. */
  readonly traceparent?: string | undefined;
}

/** A parameter, named by its address or by the ID that the hub has defined. */
export type Target = string | number;

/** `{"ping":1}`: the hub answers with `{"pong":1}`. The client chooses the number. */
export interface Ping {
  readonly ping: number;
}
