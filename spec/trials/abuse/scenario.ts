// The parts of an attack: its code, and what the log of the hub must say about it.

import type { LimitName } from '../../../lib/connections/rest-api/limits/client-limits.ts';

export interface Scenario {
  /** The abuse in one sentence. */
  readonly about: string;
  /** The limits of which the log must name one, with the address of the abuser; empty: none has to be hit. */
  readonly limits: readonly LimitName[];
  /** Settings of the REST API that is abused, beside those of every scenario. */
  readonly settings?: object;
  /** Users beside those of every scenario. */
  readonly users?: object;
  /** Whether nobody comes in without credentials; the neighbours are a user then. Left out: anybody may read and write. */
  readonly isClosed?: boolean;
  /** Parameters of the connection `desk` beside `lamp,B` and `text`. */
  readonly parameters?: readonly string[];
  /** Further connections, and rules. */
  readonly connections?: Readonly<Record<string, object>>;
  readonly rules?: readonly object[];
  /** Files beside the flow file, by path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** How much more memory the hub may have at any time of it, in MiB; if omitted, 512. */
  readonly mostMiB?: number;
  /** How much of it are values of parameters, which stay, in MiB; if omitted, nothing to speak of. */
  readonly keptMiB?: number;
  /** Begins the abuse, which goes on until the process is killed. */
  attack(port: number): Promise<void> | void;
}

/** The lines of 10,000 parameters with values, `group-3/sensor-1203/value`. */
export const manyParameters: readonly string[] = Array.from(
  { length: 10_000 },
  (_, index) => `group-${index % 10}/sensor-${index}/value,F,${index}`,
);

/** The user that an abuser has who needs one, which may do everything, and its header. */
export const abuserToken = 'YWJ1c2VyIG9mIHRyaWFscw==';
export const asAbuser = { Authorization: `Bearer ${abuserToken}` };
