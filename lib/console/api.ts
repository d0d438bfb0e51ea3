// What the hub answers below /hub/, as far as the views here read it; /hub/openapi.json says all of it.

import type { Access } from '../model/parameter.ts';
import type { Value, ValueType } from '../model/value.ts';

export interface ConnectionStatus {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly state: 'running' | 'degraded' | 'failed' | 'disabled';
  /** One sentence; empty while it runs. */
  readonly reason: string;
  readonly since: string;
  readonly enabled: boolean;
  readonly parameters: number;
  readonly file: string;
}

export interface ConnectionList {
  readonly connections: readonly ConnectionStatus[];
}

export interface Origin {
  readonly kind: 'connection' | 'rule' | 'client';
  readonly name: string;
}

export interface ParameterInfo {
  readonly parameter: string;
  readonly type: ValueType;
  readonly access: Access;
  readonly value?: Value;
  /** Of the last change; none: there was no change. */
  readonly revision?: number;
  readonly time?: string;
  readonly origin?: Origin;
}

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogEntry {
  readonly n: number;
  readonly time: string;
  readonly level: LogLevel;
  readonly connection?: string;
  readonly rule?: string;
  readonly message: string;
}

export interface LogPage {
  readonly entries: readonly LogEntry[];
  readonly next: number;
}

export type Pattern = string | { readonly regex: string };

export interface ClientSubscription {
  readonly id: number;
  readonly include: readonly Pattern[];
  readonly exclude: readonly Pattern[];
  readonly rate: number;
  readonly delivery: 'latest' | 'all';
}

export interface ClientStatus {
  readonly id: number;
  readonly address: string;
  readonly protocol: 'plain' | 'patchbay.v1';
  readonly since: string;
  readonly state: 'live' | 'catching up' | 'stalled';
  readonly subscriptions?: readonly ClientSubscription[];
  /** Of a plain client: regular expressions. */
  readonly filters?: readonly string[];
  readonly unreadBytes: number;
  readonly lagMs: number;
  readonly sentBytes: number;
  readonly sentFrames: number;
  readonly receivedMessages: number;
}

export interface ClientList {
  /** All of them; `clients` may be fewer. */
  readonly count: number;
  readonly clients: readonly ClientStatus[];
}
