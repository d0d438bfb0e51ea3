// Where and on what a benchmark ran, for the results: figures of two machines do not compare.

import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly node: string;
  /** The commit that was measured, with `+changes` when files differ from it; `unknown` outside of a repository. */
  readonly commit: string;
}

/** Describes this machine, and the source tree in a folder. */
export function describeMachine(folder: string): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: process.version,
    commit: commitOf(folder),
  };
}

function commitOf(folder: string): string {
  const git = (...command: string[]) =>
    execFileSync('git', command, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const hash = git('rev-parse', '--short=10', 'HEAD');
    return git('status', '--porcelain') === '' ? hash : `${hash}+changes`;
  } catch {
    return 'unknown';
  }
}
