// The messages of `patchbay.v1` (README.md); asyncapi.json has the same for machines.

import type { Value, ValueType } from '../model/value.ts';

export type AccessCode = 'rw' | 'r' | 'w';
export type Definition = readonly [id: number, address: string, type: ValueType, access: AccessCode];
/** What was wrong with one parameter of a write: its address, or id, and a sentence. */
export type Mistake = readonly [address: string | number, reason: string];

/** What the hub takes as one message, and as one subscription (README.md "Limits and close codes"). */
export const maxMessageBytes = 65_536;
export const maxPatterns = 2048;

/** What the hub sends; which keys are there says what it is. */
export interface ServerMessage {
  readonly hello?: { readonly epoch: string };
  readonly sub?: number;
  readonly mode?: 'snapshot' | 'resume';
  readonly def?: readonly Definition[];
  readonly undef?: readonly number[];
  readonly set?: readonly (readonly [id: number, value: Value])[];
  readonly fired?: readonly number[];
  readonly end?: number;
  readonly rev?: number;
  readonly lost?: Readonly<Record<string, number>>;
  readonly ack?: number;
  readonly errors?: readonly Mistake[];
  readonly error?: string;
  readonly bye?: { readonly code: number; readonly reason: string; readonly retry: boolean };
}

export type Pattern = string | { readonly regex: string };
export type Delivery = 'latest' | 'all';

/** What a subscription asks for. */
export interface SubscriptionRequest {
  readonly include: readonly Pattern[];
  readonly exclude?: readonly Pattern[];
  readonly rate?: number | undefined;
  readonly delivery?: Delivery | undefined;
}
