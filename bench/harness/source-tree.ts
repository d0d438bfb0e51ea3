// The source tree of another commit, beside this one, with the packages that its lock file names.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { thisTree } from '../../spec/support/folder.ts';

export interface SourceTree {
  readonly folder: string;
  /** The abbreviated commit. */
  readonly commit: string;
  remove(): void;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/** Checks a git ref out below `folder`. Errors: when it names no commit, or its packages cannot be installed. */
export function createSourceTree(ref: string, folder: string): SourceTree {
  const commit = git('rev-parse', '--short=10', '--verify', `${ref}^{commit}`);
  const tree = join(folder, `patchbay-${commit}`);
  git('worktree', 'add', '--detach', tree, commit);
  const packages = join(tree, 'node_modules');
  const isShared = runtimePackages(tree) === runtimePackages(thisTree);
  if (isShared) symlinkSync(join(thisTree, 'node_modules'), packages);
  else
    execFileSync('npm', ['install', '--omit=dev', '--ignore-scripts'], {
      cwd: tree,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  return {
    folder: tree,
    commit,
    remove() {
      if (isShared && existsSync(packages)) unlinkSync(packages);
      git('worktree', 'remove', '--force', tree);
    },
  };
}

/** What a lock file says of all packages but those for development. */
function runtimePackages(tree: string): string {
  const { packages } = JSON.parse(readFileSync(join(tree, 'package-lock.json'), 'utf8')) as Lock;
  return JSON.stringify(Object.entries(packages).filter(([name, { dev }]) => name !== '' && dev !== true));
}

function git(...command: string[]): string {
  return execFileSync('git', command, { cwd: thisTree, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}
