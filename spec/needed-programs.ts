// The programs that specs need beside npm: which they are, and how the missing ones are installed (Debian, as root or with sudo).

import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { modulesOf } from './modules-of.ts';
import { type ProgramName, pathOf, programs } from './support/programs.ts';

export const root = resolve(import.meta.dirname, '..');

/** The specs of some patterns and folders, each with the names of the programs that it needs. Errors: a pattern that fits no spec. */
export function findSpecs(
  patterns: readonly string[] = ['spec', 'bench'],
): ReadonlyMap<string, readonly ProgramName[]> {
  const specs = [...new Set(patterns.flatMap(specsOf))].sort();
  return new Map(specs.map((spec) => [spec, programsOf(join(root, spec))]));
}

function specsOf(pattern: string): string[] {
  const found = globSync([pattern, `${pattern}/**/*`], { cwd: root }).filter((path) => path.endsWith('.spec.ts'));
  if (found.length === 0) throw new Error(`expected specs, "${pattern}" has none`);
  return found;
}

/** Installs those that are not there, where that is possible, and returns the ones that are still missing. */
export function installMissing(needed: Iterable<readonly ProgramName[]>): ReadonlySet<ProgramName> {
  const names = new Set([...needed].flat());
  install(missing(names));
  return new Set(missing(names));
}

/** The names of the programs that a spec and its imports outside of lib/ call for. */
function programsOf(spec: string): ProgramName[] {
  const calls = [...modulesOf(spec).values()].flatMap((text) => [...text.matchAll(/^needs\(([^)]*)\);/gm)]);
  return calls.flatMap(([, list]) => (list!.match(/[\w-]+/g) ?? []) as ProgramName[]);
}

function missing(names: Iterable<ProgramName>): ProgramName[] {
  return [...names].filter((name) => !programs[name].isThere());
}

function install(names: readonly ProgramName[]): void {
  if (names.length === 0 || !existsSync('/etc/debian_version') || pathOf('apt-get') === undefined) return;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return;
  const packages = names.flatMap((name) => programs[name].packages);
  console.log(`Specs need ${packages.join(' ')}: apt-get installs them`);
  const apt = (...args: readonly string[]) => {
    const command = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', ...args];
    spawnSync(isRoot ? command[0]! : 'sudo', isRoot ? command.slice(1) : command, { stdio: 'inherit' });
  };
  apt('update');
  apt('install', '-y', '--no-install-recommends', ...packages);
}
