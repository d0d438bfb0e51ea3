// What a load of the flow files said, for operators.

/** One flow file: how many connections and rules it has, those that are switched off as well, and what is wrong with it. */
export interface FileReport {
  readonly path: string;
  readonly connections: number;
  readonly rules: number;
  readonly mistakes: readonly string[];
}

/**
 * The last load or reload: `time` is milliseconds since 1970; `isLoaded` is false when what ran before runs on, and `reason`
 * one sentence that says why.
 */
export interface LoadReport {
  readonly time: number;
  readonly isLoaded: boolean;
  readonly reason: string;
  readonly files: readonly FileReport[];
}
