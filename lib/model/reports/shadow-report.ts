// What runs in shadow, and what it would have done beside what was done: plain data, copied when somebody asks.

import type { Deviation, DeviationCount } from './deviation.ts';

/** How many deviations are kept, the newest. */
export const keptDeviations = 1000;

export interface ShadowReport {
  /** Since when, in milliseconds since 1970; a change of what runs in shadow begins anew. */
  readonly since: number;
  /** rules: flow files say so; reload: somebody has reloaded in shadow, and what is saved goes there until a reload. */
  readonly kind: 'rules' | 'reload';
  /** The rules that run in shadow and not live, and those that are live and would not be. */
  readonly rules: readonly string[];
  readonly left: readonly string[];
  /** Connections that a reload would change and that are not in shadow, as they reach out of the process. */
  readonly notInShadow: readonly string[];
  readonly parameters: readonly DeviationCount[];
  /** How many deviations there were. */
  readonly count: number;
  /** The newest, oldest first. */
  readonly deviations: readonly Deviation[];
}
