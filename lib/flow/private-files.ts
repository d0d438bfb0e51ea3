// The files of an installation that the hub never serves, regardless of their folder.

import { readdirSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { PrivateFiles } from '../connections/persistence.ts';
import type { Plan } from './plan.ts';

/** Matches the names that flow files have, had or may get, including copies left by editors. */
const flowNames = /\.(?:json5|[mc]?ts)(?:$|[^a-z])/i;

export function privateFilesOf({
  files,
  connections,
  furtherFiles,
  paths = [],
}: Pick<Plan, 'files' | 'connections' | 'furtherFiles' | 'paths'>): PrivateFiles[] {
  const named = [...files.map(({ path }) => path), ...furtherFiles];
  return [
    ...named.map((path) => ({ path: resolve(path) })),
    ...paths.map((path) => ({ path: resolve(path), names: flowNames, isDeep: true })),
    ...connections.flatMap(({ type, settings, folder }) => {
      const resolvePath = (path: string) => resolve(folder, path);
      const own = [...(type.files?.(settings, resolvePath) ?? []), ...(type.belongings?.(settings, resolvePath) ?? [])];
      return [...own.map((path) => ({ path })), ...(type.privateFiles?.(settings, resolvePath) ?? [])];
    }),
  ];
}

/** Finds the private files on disk that would be served from a folder. Returns their paths relative to the folder. */
export function privateFilesIn(folder: string, files: readonly PrivateFiles[]): string[] {
  const root = realPathOf(folder);
  if (root === undefined) return [];
  const found = new Set<string>();
  for (const { path, names } of files)
    for (const file of names === undefined ? [path] : namesIn(path, names).map((name) => join(path, name))) {
      const within = relative(root, realPathOf(file) ?? root);
      const isShown = within !== '' && within.split(sep).every((part) => !part.startsWith('.'));
      if (isShown && !isAbsolute(within) && isFile(file)) found.add(within);
    }
  return [...found].sort();
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function namesIn(folder: string, names: RegExp): string[] {
  try {
    return readdirSync(folder).filter((name) => names.test(name));
  } catch {
    return []; // the folder is missing or unreadable
  }
}
