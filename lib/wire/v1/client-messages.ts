// What clients of `patchbay.v1` send (docs/protocol.md). Exactly one of the keys `sub`, `unsub`, `set` and `ping` says what
// a message is. lib/client/asyncapi.json has the same for machines.

import type { Value } from '../../model/value.ts';
import type { Pattern } from '../pattern.ts';

/** latest: each time the newest value of each parameter; all: every change, in order. */
export type Delivery = 'latest' | 'all';

/** `{"sub":1,"include":["desk/**"],"exclude":[],"rate":60,"delivery":"latest"}`: subscribes, or replaces subscription 1. */
export interface Subscribe extends SubscriptionRequest {
  readonly sub: number;
  /** Where the client was when its link broke. Left out: it wants everything. */
  readonly since?: Since | undefined;
}

/** What a subscription asks for. */
export interface SubscriptionRequest {
  /** Left out: `["**"]`. */
  readonly include?: readonly Pattern[] | undefined;
  /** Left out: none. */
  readonly exclude?: readonly Pattern[] | undefined;
  /** At most so many times a second something is sent, 0.1 to 1000; 0 or left out: as changes come. */
  readonly rate?: number | undefined;
  /** Left out: `latest`. */
  readonly delivery?: Delivery | undefined;
}

/** `{"epoch":"1f0c…","rev":130}`: a run of the hub, and the revision of it up to which a client has everything. */
export interface Since {
  readonly epoch: string;
  readonly rev: number;
}

/** `{"unsub":1}`: ends subscription 1. */
export interface Unsubscribe {
  readonly unsub: number;
}

/** `{"set":[["desk/lamp",true],[8,0.5]],"ack":5}`: one turn; with `ack` the hub answers when it is over. */
export interface Write {
  readonly set: readonly (readonly [target: Target, value: Value])[];
  readonly ack?: number | undefined;
  /** The trace that it follows (W3C Trace Context). A malformed one is as if it were left out. */
  readonly traceparent?: string | undefined;
}

/** A parameter by its address, or by the id that the hub has defined. */
export type Target = string | number;

/** `{"ping":1}` is answered with `{"pong":1}`; the number is the client's. */
export interface Ping {
  readonly ping: number;
}
