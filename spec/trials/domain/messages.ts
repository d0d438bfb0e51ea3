// The messages between the trial and its hubs.

import type { Value } from '../../../lib/model/value.ts';

/** What a hub is started with. */
export interface HubTask {
  readonly flow: string;
  /** Where it notes when its rules have fired, and in which term. */
  readonly firings: string;
  /** The file of its log. */
  readonly log: string;
  /** Its place among the hubs, which is that of its own `ack` parameter of each desk. */
  readonly place: number;
  readonly desk: string;
  readonly otherDesk: string;
  readonly inputs: number;
  /** Changes per second that it makes while its connections run; each has a rule make another. */
  readonly rate: number;
  /** Where its values begin: greater than those of all hubs before it. */
  readonly from: number;
}

export type ToHub = { readonly ask: 'pause' | 'go on' | 'look' };

/** A write to another hub that was acknowledged. */
export type Acknowledged = readonly [address: string, value: number];

export type FromHub =
  | { readonly reports: 'ready' }
  | { readonly reports: 'term'; readonly term: number | undefined; readonly atMs: number }
  | { readonly reports: 'look'; readonly look: Look };

export interface Look {
  readonly term: number | undefined;
  readonly values: readonly (readonly [address: string, value: Value | undefined])[];
  /** The addresses of other hubs whose values are stale, at most ten of them. */
  readonly stale: readonly string[];
  /** How many of other hubs are not stale. */
  readonly fresh: number;
  /** Why the last refused write to another hub was refused. */
  readonly refusal: string | undefined;
  /** How many writes to other hubs are not answered yet. */
  readonly underWay: number;
  /** What has been acknowledged since the last look. */
  readonly acknowledged: readonly Acknowledged[];
}
