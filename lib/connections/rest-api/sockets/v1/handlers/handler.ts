// What handles one kind of message of a client.

import type { Refusal } from '../../../../../wire/v1/hub-messages.ts';
import type { Log } from '../../../../connection.ts';
import type { HubPort } from '../../../../hub-port.ts';
import type { WriteCounts } from '../../../input/write-counts.ts';
import type { LimitHits } from '../../../limits/limit-hits.ts';
import type { Limits } from '../../../limits/limit-settings.ts';
import type { Rates } from '../../../limits/rates.ts';
import type { Visitor } from '../../../users/visitor.ts';
import type { FanOut } from '../../fan-out.ts';
import type { SubscriptionShares } from '../../user-shares.ts';
import type { Client } from '../client.ts';
import type { Groups } from '../groups.ts';
import type { Request } from './subscription-reader.ts';

/** What handlers work with. */
export interface Desk {
  readonly hub: HubPort;
  readonly log: Log;
  readonly writes: WriteCounts;
  readonly fanOut: FanOut;
  readonly groups: Groups;
  readonly hits: LimitHits;
  readonly rates: Rates;
  readonly shares: SubscriptionShares;
  /** What the subscriptions of a client may cost. */
  readonly limits: Pick<Limits, 'subscriptions' | 'clientSteps'>;
  /** Errors: `bad-request`. */
  readonly readSubscription: (message: object, visitor: Visitor) => Request;
}

/** What says which message an error answers: the number of its subscription, or the `ack` of its write. */
export type Subject = Pick<Refusal, 'sub' | 'ack'>;

/** What is left to do of a message, in slices: it may take long. */
export interface Rest {
  readonly subject: Subject;
  /** Works until then, and returns whether there is more to do. Errors: `bad-request`; then nothing has changed. */
  advance(endMs: number): boolean;
}

/** Handles a message; returns what is left to do of it. Errors: `bad-request`; then nothing has changed. */
export type Handler = (desk: Desk, client: Client, message: Readonly<Record<string, unknown>>) => Rest | undefined;
