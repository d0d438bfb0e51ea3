// What a reload has swapped, by name.

/** Connection IDs or names of rules, each in the order of the flow files. */
export interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export interface Reload {
  readonly connections: Difference;
  readonly rules: Difference;
}
