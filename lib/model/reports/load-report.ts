// What a load of the flow files said, for operators.

/** One flow file: what is wrong with it, and how many connections and rules it has. Those that are switched off count too. */
export interface FileReport {
  readonly path: string;
  readonly connections: number;
  readonly rules: number;
  readonly mistakes: readonly string[];
}

/**
 * The last load or reload. `time` is milliseconds since 1970. `isLoaded` is false when the flows that ran before still run;
 * then `reason` says in one sentence why.
 */
export interface LoadReport {
  readonly time: number;
  readonly isLoaded: boolean;
  readonly reason: string;
  readonly files: readonly FileReport[];
}
