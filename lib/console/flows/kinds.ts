// What the hub tells of rules and flow files, as the views of flows and causes read it.

import type { Value, ValueType } from '../../client/index.ts';
import type { RuleRun } from '../../model/rule-run.ts';

export type { RuleStatus } from '../../model/rule-status.ts';

/** GET /hub/files: what the last load or reload of the flow files said. */
export interface LoadReport {
  readonly time: string;
  /** false: what ran before runs on. */
  readonly loaded: boolean;
  readonly reason: string;
  readonly files: readonly {
    readonly path: string;
    readonly connections: number;
    readonly rules: number;
    readonly mistakes: readonly string[];
  }[];
}

/** GET /hub/trace: the last runs of a rule, newest first. */
export interface Trace {
  readonly rule: string;
  readonly file: string;
  readonly isAlwaysRecorded: boolean;
  readonly runs: readonly (Omit<RuleRun, 'time'> & { readonly time: string })[];
}

/** One change of GET /hub/explain. */
export interface CausedChange {
  readonly parameter: string;
  readonly type: ValueType;
  readonly value: Value;
  readonly previous?: Value;
  readonly origin: { readonly kind: 'connection' | 'rule' | 'client'; readonly name: string; readonly file?: string };
  /** None: an equal value was written again. */
  readonly revision?: number;
  readonly time: string;
  /** Since its cause; none: it came from outside, or its cause is forgotten. */
  readonly afterMs?: number;
}

export interface Explanation {
  readonly parameter: string;
  readonly chain: readonly CausedChange[];
  /** How many changes before the last of the chain are not kept. */
  readonly forgotten: number;
}
