// The specs, and the programs that they need beside npm.

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type ProgramName, programs } from './support/programs.ts';

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

/** Those that are not there. */
export function missingOf(needed: Iterable<readonly ProgramName[]>): ProgramName[] {
  return [...new Set([...needed].flat())].filter((name) => !programs[name].isThere());
}

/** The names of the programs that a spec and its imports outside of lib/ call for. */
function programsOf(spec: string): ProgramName[] {
  const calls = [...modulesOf(spec).values()].flatMap((text) => [...text.matchAll(/^needs\(([^)]*)\);/gm)]);
  return calls.flatMap(([, list]) => (list!.match(/[\w-]+/g) ?? []) as ProgramName[]);
}

/** A module and all that it imports but for lib/, by full path, with their texts. */
export function modulesOf(path: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(path)) return found;
  const text = readFileSync(path, 'utf8');
  found.set(path, text);
  for (const [, name] of text.matchAll(/^(?:(?:import|export|}).* from|import) '(\.[^']*)';$/gm)) {
    const module = join(dirname(path), name!);
    if (!module.startsWith(join(root, 'lib'))) modulesOf(module, found);
  }
  return found;
}
