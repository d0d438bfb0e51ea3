// What an abuse is made of: how it goes about it, and what of it the log of the hub must tell.

import type { LimitName } from '../../../lib/connections/rest-api/limits/limits.ts';

export interface Scenario {
  /** The abuse in one sentence. */
  readonly about: string;
  /** The limits of which the log must name one, with the address of the abuser; empty: none has to be hit. */
  readonly limits: readonly LimitName[];
  /** Settings of the REST API that is abused, beside those of every scenario. */
  readonly settings?: object;
  /** How late the slowest hundredth of the neighbours' changes may be, in milliseconds; left out: 100. */
  readonly p99Ms?: number;
  /** Parameters of the connection `desk` beside `lamp,B` and `text`. */
  readonly parameters?: readonly string[];
  /** Begins the abuse, which goes on until the process is killed. */
  attack(port: number): Promise<void> | void;
}
